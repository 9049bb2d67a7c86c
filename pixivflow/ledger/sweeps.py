"""What the periodic passes ask of the slots, and how they end what nobody else ends.

No pass grows with history: each reads the partial index over slots that are open, or not reported yet. What a pass
found is only a hint; each slot is looked at again in the transaction that changes it, and a live lease always wins.
"""

from collections.abc import Collection
from operator import attrgetter
from typing import Final

import msgspec

from actors.ports import Course, Unfinished
from pixivflow.ids import Owner, SlotId
from pixivflow.ledger import cells, leases, rollups, runs, slots, unowned
from pixivflow.ledger.connection import Db
from pixivflow.ledger.slots import Fence
from pixivflow.ledger.unowned import PAGE, START, Page, Place
from pixivflow.slots import stall
from pixivflow.slots.lease import is_live
from pixivflow.slots.machine import Role
from pixivflow.slots.model import ReasonCode, Slot, SlotStatus
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.recovery import about, course, is_candidate
from pixivflow.slots.rollup import roll_up
from pixivflow.slots.stall import Budgets

MISSED_BATCH = 50
"""How many finished slots one pass of the reconciler looks at."""

STALE: Final = {
    unowned.QUEUED: attrgetter("queued_ms"),
    unowned.STALLED: attrgetter("stalled_ms"),
}
"""The two rules of the stall sweep, and the budget that each of them spends."""

MISSED = """
SELECT id FROM schedule_slots AS slot
WHERE reported_at IS NULL AND status <> 'expired'
  AND (lease_until IS NULL OR lease_until <= :now)
  AND EXISTS (SELECT 1 FROM schedule_slot_items WHERE slot_id = slot.id)
  AND NOT EXISTS (SELECT 1 FROM schedule_slot_items WHERE slot_id = slot.id
                  AND status IN ('pending', 'selected', 'artifact_ready', 'delivery_pending'))
ORDER BY occurrence_at LIMIT :at_most
"""


class Stalled(msgspec.Struct, frozen=True, kw_only=True):
    """A slot that the sweep ended. `reason` None: its cells had all ended, it was only added up.

    `slot`: as it was found. `stalled_since`: epoch ms of its last sign of life.
    """

    slot: Slot
    status: SlotStatus
    reason: ReasonCode | None
    cells_failed: int
    stalled_since: int | None


def courses(
    db: Db, now: int, not_in: Collection[str], after: Place = START, limit: int = PAGE
) -> tuple[tuple[Unfinished, ...], Place | None]:
    """A page of slots that are neither ended nor owned, each with what it needs, and where the next page begins.

    `not_in`: the slots that this process is running.
    """
    found = unowned.page(db, unowned.ANY, now, not_in, after, limit)
    told = (Unfinished(slot.id, needed(db, slot.id), about(slot, slot.status)) for slot in found.slots)
    return tuple(told), found.end


def needed(db: Db, slot_id: SlotId) -> Course:
    """What the slot needs as its cells and their deliveries stand."""
    return course(cells.read_all(db, slot_id), rollups.in_delivery(db, slot_id))


def settle_only(db: Db, slot_id: SlotId, owner: Owner, now: int, ttl_ms: int) -> Course:
    """Settle the slot in passing if nothing in it is left to run; `DISPATCH`: it needs a run, and nothing was written.

    `SETTLE` was done. `WAIT`: its deliveries are on their way, or it is not ours to touch.
    """
    slot = slots.read(db, slot_id)
    if slot is None or not is_candidate(slot, now):
        return Course.WAIT
    found = needed(db, slot_id)
    if found is Course.SETTLE:
        if not (leases.claim(db, slot_id, owner, now, ttl_ms) and slots.start(db, slot_id, owner, now)):
            return Course.WAIT
        rollups.settle(db, slot_id, now)
        runs.settled(db, slot_id, owner, now)
    return found


def stalled(
    db: Db, rule: str, now: int, limits: Budgets, not_in: Collection[str], after: Place = START, limit: int = PAGE
) -> Page:
    """A page of the slots that look beyond rescue by one of the `STALE` rules, without those that only wait."""
    found = unowned.page(db, rule, now, not_in, after, limit, now - STALE[rule](limits))
    return Page(tuple(slot for slot in found.slots if needed(db, slot.id) is not Course.WAIT), found.end)


def end_stalled(db: Db, slot_id: SlotId, limits: Budgets, now: int) -> Stalled | None:
    """End the slot if it is still beyond rescue; None: it is not, whoever saved it.

    One whose open cells are all with deliveries that somebody owes is carried by those, however long they take.
    """
    slot = slots.read(db, slot_id)
    reason = stall.verdict(slot, limits, now) if slot else None
    if slot is None or reason is None or needed(db, slot_id) is Course.WAIT:
        return None
    plan, is_verdict = stall.end(cells.read_all(db, slot_id), reason)
    error = REASONS[reason].zh if is_verdict else None
    status = rollups.write(db, slot, plan, Role.STALL, now, fence=Fence.UNOWNED, error=error)
    rollups.conclude(db, slot_id, now)
    return Stalled(
        slot=slot,
        status=status,
        reason=reason if is_verdict else None,
        cells_failed=len(plan.changes),
        stalled_since=stall.progress_at(slot),
    )


def missed_rollups(db: Db, now: int, limit: int = MISSED_BATCH) -> tuple[SlotId, ...]:
    """Slots whose cells have all ended and of which nobody has been told, oldest occurrence first.

    Manual ones are among them when a delivery outlived their forced end: their outcome is kept here, not announced.
    """
    return tuple(SlotId(row[0]) for row in db.execute(MISSED, {"now": now, "at_most": limit}).fetchall())


def roll_up_missed(db: Db, slot_id: SlotId, now: int) -> SlotStatus | None:
    """Add such a slot up, or lift one that was forced to fail; None: it is not such a slot any more."""
    slot, found = slots.read(db, slot_id), cells.read_all(db, slot_id)
    if slot is None or slot.reported_at is not None or is_live(slot, now):
        return None
    if slot.status is SlotStatus.EXPIRED or not found or any(cell.is_open for cell in found):
        return None
    plan = roll_up(found, (), ReasonCode.INTERNAL_ERROR)
    status = rollups.write(db, slot, plan, Role.RECONCILER, now, fence=Fence.UNOWNED)
    rollups.conclude(db, slot_id, now)
    return status
