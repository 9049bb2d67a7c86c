"""What one target reported at the end of its turn, and the only place where such a report becomes a state of its cell.

No exception text, no HTTP status and no silence is ever read as a publication: success has kinds of its own.
"""

from typing import assert_never

import msgspec

from pixivflow.ids import TargetId
from pixivflow.slots.causes import reason_for_empty
from pixivflow.slots.model import BoundWork, Cell, CellChange, CellStatus, ReasonCode
from pixivflow.slots.reasons import REASONS


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """What a search went through. `skips`: one code a skipped work; `outages`: what stopped the whole search."""

    attempted: int = 0
    skips: tuple[str, ...] = ()
    outages: tuple[str, ...] = ()


class _Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """`report`: what the search went through as JSON, for people; kept only where it is short enough."""

    scan: Scan = Scan()
    report: str | None = None


class Submitted(_Outcome, frozen=True, kw_only=True):
    """Confirmed downstream. `work` None here and below: the cell belongs to many works and is bound to none."""

    work: BoundWork | None = None


class Stored(_Outcome, frozen=True, kw_only=True):
    """Kept here, since the target has no channel to deliver to."""

    work: BoundWork | None = None


class Enqueued(_Outcome, frozen=True, kw_only=True):
    """A promise to deliver is durable; the delivery ledger carries the cell from here."""

    work: BoundWork | None = None


class NoCandidate(_Outcome, frozen=True, kw_only=True):
    """The search ended and every skip was a fact about works. `text`: the reason for people."""

    text: str = ""


class Duplicate(_Outcome, frozen=True, kw_only=True):
    """The work was delivered before. `work` None: no work was held, so another one may be looked for."""

    work: BoundWork | None = None
    text: str = ""


class TargetFailed(_Outcome, frozen=True, kw_only=True):
    """The target was not served. `retryable`: the same cell is worth another run; else it has ended.

    `code`: the reason, of its end or so far; `report` holds the cause for whoever ends the cell later.
    """

    error: str
    retryable: bool
    work: BoundWork | None = None
    code: ReasonCode = ReasonCode.INTERNAL_ERROR


TargetOutcome = Submitted | Stored | Enqueued | NoCandidate | Duplicate | TargetFailed


def verdict(cell: Cell, outcome: TargetOutcome) -> CellChange | None:
    """What `outcome` makes of `cell`; None where it changes nothing. Whether the move is legal, the row decides."""
    target, report = cell.target_id, outcome.report
    match outcome:
        case Submitted() | Stored():
            return CellChange(target_id=target, to=CellStatus.SUBMITTED, work=outcome.work, report=report)
        case Enqueued():
            return CellChange(target_id=target, to=CellStatus.DELIVERY_PENDING, work=outcome.work, report=report)
        case NoCandidate():
            if cell.work_id is not None:
                return None  # a held work is continued, not given up for an empty search
            reason = reason_for_empty(outcome.scan.skips)
            return _ended(target, CellStatus.NO_CANDIDATE, reason, outcome.text, None, report)
        case Duplicate():
            reason = ReasonCode.DUPLICATE_EXHAUSTED
            return _ended(target, CellStatus.DUPLICATE, reason, outcome.text, outcome.work, report)
        case TargetFailed(retryable=True):
            return CellChange(target_id=target, to=None, error=outcome.error, report=report)
        case TargetFailed():
            return _ended(target, CellStatus.FAILED, outcome.code, outcome.error, outcome.work, report)
        case _:
            assert_never(outcome)


def _ended(
    target_id: TargetId, to: CellStatus, reason: ReasonCode, error: str, work: BoundWork | None, report: str | None
) -> CellChange:
    return CellChange(
        target_id=target_id,
        to=to,
        work=work,
        error=error or None,
        reason=reason,
        message=REASONS[reason].zh,
        report=report,
    )
