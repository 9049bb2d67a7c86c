"""Reading: a connection of its own that cannot write, each function in a snapshot of its own."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pixivflow.ledger.connection import connect_plain
from pixivflow.ledger.db import Db
from pixivflow.ledger.translate import translated


def connect_reader(path: Path, busy_timeout_ms: int) -> Db:
    """A connection for reading alone; whatever would write fails. Errors: SQLite's, translated."""
    try:
        db = connect_plain(path, busy_timeout_ms=busy_timeout_ms)
    except sqlite3.Error as error:
        raise translated(error) from error
    db.steer("PRAGMA query_only = ON")
    return db


def read_once(db: Db, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`fn`'s value from one snapshot, which is given back whatever happens.

    Errors: `fn`'s own, SQLite's translated.
    """
    try:
        db.steer("BEGIN")
        try:
            return db.call(fn, *args, **kwargs)
        finally:
            db.steer("ROLLBACK")
    except BaseException as error:
        if (ours := translated(error)) is not error:
            raise ours from error
        raise
