"""Ending an occurrence: what its cells become, what it becomes, its outcome record, and that it has been reported.

Used by every way in which a slot ends, each inside a transaction of its own.
"""

import msgspec

from pixivflow.errors import Conflict
from pixivflow.ids import Owner, SlotId, TargetId
from pixivflow.ledger import cells, deliveries, events, slots
from pixivflow.ledger.connection import Db
from pixivflow.ledger.slots import Fence
from pixivflow.slots.machine import Role
from pixivflow.slots.model import IN_DELIVERY, Cell, Downstream, Slot, SlotStatus
from pixivflow.slots.record import outcome_record, summary_detail
from pixivflow.slots.rollup import RollUp, left_to_run, settled


def in_delivery(db: Db, slot_id: SlotId) -> dict[TargetId, Downstream]:
    """What the delivery ledger says about each cell of the slot that is with it."""
    return {
        cell.target_id: deliveries.downstream(db, slot_id, cell.target_id)
        for cell in cells.read_all(db, slot_id)
        if cell.status in IN_DELIVERY
    }


def settle(db: Db, slot_id: SlotId, now: int) -> tuple[Cell, ...]:
    """Write what the delivery ledger has decided about the cells that are with it; the cells that are left to run.

    An ACK that landed before a crash is found here, so that nothing is published twice.
    """
    said = in_delivery(db, slot_id)
    for cell in cells.read_all(db, slot_id):
        change = settled(cell, said[cell.target_id]) if cell.target_id in said else None
        if change is not None:
            cells.change(db, slot_id, change, Role.RUN, now)
    return left_to_run(cells.read_all(db, slot_id), said)


def abandoned(db: Db, slot_id: SlotId) -> frozenset[TargetId]:
    """The targets of the slot that wait for a delivery which nobody owes any more."""
    return frozenset(
        cell.target_id
        for cell in cells.read_all(db, slot_id)
        if cell.status in IN_DELIVERY and deliveries.abandoned(db, slot_id, cell.target_id)
    )


def write(
    db: Db,
    slot: Slot,
    plan: RollUp,
    role: Role,
    now: int,
    *,
    fence: Fence,
    owner: Owner | None = None,
    error: str | None = None,
) -> SlotStatus:
    """Write a roll-up and return what the slot is then; one whose deliveries are still owed stays as it is.

    `owner`: the run that speaks, under `Fence.HOLDER`. `error`: the slot's own, stored when it ends.
    Errors: `Conflict` when a row is not as the roll-up found it; the caller's transaction then has to go.
    """
    for change in plan.changes:
        if not cells.change(db, slot.id, change, role, now):
            raise Conflict(f"cell {change.target_id} of {slot.id} open", None)
    if not plan.is_terminal:
        return slot.status
    if slot.status is not plan.status and not slots.end(
        db, slot.id, plan.status, role, now, fence=fence, owner=owner, error=error
    ):
        raise Conflict(f"slot {slot.id} {slot.status} and ours to end", None)
    return plan.status


def conclude(db: Db, slot_id: SlotId, now: int) -> None:
    """Keep the outcome of a slot whose cells have all ended, once, and mark it reported.

    A slot that was forced to end while a delivery is still owed waits for that: its outcome is not known yet.
    """
    slot, found = slots.read(db, slot_id), cells.read_all(db, slot_id)
    if slot is None or any(cell.is_open for cell in found):
        return
    targets = [cell.target_id for cell in found]
    record = outcome_record(
        slot,
        found,
        {target: deliveries.downstream(db, slot_id, target) for target in targets},
        {target: deliveries.routes_of(db, slot_id, target) for target in targets},
    )
    detail = msgspec.json.encode(summary_detail(record)).decode()
    summary = events.Event(event=events.EXECUTION_SUMMARY, ts=now, execution_id=slot_id, slot_id=slot_id, detail=detail)
    events.append_once(db, summary)
    slots.mark_reported(db, slot_id, now)
