"""From the works of a list to the window of those that are tried, every other one counted with its reason."""

from collections.abc import Sequence
from random import Random
from typing import Final

from pixivflow.config.model import Target
from pixivflow.ids import WorkId
from pixivflow.selection.filters import unwanted
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.target import Window
from pixivflow.slots.fallback import scan_bound
from pixivflow.slots.ports import Choice, Seen, Skip, SkipCode

RANDOM_POOL: Final = 50


def scan_limit(target: Target, default: int, stage: int) -> int:
    """How many works the pass at `stage` tries where the target wants fewer, 1 to 100."""
    base = default if target.candidate_scan_limit is None else target.candidate_scan_limit
    return scan_bound(base, stage)


def plan(
    works: Sequence[WorkDetail],
    seen: Seen,
    target: Target,
    window: Window | None,
    *,
    wanted: int,
    scans: int,
    chance: Random,
) -> Choice:
    """What is tried, in which order, and why everything else is not.

    `works` in their order, of which the first of each id counts; `scans`: `scan_limit` of this pass; `chance` shuffles
    where the target asks for it.
    """
    new, skips = _sorted_out(works, seen, target, window)
    bound = max(wanted, scans)
    if target.random:
        chance.shuffle(new)
        bound = max(wanted, scans if target.candidate_scan_limit is not None else RANDOM_POOL)
    queue = tuple(work.work for work in new[:bound])
    return Choice(queue=queue, bound=bound, skips=tuple(skips), read=len(works))


def _sorted_out(
    works: Sequence[WorkDetail], seen: Seen, target: Target, window: Window | None
) -> tuple[list[WorkDetail], list[Skip]]:
    new: list[WorkDetail] = []
    skips: list[Skip] = []
    met: set[WorkId] = set()
    for work in works:
        if work.id in met:
            continue
        met.add(work.id)
        skip = unwanted(work, target, window) or known(work.id, seen)
        if skip is None:
            new.append(work)
        else:
            skips.append(skip)
    return new, skips


def known(work_id: WorkId, seen: Seen) -> Skip | None:
    """Why the work is nothing new; None: it is."""
    if work_id in seen.stored:
        return Skip(code=SkipCode.DUPLICATE, work_id=work_id, reason="downloaded before")
    if work_id in seen.served:
        return Skip(code=SkipCode.DUPLICATE, work_id=work_id, reason="delivered or promised before")
    return None
