"""The rows of attempts one by one: reading one, writing a new one, and changing one in somebody's name."""

from typing import Any, Final

import msgspec

from pixivflow.delivery.changes import RowChange
from pixivflow.delivery.machine import row_leads_to
from pixivflow.delivery.model import OutboxRow, RowKind, RowStatus
from pixivflow.ids import DeliveryId, OutboxId, Owner, RouteName
from pixivflow.ledger.connection import Db

COLUMNS: Final = """id, kind, delivery_target, payload_json, idempotency_key, delivery_id, status, attempts,
max_attempts, next_attempt_at, lease_owner, lease_until, last_error, answer_unknown"""

READ: Final = f"SELECT {COLUMNS} FROM outbox WHERE id = ?"  # noqa: S608 - the columns are the constant above

CHANGE: Final = """
UPDATE outbox SET status = :to, attempts = :attempts, next_attempt_at = :next_attempt_at, last_error = :last_error,
       answer_unknown = :answer_unknown, lease_owner = NULL, lease_until = NULL, updated_at = :now,
       completed_at = CASE WHEN :to IN ('done', 'cancelled') THEN :now END
WHERE id = :id AND status = :was AND lease_owner IS :owner
"""

PUT: Final = f"""
INSERT INTO outbox (id, kind, idempotency_key, delivery_id, delivery_target, payload_json, max_attempts,
                    next_attempt_at, created_at, updated_at)
VALUES (:id, :kind, :idempotency_key, :delivery_id, :route, :payload_json, :max_attempts, :next_attempt_at, :now, :now)
ON CONFLICT (kind, idempotency_key) WHERE idempotency_key IS NOT NULL DO UPDATE SET updated_at = excluded.updated_at
RETURNING {COLUMNS}
"""  # noqa: S608 - the columns are the constant above

REPLACE_PAYLOAD: Final = "UPDATE outbox SET payload_json = :payload_json WHERE id = :id"


def read(db: Db, row_id: OutboxId) -> OutboxRow | None:
    """The row as its table tells it."""
    rows = db.execute(READ, (row_id,)).fetchall()
    return row_of(rows[0]) if rows else None


def change(db: Db, row_id: OutboxId, to: RowChange, now: int, *, was: RowStatus, owner: Owner | None) -> bool:
    """Write `to`, if the row is as `was` and `owner` say; False: it is not, and is left to whoever moved it."""
    values = msgspec.structs.asdict(to)
    values |= {"to": row_leads_to(to.event), "id": row_id, "now": now, "was": was, "owner": owner}
    return db.execute(CHANGE, values).rowcount == 1


def put(db: Db, row: OutboxRow, now: int) -> OutboxRow:
    """Write a new row, or find the one that carries its key already and leave that as it is. The row that is there.

    Errors: `sqlite3.IntegrityError` for an empty id or address.
    """
    [values] = db.execute(PUT, msgspec.structs.asdict(row) | {"now": now}).fetchall()
    return row_of(values)


def replace_payload(db: Db, row_id: OutboxId, payload_json: str) -> None:
    """Give a row that is armed again what was checked just now: what it was frozen with may be gone from the disk."""
    db.execute(REPLACE_PAYLOAD, {"id": row_id, "payload_json": payload_json})


def row_of(values: Any) -> OutboxRow:
    """The row in a tuple of `COLUMNS`."""
    return OutboxRow(
        id=OutboxId(values[0]),
        kind=RowKind(values[1]),
        route=RouteName(values[2]),
        payload_json=values[3],
        idempotency_key=values[4],
        delivery_id=None if values[5] is None else DeliveryId(values[5]),
        status=RowStatus(values[6]),
        attempts=values[7],
        max_attempts=values[8],
        next_attempt_at=values[9],
        lease_owner=values[10],
        lease_until=values[11],
        last_error=values[12],
        answer_unknown=bool(values[13]),
    )
