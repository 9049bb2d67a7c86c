"""What a run writes about one of its cells while it works: a work taken, given back, looked for again, and its outcome.

A work is bound before the first side effect, so that after a crash the same work goes on. Every statement asks that the
run still holds its slot; one that does not writes nothing and is told so.
"""

from pixivflow.config.texts import stored_text
from pixivflow.ids import Owner, SlotId, TargetId
from pixivflow.ledger import cells, slots
from pixivflow.ledger.connection import Db
from pixivflow.slots.fallback import next_stage
from pixivflow.slots.machine import Role
from pixivflow.slots.model import BoundWork, Cell, WorkType
from pixivflow.slots.ports import Binding
from pixivflow.slots.target import Duplicate, NoCandidate, TargetOutcome, verdict
from pixivflow.slots.texts import FALLBACK_REASON_MAX, kept_report
from pixivflow.times import utc_text

BIND = """
UPDATE schedule_slot_items SET
  status = CASE status WHEN 'pending' THEN 'selected' ELSE status END,
  attempt_count = attempt_count + (work_id IS NULL),
  work_id = :work_id, work_type = :work_type, updated_at = :at
WHERE slot_id = :slot_id AND target_id = :target_id
  AND ((work_id IS NULL AND status = 'pending')
       OR (work_id = :work_id AND status IN ('pending', 'selected', 'artifact_ready', 'delivery_pending')))
  AND NOT EXISTS (SELECT 1 FROM schedule_slot_items AS sibling
                  WHERE sibling.slot_id = :slot_id AND sibling.target_id <> :target_id
                    AND sibling.work_id = :work_id AND sibling.work_type = :work_type)
  AND EXISTS (SELECT 1 FROM schedule_slots WHERE id = :slot_id AND lease_owner = :owner AND status = 'running')
"""

RELEASE = """
UPDATE schedule_slot_items SET status = 'pending', work_id = NULL, work_type = NULL, updated_at = :at
WHERE slot_id = :slot_id AND target_id = :target_id AND work_id = :work_id AND status = 'selected'
  AND EXISTS (SELECT 1 FROM schedule_slots WHERE id = :slot_id AND lease_owner = :owner AND status = 'running')
"""

ADVANCE = """
UPDATE schedule_slot_items SET
  status = 'pending', fallback_stage = :stage, last_error = :reason,
  candidate_report = :report, completed_at = NULL, updated_at = :at
WHERE slot_id = :slot_id AND target_id = :target_id AND work_id IS NULL AND fallback_stage = :stage - 1
  AND status IN ('pending', 'selected')
  AND EXISTS (SELECT 1 FROM schedule_slots WHERE id = :slot_id AND lease_owner = :owner AND status = 'running')
"""


def bind(db: Db, slot_id: SlotId, owner: Owner, target_id: TargetId, work: BoundWork, now: int) -> Binding:
    """Bind the cell to `work` unless it is bound to another, or another cell of the slot has that work."""
    values = {**_cell(slot_id, owner, target_id, now), "work_id": work.work_id, "work_type": work.work_type}
    won = db.execute(BIND, values).rowcount == 1
    cell = cells.read(db, slot_id, target_id)
    return Binding(won=won, work=_bound(cell))


def release_binding(db: Db, slot_id: SlotId, owner: Owner, target_id: TargetId, work: BoundWork, now: int) -> bool:
    """Give back a work that produced nothing. False: the cell holds another one, or this one is under way by now."""
    values = {**_cell(slot_id, owner, target_id, now), "work_id": work.work_id}
    return db.execute(RELEASE, values).rowcount == 1


def advance(
    db: Db,
    slot_id: SlotId,
    owner: Owner,
    target_id: TargetId,
    stage: int,
    reason: str,
    now: int,
    report: str | None = None,
) -> bool:
    """Let the cell look again at `stage`, the one after its own. False: it holds a work, has ended, or moved on.

    `reason` and `report` take the place of whatever an earlier turn left: why it failed is no matter any more.
    """
    told = {"reason": stored_text(reason, FALLBACK_REASON_MAX), "report": kept_report(report)}
    values = {**_cell(slot_id, owner, target_id, now), "stage": stage, **told}
    return db.execute(ADVANCE, values).rowcount == 1


def apply_outcome(
    db: Db, slot_id: SlotId, owner: Owner, target_id: TargetId, outcome: TargetOutcome, stages: int, now: int
) -> None:
    """Make `outcome` a state of its cell: the next fallback stage where it may look again, its verdict otherwise."""
    slot, cell = slots.read(db, slot_id), cells.read(db, slot_id, target_id)
    if slot is None or cell is None:
        return
    stage = next_stage(cell, outcome, stages, is_manual=slot.is_manual)
    if stage is not None and isinstance(outcome, Duplicate | NoCandidate):
        advance(db, slot_id, owner, target_id, stage, outcome.text, now, outcome.report)
    elif (change := verdict(cell, outcome)) is not None:
        cells.change(db, slot_id, change, Role.RUN, now, owner=owner)


def _cell(slot_id: SlotId, owner: Owner, target_id: TargetId, now: int) -> dict[str, object]:
    return {"slot_id": slot_id, "owner": owner, "target_id": target_id, "at": utc_text(now)}


def _bound(cell: Cell | None) -> BoundWork | None:
    if cell is None or cell.work_id is None:
        return None
    return BoundWork(work_id=cell.work_id, work_type=cell.work_type or WorkType.UNKNOWN)
