"""A run that ends, and what it leaves in the rows: for all who look at finished runs."""

import json
from typing import Any

from actors.kit.cancel import End
from actors.ports import Lost, Verdict
from pixivflow.ledger import runs
from pixivflow.ledger.connection import Db
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import ME, MINUTE, NOW, a_run, put_running


def finish(db: Db, end: End, *, owner: str = ME, now: int = NOW + MINUTE) -> Verdict | Lost:
    with transaction(db):
        return runs.finish(db, a_run(owner), end, now)  # type: ignore[arg-type]


def counted(db: Db) -> list[str]:
    return [row[0] for row in db.execute("SELECT status FROM scheduler_executions ORDER BY id").fetchall()]


def outcomes(db: Db) -> list[dict[str, Any]]:
    rows = db.execute("SELECT detail FROM delivery_events WHERE event = 'execution.summary'").fetchall()
    return [json.loads(row[0])["outcome"] for row in rows]


def running(db: Db, **cells: str) -> None:
    with transaction(db):
        put_running(db, cells=cells)
