"""Ledger files made by hand, from the text of the schema, for the checkers to judge.

Constraints are switched off while a file is made, since a checker must name faults that the schema would have refused.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

SCHEMA = Path(__file__).resolve().parents[2] / "pixivflow" / "ledger" / "schema"

SLOT, TARGET, WORK, ROUTE = "p@2026-01-15T0300", "t", "w1", "r"
KEY = f"pixivflow:{ROUTE}:illustration:{WORK}:{SLOT}:{TARGET}"
THEN = "2026-01-15 03:00:00"
AT = 1_768_446_000_000

DEFAULTS: dict[str, dict[str, object]] = {
    "schedule_slots": {
        "id": SLOT,
        "schedule_id": "p",
        "occurrence_at": AT,
        "target_ids": json.dumps([TARGET]),
        "status": "success",
        "started_at": THEN,
        "created_at": THEN,
        "completed_at": THEN,
        "heartbeat_at": AT,
    },
    "schedule_slot_items": {
        "slot_id": SLOT,
        "target_id": TARGET,
        "status": "submitted",
        "work_id": WORK,
        "work_type": "illustration",
        "created_at": THEN,
        "updated_at": THEN,
        "completed_at": THEN,
    },
    "scheduler_executions": {
        "execution_number": 1,
        "schedule_id": "p",
        "status": "success",
        "start_time": THEN,
        "created_at": THEN,
    },
    "deliveries": {
        "id": "d1",
        "delivery_target": ROUTE,
        "work_type": "illustration",
        "pixiv_id": WORK,
        "slot_id": SLOT,
        "target_id": TARGET,
        "idempotency_key": KEY,
        "status": "delivered",
        "created_at": THEN,
        "updated_at": THEN,
        "delivered_at": THEN,
    },
    "outbox": {
        "id": "o1",
        "kind": "delivery",
        "idempotency_key": f"outbox:{KEY}",
        "delivery_id": "d1",
        "delivery_target": ROUTE,
        "payload_json": "{}",
        "status": "done",
        "next_attempt_at": AT,
        "created_at": AT,
        "updated_at": AT,
        "completed_at": AT,
    },
    "delivery_events": {"ts": AT, "slot_id": SLOT, "event": "execution.summary"},
}


@contextmanager
def an_empty_ledger(path: Path) -> Iterator[sqlite3.Connection]:
    """A file with the schema and no row; committed and closed at the end of the block."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        for script in sorted(SCHEMA.glob("*.sql")):
            db.executescript(script.read_text())
        db.execute("PRAGMA ignore_check_constraints = ON")
        yield db


def add(db: sqlite3.Connection, table: str, **columns: object) -> None:
    """A row of `table` as a finished publication has it, `columns` told otherwise."""
    row = DEFAULTS[table] | columns
    names = ", ".join(row)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))


@contextmanager
def a_published_slot(path: Path) -> Iterator[sqlite3.Connection]:
    """A ledger in which one slot published one work on one route; open for changes until the end of the block."""
    with an_empty_ledger(path) as db:
        for table in DEFAULTS:
            add(db, table)
        for event in ("outbox.claimed", "outbox.delivered"):
            add(db, "delivery_events", outbox_id="o1", delivery_id="d1", event=event)
        yield db


def with_changes(path: Path, *changes: str) -> Path:
    """The file of one published slot after `changes`, each a statement."""
    with a_published_slot(path) as db:
        for change in changes:
            db.execute(change)
    return path
