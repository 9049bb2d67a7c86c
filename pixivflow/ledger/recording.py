"""What one answer changes, written whole: the row, its promise, the audit and the cell, in one transaction.

So no crash can leave a receiver that has the work beside a row that still owes it, or a finished row beside a cell that
waits for ever.
"""

import sqlite3
from collections.abc import Iterable
from typing import Final

import msgspec

from pixivflow.delivery import audit
from pixivflow.delivery.audit import AuditEvent, correlation
from pixivflow.delivery.backoff import RetryPolicy
from pixivflow.delivery.changes import Recording
from pixivflow.delivery.model import Ack, Intent, OutboxRow, RowStatus
from pixivflow.delivery.orders import last_look
from pixivflow.delivery.recording import recording
from pixivflow.delivery.settle import settlement
from pixivflow.ids import OutboxId, Owner
from pixivflow.ledger import cells, events, intents, outbox, outbox_rows
from pixivflow.ledger.connection import Db
from pixivflow.slots.machine import Role
from pixivflow.slots.model import CellStatus, ReasonCode
from pixivflow.times import PRODUCTION

OF_THIS_STATEMENT_ALONE: Final = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT})
"""Faults after which the transaction is as good as before; a full disk or a broken file is not among them."""


def record(
    db: Db, row_id: OutboxId, ack: Ack, owner: Owner, now: int, u: float, policy: RetryPolicy | None = None
) -> bool:
    """Record the answer to `owner`'s attempt; False: the row is not `owner`'s any more and was left as it is.

    What the answer proves is kept in either case: a publication is a fact, whoever holds the row by now. The row is
    read afresh, since a successor that took it over is a reason to read the answer differently. `u`: chance, uniform in
    [0, 1).
    """
    row = outbox_rows.read(db, row_id)
    if row is None:
        return False
    intent = intents.read(db, row.delivery_id) if row.delivery_id else None
    decided = recording(
        row, intent, ack, cancelled=is_cancelled(db, intent), policy=policy or RetryPolicy(), now=now, u=u
    )
    return write(db, row, intent, decided, now, was=RowStatus.PROCESSING, owner=owner)


def cleared(db: Db, row_id: OutboxId, owner: Owner, now: int, lease_ms: int = PRODUCTION.row_lease_ms) -> bool:
    """The last look before the send: whether the row is still `owner`'s, owed and wanted; if so its lease begins anew.

    A row whose promise is confirmed by now, whose route has the work under another key, or whose consumer cancelled the
    work, is ended here. One that is somebody else's is left alone.
    """
    if not outbox.renew(db, [row_id], owner, now, lease_ms):
        return False
    row = outbox_rows.read(db, row_id)
    if row is None:
        return False
    intent = intents.read(db, row.delivery_id) if row.delivery_id else None
    kept_under = intents.kept_under(db, intent) if intent else None
    stopped = last_look(row, intent, cancelled=is_cancelled(db, intent), kept_under=kept_under)
    if stopped is None:
        tell(db, row, [AuditEvent(event=audit.CLAIMED)], now)
        return True
    write(db, row, intent, stopped, now, was=RowStatus.PROCESSING, owner=owner)
    return False


def write(
    db: Db, row: OutboxRow, intent: Intent | None, decided: Recording, now: int, *, was: RowStatus, owner: Owner | None
) -> bool:
    """Write a decision about `row`, if it is as `was` and `owner` say; False: it is not, and only facts were
    written."""
    ours = outbox_rows.change(db, row.id, decided.row, now, was=was, owner=owner)
    if not ours and not decided.is_fact:
        return False
    if intent is not None and decided.intent is not None:
        intents.change(db, intent, decided.intent, now)
    told = (*decided.intent_events, *decided.events) if ours else decided.intent_events
    tell(db, row, told, now)
    if intent is not None and decided.settles:
        settle(db, intent, now)
    return ours


def settle(db: Db, intent: Intent, now: int) -> None:
    """End the cell of a promise that has ended, unless another route still owes it. A cell that has ended stays."""
    if intent.slot_id is None or intent.target_id is None:
        return
    cell = cells.read(db, intent.slot_id, intent.target_id)
    if cell is None:
        return
    verdict = settlement(cell, intents.facts(db, intent.slot_id, intent.target_id))
    if verdict is not None:
        cells.change(db, intent.slot_id, verdict, Role.OUTBOX, now)


def is_cancelled(db: Db, intent: Intent | None) -> bool:
    """Whether the consumer of the promise's cell no longer wants it. Work outside any cell cannot be cancelled so."""
    if intent is None or intent.slot_id is None or intent.target_id is None:
        return False
    cell = cells.read(db, intent.slot_id, intent.target_id)
    if cell is None or cell.status is not CellStatus.FAILED:
        return False
    return cell.reason_code == ReasonCode.CANCELLED_BY_CONSUMER


def tell(db: Db, row: OutboxRow, told: Iterable[AuditEvent], now: int) -> None:
    """Write events about `row`. One that cannot be written is left out: the audit never costs a delivery.

    Errors: `sqlite3.Error` where the fault is not of the one statement, and the transaction is gone or in danger.
    """
    where = correlation(row.payload_json)
    for event in told:
        try:
            events.append(db, _audit_row(row, event, where, now))
        except (sqlite3.IntegrityError, sqlite3.OperationalError) as error:
            if not db.in_transaction or error.sqlite_errorcode & 0xFF not in OF_THIS_STATEMENT_ALONE:
                raise


def _audit_row(row: OutboxRow, event: AuditEvent, where: audit.Correlation, now: int) -> events.Event:
    return events.Event(
        event=event.event,
        ts=now,
        delivery_id=row.delivery_id,
        outbox_id=row.id,
        execution_id=where.execution_id,
        slot_id=where.slot_id,
        pixiv_id=where.pixiv_id,
        delivery_target=row.route,
        error_class=event.error_class,
        retryable=event.retryable,
        counts_as_attempt=event.counts_as_attempt,
        actor=event.actor,
        detail=msgspec.json.encode(event.detail).decode() if event.detail is not None else None,
    )
