"""A consumer no longer wants the work of a slot: everything that says so is one transaction."""

from enum import StrEnum

from pixivflow.ids import SlotId
from pixivflow.ledger import cells, deliveries, leases, rollups, slots
from pixivflow.ledger.connection import Db
from pixivflow.ledger.slots import Fence
from pixivflow.slots.machine import Role
from pixivflow.slots.model import ReasonCode
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.rollup import force


class Cancelled(StrEnum):
    """What a consumer's cancel met."""

    UNKNOWN = "unknown"
    ALREADY_TERMINAL = "already_terminal"
    CANCELLED = "cancelled"


def cancel_slot(db: Db, slot_id: SlotId, now: int) -> Cancelled:
    """End every open cell of the slot with its deliveries, and free the slot whoever runs it.

    Only afterwards is a live run ended, so what it still writes meets a verdict. What is published stays published.
    """
    slot = slots.read(db, slot_id)
    if slot is None:
        return Cancelled.UNKNOWN
    found = cells.read_all(db, slot_id)
    if not any(cell.is_open for cell in found):
        return Cancelled.ALREADY_TERMINAL
    for cell in found:
        if cell.is_open:
            deliveries.cancel_cell(db, slot_id, cell.target_id, now)
    text = REASONS[ReasonCode.CANCELLED_BY_CONSUMER].zh
    plan = force(found, ReasonCode.CANCELLED_BY_CONSUMER, text, delivery_too=True)
    rollups.write(db, slot, plan, Role.CONSUMER, now, fence=Fence.ANYBODY, error=text)
    leases.release_whoever_holds(db, slot_id)
    rollups.conclude(db, slot.id, now)
    return Cancelled.CANCELLED
