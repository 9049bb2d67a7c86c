"""Every row of a ledger at one instant, so that what a step did can be read from what it left."""

from collections.abc import Mapping
from typing import Any, Final

from pixivflow.ledger.connection import Db

Row = dict[str, Any]

SLOTS: Final = "schedule_slots"
CELLS: Final = "schedule_slot_items"
EXECUTIONS: Final = "scheduler_executions"
INTENTS: Final = "deliveries"
ROWS: Final = "outbox"
EVENTS: Final = "delivery_events"

_IDENTITY: Final[Mapping[str, str]] = {
    SLOTS: "id",
    CELLS: "slot_id || '/' || target_id",
    EXECUTIONS: "id",
    INTENTS: "id",
    ROWS: "id",
    EVENTS: "id",
}
TABLES: Final = tuple(_IDENTITY)

Look = Mapping[str, Mapping[str, Row]]
"""Table -> identity -> row, in the order in which the rows were written."""

OPEN_SLOT: Final = ("pending", "running")
ENDED_SLOT: Final = ("success", "partial", "failed", "expired")
TO_BE_RUN: Final = ("pending", "selected")
IN_DELIVERY: Final = ("artifact_ready", "delivery_pending")
OPEN_CELL: Final = TO_BE_RUN + IN_DELIVERY
CONFIRMED: Final = ("delivered", "duplicate")
OWED: Final = ("pending", "processing", "retry_wait")


def look(db: Db) -> Look:
    """The rows as they stand now, inside a transaction or not."""
    return {table: _rows(db, table, identity) for table, identity in _IDENTITY.items()}


def _rows(db: Db, table: str, identity: str) -> dict[str, Row]:
    cursor = db.execute(f"SELECT {identity} AS identity_, * FROM {table} ORDER BY rowid")
    names = [column[0] for column in cursor.description]
    found = (dict(zip(names, values, strict=True)) for values in cursor.fetchall())
    return {str(row["identity_"]): row for row in found}


def cells_of(rows: Look, slot: str) -> list[Row]:
    """The cells of a slot."""
    return [cell for cell in rows[CELLS].values() if cell["slot_id"] == slot]


def intents_of(rows: Look, cell: Row) -> list[Row]:
    """The promises of a cell."""
    return [
        intent
        for intent in rows[INTENTS].values()
        if (intent["slot_id"], intent["target_id"]) == (cell["slot_id"], cell["target_id"])
    ]


def rows_of(rows: Look, intent: Row) -> list[Row]:
    """The outbox rows that carry a promise; there should be one."""
    return [row for row in rows[ROWS].values() if row["delivery_id"] == intent["id"]]


def is_leased(row: Row, at: int) -> bool:
    """Whether a slot or an outbox row has a live lease at `at`, by the specification's words."""
    return row["lease_owner"] is not None and row["lease_until"] > at
