"""The rows of cells: one verdict is one statement, and a verdict that comes too late changes nothing."""

import json
from typing import Any

from pixivflow.config.texts import stored_text
from pixivflow.ids import Owner, SlotId, TargetId
from pixivflow.ledger.connection import Db
from pixivflow.slots.machine import Role, cell_sources
from pixivflow.slots.model import TERMINAL_CELL, Cell, CellChange, CellStatus, WorkType
from pixivflow.slots.texts import CELL_ERROR_MAX, REASON_MESSAGE_MAX, kept_report
from pixivflow.times import utc_text

COLUMNS = """slot_id, target_id, status, work_id, work_type, attempt_count, fallback_stage, last_error,
terminal_reason_code, terminal_reason_message, candidate_report, stored_count"""

READ_ALL = f"SELECT {COLUMNS} FROM schedule_slot_items WHERE slot_id = ? ORDER BY target_id"  # noqa: S608 - a constant

READ = f"SELECT {COLUMNS} FROM schedule_slot_items WHERE slot_id = ? AND target_id = ?"  # noqa: S608 - a constant

CHANGE = """
UPDATE schedule_slot_items SET
  status = COALESCE(:to, status),
  work_id = COALESCE(:work_id, work_id),
  work_type = COALESCE(:work_type, work_type),
  attempt_count = attempt_count + :locks,
  last_error = CASE WHEN :to = 'submitted' THEN NULL ELSE COALESCE(:error, last_error) END,
  terminal_reason_code = COALESCE(:reason, terminal_reason_code),
  terminal_reason_message = COALESCE(:message, terminal_reason_message),
  candidate_report = COALESCE(:report, candidate_report),
  updated_at = :at,
  completed_at = CASE WHEN :terminal THEN :at ELSE completed_at END
WHERE slot_id = :slot_id AND target_id = :target_id
  AND status IN (SELECT value FROM json_each(:sources))
  AND (:work_id IS NULL OR work_id IS NULL OR work_id = :work_id)
  AND (:owner IS NULL OR EXISTS (SELECT 1 FROM schedule_slots
                                 WHERE id = :slot_id AND lease_owner = :owner AND status = 'running'))
"""

ANY_OPEN = frozenset(CellStatus) - TERMINAL_CELL


def read_all(db: Db, slot_id: SlotId) -> tuple[Cell, ...]:
    """The cells of a slot, ordered by target id."""
    return tuple(map(cell_of, db.execute(READ_ALL, (slot_id,)).fetchall()))


def read(db: Db, slot_id: SlotId, target_id: TargetId) -> Cell | None:
    """One cell of a slot."""
    rows = db.execute(READ, (slot_id, target_id)).fetchall()
    return cell_of(rows[0]) if rows else None


def change(db: Db, slot_id: SlotId, verdict: CellChange, role: Role, now: int, *, owner: Owner | None = None) -> bool:
    """Write `verdict` whole, if `role` may make this move from the state that the cell is in; False: nothing changed.

    `owner`: the run that speaks, which must still hold the slot. A cell that is bound to a work takes no verdict about
    another one. A report that is too long is left out, the verdict stands.
    """
    sources = ANY_OPEN if verdict.to is None else cell_sources(role, verdict.to)
    values = {
        "slot_id": slot_id,
        "target_id": verdict.target_id,
        "to": verdict.to,
        "work_id": verdict.work.work_id if verdict.work else None,
        "work_type": verdict.work.work_type if verdict.work else None,
        "locks": role is Role.RUN and verdict.work is not None,
        "error": stored_text(verdict.error, CELL_ERROR_MAX),
        "reason": verdict.reason,
        "message": stored_text(verdict.message, REASON_MESSAGE_MAX),
        "report": kept_report(verdict.report),
        "terminal": verdict.to in TERMINAL_CELL,
        "sources": json.dumps(sorted(sources)),
        "owner": owner,
        "at": utc_text(now),
    }
    return db.execute(CHANGE, values).rowcount == 1


def cell_of(row: Any) -> Cell:
    """The cell in a row of `COLUMNS`."""
    return Cell(
        slot_id=row[0],
        target_id=row[1],
        status=CellStatus(row[2]),
        work_id=row[3],
        work_type=WorkType(row[4]) if row[4] else None,
        attempt_count=row[5],
        fallback_stage=row[6],
        last_error=row[7],
        reason_code=row[8],
        reason_message=row[9],
        candidate_report=row[10],
        stored_count=row[11],
    )
