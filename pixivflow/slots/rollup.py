"""What becomes of a slot once its cells have been looked at: settled from the delivery ledger, failed, added up.

Every function here is total over the cells it gets and says what to write; nothing is written here.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, assert_never

import msgspec

from pixivflow.ids import TargetId
from pixivflow.slots.causes import reason_for_failure, reason_of
from pixivflow.slots.model import (
    IN_DELIVERY,
    TERMINAL_CELL,
    TO_BE_RUN,
    BoundWork,
    Cell,
    CellChange,
    CellStatus,
    Confirmed,
    Downstream,
    Live,
    Lost,
    ReasonCode,
    SlotStatus,
    Unknown,
)
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.tally import told_in

DID_NOT_COMPLETE: Final = "target did not complete"


class RollUp(msgspec.Struct, frozen=True, kw_only=True):
    """What to write. `status` is what the slot becomes; RUNNING and PENDING leave it as unfinished as it is."""

    changes: tuple[CellChange, ...]
    status: SlotStatus

    @property
    def is_terminal(self) -> bool:
        """Whether the slot ends here."""
        return self.status not in (SlotStatus.PENDING, SlotStatus.RUNNING)


def aggregate(states: Iterable[CellStatus]) -> SlotStatus:
    """The status that the states of all cells add up to."""
    found = list(states)
    if not found:
        return SlotStatus.PENDING
    if any(state not in TERMINAL_CELL for state in found):
        return SlotStatus.RUNNING
    if all(state is CellStatus.SUBMITTED for state in found):
        return SlotStatus.SUCCESS
    return SlotStatus.PARTIAL if CellStatus.SUBMITTED in found else SlotStatus.FAILED


def forced(states: Iterable[CellStatus]) -> SlotStatus:
    """The same for a slot that must end now. One with an open delivery becomes `failed`, which a late ACK can lift."""
    status = aggregate(states)
    return SlotStatus.FAILED if status in (SlotStatus.RUNNING, SlotStatus.PENDING) else status


def settled(cell: Cell, downstream: Downstream) -> CellChange | None:
    """What the delivery ledger already decided about a cell that is with it; None: nothing, or it is still at it."""
    match downstream:
        case Live() | Unknown():
            return None
        case Confirmed(work=work, duplicate=is_duplicate):
            proven = None if cell.is_of_many else work
            if is_duplicate:
                return _ended(cell, CellStatus.DUPLICATE, ReasonCode.DUPLICATE_EXHAUSTED, work=proven)
            return CellChange(target_id=cell.target_id, to=CellStatus.SUBMITTED, work=proven)
        case Lost(reason=why):
            error = f"the intent ended without an ACK, and no other work is chosen in its place: {why}"
            return failure(cell, ReasonCode.DELIVERY_FAILED, error)
        case _:
            assert_never(downstream)


def failure(cell: Cell, reason: ReasonCode, error: str | None) -> CellChange:
    """The failed end of `cell`; `error` None keeps the error that is stored."""
    return _ended(cell, CellStatus.FAILED, reason, error=error)


def _ended(
    cell: Cell, to: CellStatus, reason: ReasonCode, *, error: str | None = None, work: BoundWork | None = None
) -> CellChange:
    message = REASONS[reason].zh
    return CellChange(target_id=cell.target_id, to=to, work=work, error=error, reason=reason, message=message)


def left_to_run(cells: Iterable[Cell], downstream: Mapping[TargetId, Downstream]) -> tuple[Cell, ...]:
    """The open cells that a run has to work on: all but those that the delivery ledger carries or has decided."""
    return tuple(
        cell
        for cell in cells
        if cell.is_open and (cell.status not in IN_DELIVERY or isinstance(downstream[cell.target_id], Unknown))
    )


def roll_up(cells: Sequence[Cell], abandoned: Collection[TargetId], unfinished: ReasonCode) -> RollUp:
    """The end of a run that came back, crashed, or ran out of time.

    `abandoned`: the targets whose delivery nothing carries any more. `unfinished`: the reason for a cell that did not
    complete and left no error; one that left an error is judged by it.
    """
    changes = []
    for cell in cells:
        if cell.status in TO_BE_RUN:
            reason = _left_behind(cell) or unfinished
            changes.append(failure(cell, reason, None if cell.last_error else DID_NOT_COMPLETE))
        elif cell.status in IN_DELIVERY and cell.target_id in abandoned:
            reason = ReasonCode.DELIVERY_ABANDONED
            changes.append(failure(cell, reason, None if cell.last_error else REASONS[reason].en))
    return RollUp(changes=tuple(changes), status=aggregate(states_after(cells, changes)))


def _left_behind(cell: Cell) -> ReasonCode | None:
    """What the last turn left in the row says why it was not the last; None: nothing there speaks of a failure.

    A turn of this program has left its cause. Words are read only in rows that came from elsewhere.
    """
    if not cell.last_error:
        return None
    told = told_in(cell.candidate_report)
    if told.cause is not None:
        return reason_of(told.cause)
    return None if told.is_ours else reason_for_failure(cell.last_error, told.outages)


def force(cells: Sequence[Cell], reason: ReasonCode, error: str, *, delivery_too: bool = False) -> RollUp:
    """The end of a slot by decree: what a run should have done fails, what is being delivered keeps its own life.

    `error`: for cells that have none of their own. `delivery_too`: a consumer wants none of it any more, so what is
    being delivered ends as well.
    """
    ended = TO_BE_RUN | IN_DELIVERY if delivery_too else TO_BE_RUN
    changes = tuple(failure(cell, reason, None if cell.last_error else error) for cell in cells if cell.status in ended)
    return RollUp(changes=changes, status=forced(states_after(cells, changes)))


def states_after(cells: Iterable[Cell], changes: Iterable[CellChange]) -> list[CellStatus]:
    """The states of `cells` once `changes` are applied."""
    to = {change.target_id: change.to for change in changes}
    return [to.get(cell.target_id) or cell.status for cell in cells]
