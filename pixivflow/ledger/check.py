"""What a ledger file is before it is used: whose it is, whether its last use ended well, whether it can be read.

Each process that writes has a row in `ledger_openings` while it has the file open. A row that nobody alive can own
tells of an end that was not orderly; the file is then checked before anything is served from it.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from pixivflow.errors import LedgerRefused
from pixivflow.ledger.db import Db
from pixivflow.ledger.migrate import APPLICATION_ID, sync
from pixivflow.ledger.private import narrowed
from pixivflow.ledger.translate import DAMAGED, code_of
from pixivflow.times import iso

CHECKED_FIRST_BYTES: Final = 64 * 1024 * 1024
"""A ledger below this size is checked before it serves, in a fraction of a second; a larger one meanwhile."""

OPEN = "INSERT INTO ledger_openings (owner, opened_at) VALUES (?, ?)"

CLOSE = "DELETE FROM ledger_openings WHERE owner = ?"

FORGET_ALL = "DELETE FROM ledger_openings"


class Lost(Exception):
    """A ledger has been here, and what is here now holds nothing of it."""


def mark_open(db: Db, owner: str, now: int) -> None:
    """Say that `owner` has the ledger open from `now` on."""
    db.execute(OPEN, (owner, now))


def mark_closed(db: Db, owner: str) -> None:
    """Say that `owner` has closed it in order."""
    db.execute(CLOSE, (owner,))


def forget_left_open(db: Db) -> int:
    """Remove the marks of processes that are gone; how many there were. Only for who is alone with the file."""
    return db.execute(FORGET_ALL).rowcount


def version_found(path: Path, newest: int, *, in_use: bool = False) -> int:
    """The schema version of the file at `path`, 0 for one that holds nothing yet. The file is not touched.

    `in_use`: another process has it open as its ledger.

    Errors: `LedgerRefused` for a file that is not ours or is newer than this program; `sqlite3.Error`.
    """
    if not path.exists():
        return 0
    if not path.is_file():
        raise LedgerRefused(path, "this is not a file")
    if path.stat().st_size == 0:
        return 0
    with closing(look(path, in_use=in_use)) as db:
        [(version,)] = db.execute("PRAGMA user_version")
        [(application,)] = db.execute("PRAGMA application_id")
        [(tables,)] = db.execute("SELECT count(*) FROM sqlite_schema")
    if version == 0 and tables == 0:
        return 0
    if version == 0 or application != APPLICATION_ID:
        raise LedgerRefused(path, "this is another program's file; `pixivflow import` takes over what it holds")
    if version > newest:
        raise LedgerRefused(path, f"its schema is version {version}, this program knows up to {newest}")
    return int(version)


def look(path: Path, *, in_use: bool) -> Db:
    """A connection that changes nothing and leaves nothing behind.

    A read-only connection still creates `-wal` and `-shm` beside a file in WAL mode. An immutable one does not, but it
    takes no locks and reads no log: it must not be used where there is a log, or somebody who may begin one.
    """
    immutable = "" if in_use or has_log(path) else "&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{immutable}", uri=True, isolation_level=None, factory=Db)


def has_log(path: Path) -> bool:
    """Whether there is a write-ahead log beside the file, with something in it."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def finding(db: Db) -> str | None:
    """What SQLite's `quick_check` has to say against the file, None when all is well.

    Errors: `sqlite3.Error` that says nothing about the file: interrupted, kept out.
    """
    try:
        rows = db.steer("PRAGMA quick_check(5)")
    except sqlite3.Error as error:
        if code_of(error) not in DAMAGED:
            raise
        return str(error)
    return None if rows == [("ok",)] else "; ".join(str(row[0]) for row in rows)


def set_aside(path: Path, now: int) -> Path | None:
    """Move what is left of a ledger that cannot be used out of the way, with its log; where to, None if nothing was.

    Only for who is alone with the file.
    """
    stamp = iso(now).translate(str.maketrans("", "", "-:."))
    target = path.with_name(f"{path.name}.corrupt-{stamp}")
    left = [suffix for suffix in ("-wal", "-shm", "") if Path(f"{path}{suffix}").exists()]
    for suffix in left:  # the file last: while it is there, the next start sets aside the rest
        narrowed(Path(f"{path}{suffix}"))
        os.replace(f"{path}{suffix}", f"{target}{suffix}")
    sync(path.parent)
    return target if left else None
