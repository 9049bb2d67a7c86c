"""Connections to the ledger file, as production uses them. This module alone knows which driver carries them."""

import os
import sqlite3

from pixivflow.ledger.db import Db

__all__ = ["Db", "connect_plain"]

BUSY_TIMEOUT_MS = 5_000
"""How long SQLite itself waits for another process's lock before it refuses; the slot lease is 36 times that."""

CHECKPOINT_PAGES = 1_000
"""The daemon's writer checkpoints once the write-ahead log holds this many pages; nobody else ever does."""

JOURNAL_BYTES = 64 * 1024 * 1024
"""What is left of the write-ahead log after a checkpoint is cut to this size."""


def connect_plain(
    path: str | os.PathLike[str], *, checkpoint_pages: int = 0, busy_timeout_ms: int = BUSY_TIMEOUT_MS
) -> Db:
    """A synchronous connection with the production pragmas, for exports, the inline driver and tests of functions.

    `path`: a file, or `:memory:`. Errors: `sqlite3.Error` as SQLite raises it.
    """
    db = sqlite3.connect(path, factory=Db, isolation_level=None, cached_statements=512)
    try:
        for statement in pragmas(checkpoint_pages, busy_timeout_ms):
            db.steer(statement)
    except BaseException:
        db.close()
        raise
    return db


def pragmas(checkpoint_pages: int, busy_timeout_ms: int) -> tuple[str, ...]:
    """What every connection is told first. The waiting time comes before anything that could have to wait."""
    return (
        f"PRAGMA busy_timeout = {busy_timeout_ms}",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "PRAGMA fullfsync = ON",  # macOS: without it an fsync stops at the drive's cache; elsewhere it says nothing
        "PRAGMA foreign_keys = ON",
        f"PRAGMA wal_autocheckpoint = {checkpoint_pages}",
        f"PRAGMA journal_size_limit = {JOURNAL_BYTES}",
    )
