"""The rows of occurrences: opening one, reading it, moving its status.

Whoever changes a row says which state it expects and whether it must hold the lease; a change that met another state
changes nothing and says so.
"""

import json
from enum import StrEnum
from typing import Any

from pixivflow.config.texts import stored_text
from pixivflow.errors import Conflict
from pixivflow.ids import Owner, SlotId, TargetId
from pixivflow.ledger.connection import Db
from pixivflow.slots.machine import Role, slot_sources
from pixivflow.slots.model import Slot, SlotStatus
from pixivflow.slots.texts import SLOT_ERROR_MAX
from pixivflow.times import from_utc_text, utc_text

COLUMNS = ", ".join(Slot.__struct_fields__)
"""The struct names its columns, in its own order."""

TEXT_INSTANTS = ("created_at", "started_at", "completed_at")
"""The columns that hold UTC text; all other instants are epoch ms."""

READ = f"SELECT {COLUMNS} FROM schedule_slots WHERE id = ?"  # noqa: S608 - the columns are a constant

OPEN = """
INSERT INTO schedule_slots (id, schedule_id, occurrence_at, occurrence_date, occurrence_label, timezone, target_ids,
                            trigger_source, slot_date, slot_name, manual_request_id, correlation_id,
                            recovery_request_id, recovery_mode, params_json, created_at)
VALUES (:id, :schedule_id, :occurrence_at, :occurrence_date, :occurrence_label, :timezone, :target_ids,
        :trigger_source, :slot_date, :slot_name, :manual_request_id, :correlation_id,
        :recovery_request_id, :recovery_mode, :params_json, :created_at)
ON CONFLICT DO NOTHING
"""

OPEN_CELL = "INSERT INTO schedule_slot_items (slot_id, target_id, created_at, updated_at) VALUES (?, ?, ?, ?)"

KEY_HOLDER = "SELECT id FROM schedule_slots WHERE manual_request_id = ?"

START = """
UPDATE schedule_slots SET status = 'running', started_at = COALESCE(started_at, :at), completed_at = NULL
WHERE id = :id AND lease_owner = :owner AND status IN (SELECT value FROM json_each(:sources))
"""

END = """
UPDATE schedule_slots SET status = :to, completed_at = COALESCE(completed_at, :at),
                          last_error = COALESCE(:error, last_error)
WHERE id = :id AND status IN (SELECT value FROM json_each(:sources))
  AND CASE :fence WHEN 'holder' THEN lease_owner = :owner
                  WHEN 'unowned' THEN lease_owner IS NULL OR lease_until <= :now
                  ELSE TRUE END
"""

REPORTED = "UPDATE schedule_slots SET reported_at = :now WHERE id = :id AND reported_at IS NULL"


class Fence(StrEnum):
    """Whose lease a change of status wants to see on the row."""

    HOLDER = "holder"
    """The caller's own."""
    UNOWNED = "unowned"
    """None that lives."""
    ANYBODY = "anybody"
    """Whoever it is: a consumer's word ends their run."""


def read(db: Db, slot_id: SlotId) -> Slot | None:
    """The slot as its row tells it."""
    rows = db.execute(READ, (slot_id,)).fetchall()
    return slot_of(rows[0]) if rows else None


def held(db: Db, slot_id: SlotId, owner: Owner) -> Slot | None:
    """The slot if `owner` is running it: its lease, and still `running`. None: it is not `owner`'s to write to."""
    slot = read(db, slot_id)
    return slot if slot and slot.lease_owner == owner and slot.status is SlotStatus.RUNNING else None


def open_slot(db: Db, slot: Slot, now: int) -> bool:
    """Create the row of `slot` with one cell for each of its `target_ids`; False: it exists already and stays as it is.

    The membership is frozen here: no later change of the configuration adds or removes a cell.
    Errors: `Conflict` when the slot exists under another request, or the request has another slot; `ValueError` without
    a target, since nothing could ever run or end such a slot.
    """
    targets = list(dict.fromkeys(slot.target_ids or ()))
    if not targets:
        raise ValueError(f"slot {slot.id} selects no target")
    if db.execute(OPEN, _opening(slot, targets, now)).rowcount != 1:
        _same_request(db, slot)
        return False
    at = utc_text(now)
    db.executemany(OPEN_CELL, [(slot.id, target, at, at) for target in targets])
    return True


def _opening(slot: Slot, targets: list[TargetId], now: int) -> dict[str, object]:
    names = (
        *("id", "schedule_id", "occurrence_at", "occurrence_date", "occurrence_label", "timezone", "trigger_source"),
        *("slot_date", "slot_name", "manual_request_id", "correlation_id", "recovery_request_id", "recovery_mode"),
        "params_json",
    )
    fields: dict[str, object] = {name: getattr(slot, name) for name in names}
    return fields | {"target_ids": json.dumps(targets), "created_at": utc_text(now)}


def _same_request(db: Db, slot: Slot) -> None:
    held = read(db, slot.id)
    if held is None:
        [(other,)] = db.execute(KEY_HOLDER, (slot.manual_request_id,)).fetchall()
        raise Conflict(f"request {slot.manual_request_id} for {slot.id}", other)
    if held.manual_request_id != slot.manual_request_id:
        raise Conflict(f"request {slot.manual_request_id} for {slot.id}", f"request {held.manual_request_id}")


def start(db: Db, slot_id: SlotId, owner: Owner, now: int) -> bool:
    """Mark the slot `running` for the run that won its claim; the first start is the one that stays. False: not its."""
    sources = json.dumps(sorted(slot_sources(Role.RUN, SlotStatus.RUNNING)))
    return db.execute(START, {"id": slot_id, "owner": owner, "sources": sources, "at": utc_text(now)}).rowcount == 1


def end(
    db: Db,
    slot_id: SlotId,
    to: SlotStatus,
    role: Role,
    now: int,
    *,
    fence: Fence,
    owner: Owner | None = None,
    error: str | None = None,
) -> bool:
    """Move the slot to the terminal status `to`; the first end is the one that stays. False: the row would not have it.

    `error` None keeps the error that is stored.
    """
    values = {
        "id": slot_id,
        "to": to,
        "sources": json.dumps(sorted(slot_sources(role, to))),
        "fence": fence,
        "owner": owner,
        "now": now,
        "at": utc_text(now),
        "error": stored_text(error, SLOT_ERROR_MAX),
    }
    return db.execute(END, values).rowcount == 1


def mark_reported(db: Db, slot_id: SlotId, now: int) -> bool:
    """Say that everybody who is to know how the slot ended has been told, or that nobody is. False: said before."""
    return db.execute(REPORTED, {"id": slot_id, "now": now}).rowcount == 1


def slot_of(row: Any) -> Slot:
    """The slot in a row of `COLUMNS`. A field that is no instant, or no list of targets, is read as None."""
    fields = dict(zip(Slot.__struct_fields__, row, strict=True))
    fields |= {name: instant(fields[name]) for name in TEXT_INSTANTS}
    fields |= {"status": SlotStatus(fields["status"]), "target_ids": _targets(fields["target_ids"])}
    return Slot(**fields)


def instant(text: object) -> int | None:
    """Epoch ms of a stored text, None where it is no instant: a field for people never stops a rollup."""
    try:
        return from_utc_text(text) if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def _targets(text: str | None) -> tuple[TargetId, ...] | None:
    try:
        found = json.loads(text) if text else None
    except ValueError:
        return None
    return tuple(TargetId(str(target)) for target in found) if isinstance(found, list) else None
