"""What people do to rows: cancel one, arm one again. Every change is guarded by the row's state and told to the
audit."""

from pixivflow.delivery import audit, orders
from pixivflow.delivery.changes import Recording
from pixivflow.delivery.intents import Order
from pixivflow.delivery.machine import RowEvent
from pixivflow.delivery.model import Intent, OutboxRow
from pixivflow.errors import Conflict
from pixivflow.ids import OutboxId
from pixivflow.ledger import intents, outbox_rows
from pixivflow.ledger.connection import Db
from pixivflow.ledger.recording import write


def cancel(db: Db, row_id: OutboxId, now: int) -> None:
    """End a row that nobody is sending, with its promise; its cell may end with it.

    Errors: `Conflict` for a row that is missing, being sent, or finished.
    """
    row, intent = _found(db, row_id)
    _write(db, row, intent, orders.cancel(row, intent, audit.BY_OPERATOR), now, "pending, waiting or dead")


def requeue(db: Db, row_id: OutboxId, now: int, *, source: str) -> None:
    """Try an ended row again with a full budget, first at `now`. `source`: the command, for the audit.

    Errors: `Conflict` for a row that is missing, still owed, or done, but for one whose receiver ended the work badly;
    for one whose route has the work by now, or is about to get it under another key.
    """
    _rearm(db, row_id, RowEvent.REQUEUED, now, source)


def revive(db: Db, row_id: OutboxId, now: int, *, source: str) -> None:
    """Make a dead or cancelled row as good as new, due at `now`. `source`: the command, for the audit.

    Errors: `Conflict` for a row that is missing, still owed, or done; for one whose route has the work by now, or is
    about to get it under another key.
    """
    _rearm(db, row_id, RowEvent.REVIVED, now, source)


def _rearm(db: Db, row_id: OutboxId, event: RowEvent, now: int, source: str) -> None:
    row, intent = _found(db, row_id)
    if intent is not None and _served(db, intent):
        raise Conflict(f"route {intent.route} in want of work {intent.work_id}", "another promise of it")
    _write(db, row, intent, orders.rearm(row, intent, event, now, source=source), now, "dead or cancelled")


def _served(db: Db, intent: Intent) -> bool:
    """Whether sending the work once more would publish it twice, under two keys that no receiver can tell for one."""
    order = Order(work_type=intent.work_type, work_id=intent.work_id)
    return intents.served(db, intent.route, order, intent.idempotency_key)


def _found(db: Db, row_id: OutboxId) -> tuple[OutboxRow, Intent | None]:
    row = outbox_rows.read(db, row_id)
    if row is None:
        raise Conflict(f"outbox row {row_id}", None)
    return row, intents.read(db, row.delivery_id) if row.delivery_id else None


def _write(db: Db, row: OutboxRow, intent: Intent | None, decided: Recording | None, now: int, expected: str) -> None:
    if decided is None or not write(db, row, intent, decided, now, was=row.status, owner=row.lease_owner):
        raise Conflict(f"outbox row {row.id} {expected}", row.status)
