"""Reading: what has been written is seen, nothing can be written, nothing stays pinned."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio

from pixivflow.errors import LedgerLost, Unavailable
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.ledger import Ledger
from pixivflow.ledger.reader import connect_reader, read_once
from tests.fixtures.ledgers import kept, put


async def test_a_read_sees_every_write_that_has_returned(ledger: Ledger) -> None:
    """Hammered: many tasks, each looking for its own row at once after each write."""

    def is_there(db: Db, name: str) -> bool:
        return db.execute("SELECT 1 FROM schedule_slots WHERE id = ?", (name,)).fetchone() is not None

    async def write_and_look(task: int) -> None:
        for turn in range(40):
            name = await ledger.write(put, f"{task}-{turn}")
            assert await ledger.read(is_there, name), name

    async with trio.open_nursery() as nursery:
        for task in range(16):
            nursery.start_soon(write_and_look, task)


async def test_a_read_cannot_write(ledger: Ledger) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await ledger.read(put, "never")
    assert await ledger.write(kept) == []


async def test_all_of_one_read_is_one_snapshot(db: Db, ledger_path: Path) -> None:
    def twice(reading: Db) -> tuple[list[str], list[str]]:
        first = kept(reading)
        put(db, "meanwhile")
        return first, kept(reading)

    with closing(connect_reader(ledger_path, 0)) as reader:
        assert read_once(reader, twice, (), {}) == ([], [])
        assert read_once(reader, kept, (), {}) == ["meanwhile"]


@pytest.mark.parametrize("fails", [False, True], ids=["a read that returned", "a read that failed"])
def test_after_a_read_the_log_can_be_brought_into_the_file(db: Db, ledger_path: Path, fails: bool) -> None:
    def read(reading: Db) -> list[str]:
        names = kept(reading)
        if fails:
            raise KeyError(names[0])
        return names

    put(db, "a")
    with closing(connect_reader(ledger_path, 0)) as reader:
        try:
            read_once(reader, read, (), {})
        except KeyError:
            assert fails
        put(db, "b")
        assert db.steer("PRAGMA wal_checkpoint(TRUNCATE)") == [(0, 0, 0)]


@pytest.mark.parametrize(
    ("code", "family"),
    [
        (sqlite3.SQLITE_BUSY_RECOVERY, Unavailable),
        (sqlite3.SQLITE_LOCKED, Unavailable),
        (sqlite3.SQLITE_IOERR, LedgerLost),
    ],
)
async def test_what_a_read_meets_is_told_in_our_words_and_is_not_the_ledgers_end(
    ledger: Ledger, code: int, family: type[Exception]
) -> None:
    def fails(db: Db) -> None:
        error = sqlite3.OperationalError("as SQLite raises it")
        error.sqlite_errorcode = code
        raise error

    with pytest.raises(family):
        await ledger.read(fails)
    await ledger.write(put, "a")
    assert await ledger.read(kept) == ["a"]


async def test_a_cancelled_read_holds_up_nobody(ledger: Ledger) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await ledger.read(kept)
    assert scope.cancelled_caught
    assert await ledger.read(kept) == []


def test_exports_can_open_a_connection_of_their_own(db: Db, ledger_path: Path) -> None:
    put(db, "a")
    with closing(connect_plain(ledger_path)) as export:
        assert [name for (name,) in export.execute("SELECT id FROM schedule_slots")] == ["a"]
