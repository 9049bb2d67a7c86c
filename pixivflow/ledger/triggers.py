"""The journal of requests, and the slot that a request opens, in one transaction with its row.

    accept ──▶ offered to slot_runner ──▶ conclude      a request that reaches a slot
    keep, depart                                        one that reaches none, or whose caller left
    (ledger/refusals)                                   one that was refused before anybody knew who asked

A row begins as `error` without an answer, so a crash before the answer is never read as a normal acceptance. The
journal may fail, the slot may not: a statement of the journal that fails is told as a fault and changes nothing else.
"""

import sqlite3
from collections.abc import Callable

import msgspec

from actors.ports import Admitted, Refused
from pixivflow.errors import Conflict
from pixivflow.ids import ScheduleId, SlotId
from pixivflow.ledger import cells, slots
from pixivflow.ledger.connection import Db
from pixivflow.ledger.translate import FATAL, code_of
from pixivflow.scheduling.disposition import ANSWERS, NO_ANSWER, Disposition, dispose
from pixivflow.slots.lease import is_live
from pixivflow.slots.machine import is_over
from pixivflow.slots.model import Cell, Slot, SlotStatus

ARRIVE = """
INSERT INTO trigger_requests (received_at, route, schedule_id, slot_id, occurrence_at, attempt_id, provider,
                              disposition, http_status, reason, elapsed_ms)
VALUES (:received_at, 'run', :schedule_id, :slot_id, :occurrence_at, :attempt_id, :provider,
        :disposition, :http_status, :reason, :elapsed_ms)
"""

ARRIVED = """
SELECT 1 FROM trigger_requests
WHERE received_at = :received_at AND schedule_id IS :schedule_id AND attempt_id IS :attempt_id LIMIT 1
"""

ANSWER = """
UPDATE trigger_requests SET disposition = :disposition, http_status = :http_status, reason = :reason,
                            elapsed_ms = :elapsed_ms
WHERE id = :id AND http_status = 0
"""

PRUNE = """
DELETE FROM trigger_requests WHERE id IN (
  SELECT id FROM trigger_requests WHERE received_at < :before ORDER BY received_at LIMIT :at_most
)
"""


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """One authenticated request on the run route, as far as it is known. `received_at`, `occurrence_at`: epoch ms."""

    received_at: int
    schedule_id: ScheduleId | None = None
    slot_id: SlotId | None = None
    occurrence_at: int | None = None
    attempt_id: str | None = None
    provider: str | None = None


class End(msgspec.Struct, frozen=True, kw_only=True):
    """How a request was answered. `elapsed_ms`: from its arrival."""

    disposition: Disposition
    http_status: int
    reason: str | None = None
    elapsed_ms: int = 0


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The slot is on the disk. `journal`: the request's row; None, with the `fault`, when it could not be written."""

    is_over: bool
    journal: int | None
    fault: str | None = None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the request, and the slot as it is now."""

    disposition: Disposition
    reason: str | None
    status: SlotStatus
    cells: tuple[Cell, ...]
    fault: str | None = None


def accept(db: Db, arrival: Arrival, slot: Slot, now: int) -> Accepted:
    """Open `slot`, or find it, and write down who asked for it. `now`: of the ledger's lease clock.

    Errors: as `slots.open_slot`.
    """
    slots.open_slot(db, slot, now)
    found = _read(db, slot.id)
    journal, fault = _written(db, lambda: _insert(db, arrival, _unanswered()))
    return Accepted(is_over=_is_over(db, found), journal=journal, fault=fault)


def conclude(
    db: Db, journal: int | None, slot_id: SlotId, admission: Admitted | Refused, elapsed_ms: int, now: int
) -> Found:
    """Say what became of the request, from the slot's row and what slot_runner answered, and write it down."""
    slot = _read(db, slot_id)
    disposition, reason = dispose(admission, is_over=_is_over(db, slot), is_leased=is_live(slot, now))
    status = ANSWERS[disposition].http_status
    end = End(disposition=disposition, http_status=status, reason=reason, elapsed_ms=elapsed_ms)
    fault = None if journal is None else answered(db, journal, end)
    return Found(
        disposition=disposition,
        reason=reason,
        status=slot.status,
        cells=cells.read_all(db, slot_id),
        fault=fault,
    )


def answered(db: Db, journal: int, end: End) -> str | None:
    """Write down how a request was answered, once; the fault, if that failed."""
    _, fault = _written(db, lambda: db.execute(ANSWER, _values(end) | {"id": journal}).rowcount)
    return fault


def keep(db: Db, arrival: Arrival, end: End) -> str | None:
    """Write the row of a request that reached no slot; the fault, if that failed."""
    _, fault = _written(db, lambda: _insert(db, arrival, end))
    return fault


def depart(db: Db, arrival: Arrival, end: End) -> str | None:
    """As `keep`, for a caller who left while it was not known whether `accept` would still write the row."""
    known = db.execute(ARRIVED, msgspec.structs.asdict(arrival)).fetchall()
    return None if known else keep(db, arrival, end)


def prune(db: Db, before: int, at_most: int) -> int:
    """Drop the oldest rows from before the instant, at most so many; how many there were. Call it until there are less.

    `before`: epoch ms.
    """
    return db.execute(PRUNE, {"before": before, "at_most": at_most}).rowcount


def _insert(db: Db, arrival: Arrival, end: End) -> int:
    row = db.execute(ARRIVE, msgspec.structs.asdict(arrival) | _values(end)).lastrowid
    return row or 0


def _unanswered() -> End:
    return End(disposition=Disposition.ERROR, http_status=NO_ANSWER)


def _values(end: End) -> dict[str, object]:
    return msgspec.structs.asdict(end) | {"elapsed_ms": max(0, end.elapsed_ms)}


def _written(db: Db, statement: Callable[[], int]) -> tuple[int | None, str | None]:
    """The statement's number, or what went wrong with it. What ended the whole transaction, or the file, is let out."""
    try:
        return statement(), None
    except sqlite3.Error as error:
        if not db.in_transaction or code_of(error) in FATAL:
            raise
        return None, str(error)


def _read(db: Db, slot_id: SlotId) -> Slot:
    slot = slots.read(db, slot_id)
    if slot is None:
        raise Conflict(slot_id, None)
    return slot


def _is_over(db: Db, slot: Slot) -> bool:
    return is_over(slot.status, has_open_cell=any(cell.is_open for cell in cells.read_all(db, slot.id)))
