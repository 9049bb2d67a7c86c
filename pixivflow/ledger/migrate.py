"""Bringing a ledger file to the schema of this program: forward only, one transaction a step.

`PRAGMA user_version` is the number of the last step; `PRAGMA application_id` says that the file is ours.
"""

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from pixivflow.ledger.db import Db
from pixivflow.ledger.private import make_private

APPLICATION_ID = 0x70787666
"""`pxvf`, in the file's header."""

NAME = re.compile(r"(\d{4})_\w+\.sql")


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the schema, to version `number`."""

    number: int
    sql: str


def shipped() -> tuple[Migration, ...]:
    """The steps that came with this program, oldest first: `schema/NNNN_name.sql`."""
    found = (
        Migration(number=int(named[1]), sql=entry.read_text(encoding="utf-8"))
        for entry in files("pixivflow.ledger.schema").iterdir()
        if (named := NAME.fullmatch(entry.name))
    )
    return tuple(sorted(found, key=lambda step: step.number))


def migrate(db: Db, steps: Sequence[Migration] | None = None) -> None:
    """Take every step that the file behind `db` has not taken yet.

    Two processes may do so at once: one takes the step, the other waits for it and finds it taken. A ledger that has
    a version already is copied first, to `<file>.before-v<number>` after the first step it is about to take.
    Errors: `sqlite3.Error` as SQLite raises it; the file then stands where the last whole step left it.
    """
    version = version_of(db)
    pending = [step for step in (shipped() if steps is None else steps) if step.number > version]
    if pending and version > 0:
        keep_copy(db, pending[0].number)
    for step in pending:
        take(db, step)


def take(db: Db, step: Migration) -> None:
    """One step in one transaction, unless another process took it while we waited for the lock."""
    db.steer("BEGIN IMMEDIATE")
    try:
        if version_of(db) < step.number:
            for statement in statements(step.sql):
                db.execute(statement)
            db.steer(f"PRAGMA application_id = {APPLICATION_ID}")
            db.steer(f"PRAGMA user_version = {step.number}")
        db.steer("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.steer("ROLLBACK")
        raise


def version_of(db: Db) -> int:
    """The number of the last step that the file has taken, 0 for none."""
    [(version,)] = db.steer("PRAGMA user_version")
    return int(version)


def statements(sql: str) -> Iterator[str]:
    """The statements of a script, one by one: `executescript` would commit the transaction it finds open."""
    start = 0
    for semicolon in re.finditer(";", sql):
        if sqlite3.complete_statement(sql[start : semicolon.end()]):
            yield sql[start : semicolon.end()]
            start = semicolon.end()
    if sql[start:].strip():
        yield sql[start:]


def keep_copy(db: Db, number: int) -> None:
    """Write `<file>.before-v<number>` beside the ledger, whole and on the disk before its name appears."""
    [(_, _, path)] = db.steer("PRAGMA database_list")
    if not path:
        return  # in memory: there is nothing to go back to
    target = Path(f"{path}.before-v{number}")
    partial = Path(f"{target}.partial")
    partial.unlink(missing_ok=True)
    make_private(partial)
    copy = sqlite3.connect(partial)
    try:
        db.backup(copy)
    finally:
        copy.close()
    sync(partial)
    partial.replace(target)
    sync(target.parent)


def sync(path: Path) -> None:
    """Put a file's content, or a folder's names, on the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
