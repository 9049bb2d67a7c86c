"""The ledger without threads behaves as the one with threads does: one suite, both."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
import trio

from actors.kit.testing import Probe
from pixivflow.errors import LedgerLost, StorageFull, Unavailable
from pixivflow.ledger import events
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.db import HalfReadCursor, TransactionEnded
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.ledger import Ledger, open_ledger
from tests.fixtures.ledgers import StoppedClock, kept, put


@asynccontextmanager
async def either(kind: str, path: Path, probe: Probe) -> AsyncIterator[Ledger]:
    match kind:
        case "with threads":
            async with open_ledger(path, clock=StoppedClock(), note=probe.note, point=probe.point) as ledger:
                yield ledger
        case "inline":
            async with open_inline(path, clock=StoppedClock(), note=probe.note, point=probe.point) as ledger:
                yield ledger
        case _:
            async with open_inline(":memory:", clock=StoppedClock(), note=probe.note, point=probe.point) as ledger:
                yield ledger


@pytest.fixture(params=["with threads", "inline", "inline, in memory"])
async def each(request: pytest.FixtureRequest, ledger_path: Path, probe: Probe) -> AsyncIterator[Ledger]:
    async with either(request.param, ledger_path, probe) as ledger:
        yield ledger


def said_by_sqlite(code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError("as SQLite raises it")
    error.sqlite_errorcode = code
    return error


async def test_what_is_written_is_read(each: Ledger) -> None:
    assert await each.write(put, "a") == "a"
    assert await each.settle(put, "b") == "b"
    assert await each.read(kept) == ["a", "b"]


async def test_a_failed_write_leaves_nothing(each: Ledger) -> None:
    def twice(db: Db) -> None:
        put(db, "a")
        put(db, "a")

    with pytest.raises(sqlite3.IntegrityError):
        await each.write(twice)
    assert await each.read(kept) == []


def happens(db: Db, name: str, also: str | None = None) -> None:
    events.append(db, events.Event(event=name, ts=1, slot_id="s"))
    put(db, also or name)


async def test_what_is_written_to_the_audit_is_said_once_in_the_log(each: Ledger, probe: Probe) -> None:
    await each.write(happens, "one.happened")
    await each.write(put, "b")
    await each.write(happens, "two.happened")
    assert [name for name, _ in probe.notes if name.endswith(".happened")] == ["one.happened", "two.happened"]
    assert probe.heard("one.happened") == [{"slot_id": "s", "countsAsAttempt": False}]


async def test_what_did_not_reach_the_disk_is_not_said(each: Ledger, probe: Probe) -> None:
    def orphan(db: Db) -> None:
        happens(db, "one.happened")
        db.execute("INSERT INTO schedule_slot_items (slot_id, target_id) VALUES ('nowhere', 't')")

    await each.write(put, "taken")
    with pytest.raises(sqlite3.IntegrityError):
        await each.write(happens, "two.happened", "taken")
    with pytest.raises(sqlite3.IntegrityError):
        await each.write(orphan)
    assert [name for name, _ in probe.notes if name.endswith(".happened")] == []


async def test_a_function_that_ran_twice_says_what_it_did_once(each: Ledger, probe: Probe) -> None:
    """Those that shared a batch with one that broke it run again, each alone."""

    def breaks(db: Db) -> None:
        db.execute("INSERT INTO schedule_slot_items (slot_id, target_id) VALUES ('nowhere', 't')")

    async def broken() -> None:
        with pytest.raises(sqlite3.IntegrityError):
            await each.write(breaks)

    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(each.write, happens, f"{number}.happened")
        nursery.start_soon(broken)
    said = sorted(name for name, _ in probe.notes if name.endswith(".happened"))
    assert said == ["0.happened", "1.happened", "2.happened"]


async def test_neither_does_one_that_only_commit_finds_wrong(each: Ledger) -> None:
    def orphan(db: Db) -> None:
        put(db, "a")
        db.execute("INSERT INTO schedule_slot_items (slot_id, target_id) VALUES ('nowhere', 't')")

    with pytest.raises(sqlite3.IntegrityError):
        await each.write(orphan)
    assert await each.read(kept) == []


async def test_a_hidden_end_of_the_transaction_is_told(each: Ledger) -> None:
    def hides(db: Db) -> None:
        put(db, "a")
        try:
            db.execute("INSERT OR ROLLBACK INTO schedule_slots (id, schedule_id) VALUES ('a', 'test')")
        except sqlite3.IntegrityError:
            return

    with pytest.raises(TransactionEnded):
        await each.write(hides)
    assert await each.read(kept) == []


async def test_a_read_cannot_write_and_the_next_write_can(each: Ledger) -> None:
    with pytest.raises(sqlite3.OperationalError):
        await each.read(put, "never")
    await each.write(put, "a")
    assert await each.read(kept) == ["a"]


async def test_cursors_are_refused(each: Ledger) -> None:
    with pytest.raises(HalfReadCursor):
        await each.read(lambda db: db.execute("SELECT 1"))
    with pytest.raises(HalfReadCursor):
        await each.write(lambda db: db.execute("SELECT 1"))


async def test_a_cancelled_caller_writes_nothing_if_it_was_early(each: Ledger) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await each.write(put, "never")
    assert scope.cancelled_caught
    assert await each.read(kept) == []


async def test_and_has_written_if_it_was_late(each: Ledger, probe: Probe) -> None:
    def cancelled_meanwhile(db: Db, scope: trio.CancelScope, token: trio.lowlevel.TrioToken) -> None:
        put(db, "written")
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            trio.from_thread.run_sync(scope.cancel, trio_token=token)
        else:
            scope.cancel()

    with trio.CancelScope() as scope:
        await each.write(cancelled_meanwhile, scope, trio.lowlevel.current_trio_token())
    assert scope.cancelled_caught
    assert await each.write(kept) == ["written"], "asked behind it, since nobody was told that it is there"


async def test_points_are_passed_around_each_commit(each: Ledger, probe: Probe) -> None:
    probe.points.clear()
    await each.write(put, "a")
    assert probe.points == ["ledger.before_commit", "ledger.after_commit"]


async def test_a_full_disk_pauses_both(each: Ledger) -> None:
    def full(db: Db) -> None:
        raise said_by_sqlite(sqlite3.SQLITE_FULL)

    now = StoppedClock().now_ms()
    for _ in range(3):
        with pytest.raises(StorageFull):
            await each.write(full)
    assert each.paused(now)
    await each.write(put, "room")
    assert not each.paused(now)


@pytest.mark.parametrize("kind", ["with threads", "inline", "inline, in memory"])
async def test_a_file_that_cannot_be_trusted_is_the_end_of_both(kind: str, ledger_path: Path, probe: Probe) -> None:
    def fatal(db: Db) -> None:
        raise said_by_sqlite(sqlite3.SQLITE_CORRUPT)

    async def block() -> None:
        async with either(kind, ledger_path, probe) as ledger:
            with trio.CancelScope(shield=True):
                for call in (ledger.write, ledger.write, ledger.read):
                    with pytest.raises(LedgerLost):
                        await call(fatal)

    with pytest.raises(LedgerLost):
        await block()


async def test_inline_a_write_that_another_connection_keeps_out_is_refused(ledger_path: Path) -> None:
    async with open_inline(ledger_path, clock=StoppedClock(), busy_timeout_ms=0) as ledger:
        with closing(connect_plain(ledger_path)) as other:
            other.steer("BEGIN IMMEDIATE")
            with pytest.raises(Unavailable):
                await ledger.write(put, "never")
            other.steer("ROLLBACK")
        assert await ledger.write(put, "a") == "a"
