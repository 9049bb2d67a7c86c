"""How often a target that found nothing may look again, and how much wider each time.

A search that finds nothing looks again with a wider bound, a fixed number of times, and remembers each step in the
row, so that a crash does not start it over. Running out of steps is never a reason by itself: the last search's
own end is.
"""

from typing import Final, assert_never

from pixivflow.slots.model import TO_BE_RUN, Cell
from pixivflow.slots.target import (
    Duplicate,
    Enqueued,
    NoCandidate,
    Scan,
    Stored,
    Submitted,
    TargetFailed,
    TargetOutcome,
)

STAGES_MAX: Final = 10
"""The most passes that a target may be given; 0 is as good as 1, since the first one is always made."""
SCAN_BOUND_MAX: Final = 100
"""The most candidates of any pass, and of the first one as configured."""


def scan_bound(base: int, stage: int) -> int:
    """How many candidates the pass at `stage` may try, of which the first may try `base`, 1 or more."""
    return min(base * (stage + 1), SCAN_BOUND_MAX)


def is_dead_end(scan: Scan) -> bool:
    """Whether looking again can find nothing else: nothing was tried and all that was seen is published already."""
    return scan.attempted == 0 and not scan.outages and bool(scan.skips) and all(s == "duplicate" for s in scan.skips)


def next_stage(cell: Cell, outcome: TargetOutcome, stages: int, *, is_manual: bool) -> int | None:
    """The stage at which `cell` looks again after `outcome`; None: the outcome is its end.

    A requester who waits gets the first answer. A cell that holds a work is continued, never re-selected.
    """
    if is_manual or cell.work_id is not None or cell.status not in TO_BE_RUN or cell.fallback_stage >= stages - 1:
        return None
    match outcome:
        case Duplicate():
            return cell.fallback_stage + 1
        case NoCandidate(scan=scan):
            return None if is_dead_end(scan) else cell.fallback_stage + 1
        case Submitted() | Stored() | Enqueued() | TargetFailed():
            return None
        case _:
            assert_never(outcome)
