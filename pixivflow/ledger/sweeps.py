"""What the periodic passes ask of the slots, and how they end what nobody else ends.

No pass grows with history: each reads the partial index over slots that are open, or not reported yet. What a pass
found is only a hint; each slot is looked at again in the transaction that changes it, and a live lease always wins.
"""

import json
from collections.abc import Collection

import msgspec

from actors.ports import Course, Unfinished
from pixivflow.ids import Owner, SlotId
from pixivflow.ledger import cells, leases, rollups, runs, slots
from pixivflow.ledger.connection import Db
from pixivflow.ledger.slots import COLUMNS, Fence, slot_of
from pixivflow.slots import stall
from pixivflow.slots.lease import is_live
from pixivflow.slots.machine import Role
from pixivflow.slots.model import ReasonCode, Slot, SlotStatus
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.recovery import about, course, is_candidate
from pixivflow.slots.rollup import roll_up
from pixivflow.slots.stall import Budgets
from pixivflow.times import utc_text

STALL_BATCH = 100
"""How many slots one rule of the stall sweep looks at in one tick."""

MISSED_BATCH = 50
"""How many finished slots one pass of the reconciler looks at."""

UNFINISHED = f"""
SELECT {COLUMNS} FROM schedule_slots
WHERE status IN ('pending', 'running') AND (lease_until IS NULL OR lease_until <= :now)
  AND id NOT IN (SELECT value FROM json_each(:not_in))
ORDER BY occurrence_at LIMIT :at_most
"""  # noqa: S608 - the columns are a constant

QUEUED = f"""
SELECT {COLUMNS} FROM schedule_slots
WHERE status IN ('pending', 'running') AND status = 'pending' AND (lease_until IS NULL OR lease_until <= :now)
  AND created_at <= :cutoff_text
  AND id NOT IN (SELECT value FROM json_each(:not_in))
ORDER BY occurrence_at LIMIT :at_most
"""  # noqa: S608 - the columns are a constant

STALLED = f"""
SELECT {COLUMNS} FROM schedule_slots
WHERE status IN ('pending', 'running') AND status = 'running' AND (lease_until IS NULL OR lease_until <= :now)
  AND CASE WHEN heartbeat_at IS NULL THEN COALESCE(started_at, created_at) <= :cutoff_text
           ELSE heartbeat_at <= :cutoff END
  AND id NOT IN (SELECT value FROM json_each(:not_in))
ORDER BY occurrence_at LIMIT :at_most
"""  # noqa: S608 - the columns are a constant

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


def unfinished(db: Db, now: int, not_in: Collection[str], limit: int) -> tuple[Slot, ...]:
    """Slots that are neither ended nor owned, oldest occurrence first. `not_in`: those that this process is running."""
    asked = {"now": now, "not_in": json.dumps(sorted(not_in)), "at_most": limit}
    return tuple(map(slot_of, db.execute(UNFINISHED, asked).fetchall()))


def courses(db: Db, now: int, not_in: Collection[str], limit: int) -> tuple[Unfinished, ...]:
    """The same slots, each with what it needs."""
    found = unfinished(db, now, not_in, limit)
    return tuple(Unfinished(slot.id, needed(db, slot.id), about(slot, slot.status)) for slot in found)


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


def stalled(db: Db, now: int, limits: Budgets, not_in: Collection[str], limit: int = STALL_BATCH) -> tuple[Slot, ...]:
    """Slots that look beyond rescue, at most `limit` for each of the two rules, oldest occurrence first."""
    excluded = json.dumps(sorted(not_in))
    found = []
    for query, budget_ms in ((QUEUED, limits.queued_ms), (STALLED, limits.stalled_ms)):
        cutoff = now - budget_ms
        asked = {
            "now": now,
            "cutoff": cutoff,
            "cutoff_text": utc_text(cutoff),
            "not_in": excluded,
            "at_most": limit,
        }
        found += db.execute(query, asked).fetchall()
    return tuple(map(slot_of, found))


def end_stalled(db: Db, slot_id: SlotId, limits: Budgets, now: int) -> Stalled | None:
    """End the slot if it is still beyond rescue; None: it is not, whoever saved it."""
    slot = slots.read(db, slot_id)
    reason = stall.verdict(slot, limits, now) if slot else None
    if slot is None or reason is None:
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
