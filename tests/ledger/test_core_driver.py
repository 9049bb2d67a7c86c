"""aiosqlite on trio: the private names this leans on, and its public methods, which work without any asyncio loop."""

import asyncio
import inspect
import sqlite3
import threading
from functools import partial
from pathlib import Path

import aiosqlite
import aiosqlite.core
import pytest
import trio

from pixivflow.ledger.connection import Carrier, Db, carried, connect_plain
from pixivflow.ledger.hop import Traffic
from tests.fixtures.ledgers import Gate, kept, put


@pytest.fixture
def quiet() -> Traffic:
    return Traffic(lambda at_work: None)


def test_the_private_names_of_the_driver_are_where_we_found_them() -> None:
    """When this fails with a new aiosqlite: read `_connection_worker_thread` and what makes futures, then move on."""
    connection = aiosqlite.Connection(lambda: sqlite3.connect(":memory:"), 64)
    assert isinstance(connection._thread, threading.Thread)
    assert connection._running is True
    assert connection._connection is None
    assert callable(connection._tx.put_nowait)
    assert callable(connection._connector)
    assert aiosqlite.core._STOP_RUNNING_SENTINEL is not None

    worker = inspect.getsource(aiosqlite.core._connection_worker_thread)
    assert "future, function = tx.get()" in worker
    assert worker.count("future.get_loop().call_soon_threadsafe(") == 2, "all that the thread asks of a future"
    assert "if result is _STOP_RUNNING_SENTINEL:" in worker
    for told in (aiosqlite.core.set_result, aiosqlite.core.set_exception):
        assert "fut.done()" in inspect.getsource(told)

    core = inspect.getsource(aiosqlite.core)
    makes_futures = {name for name, method in vars(aiosqlite.Connection).items() if makes_a_future(method)}
    assert makes_futures == {"stop", "_execute", "_connect"}, "which are the methods that Carrier replaces"
    assert core.count(".create_future(") == 3
    assert makes_futures <= vars(Carrier).keys()


def makes_a_future(method: object) -> bool:
    return inspect.isfunction(method) and "create_future" in inspect.getsource(method)


async def test_its_public_methods_work_on_trio(quiet: Traffic, ledger_path: Path) -> None:
    carrier = await carried(partial(connect_plain, ledger_path), quiet)
    await carrier.execute("CREATE TABLE t (a)")
    await carrier.executemany("INSERT INTO t VALUES (?)", [(1,), (2,)])
    async with carrier.execute("SELECT a FROM t ORDER BY a") as cursor:
        assert [row async for row in cursor] == [(1,), (2,)]
    assert list(await carrier.execute_fetchall("SELECT count(*) FROM t")) == [(2,)]
    target = await carried(partial(connect_plain, ":memory:"), quiet)
    await carrier.backup(target)
    assert list(await target.execute_fetchall("SELECT sum(a) FROM t")) == [(3,)]
    await target.close()
    await carrier.close()
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


async def test_a_whole_function_is_one_hop(ledger_path: Path) -> None:
    at_work: list[bool] = []
    carrier = await carried(partial(connect_plain, ledger_path), Traffic(at_work.append))
    at_work.clear()

    def many(db: Db) -> int:
        db.execute("CREATE TABLE t (a)")
        for number in range(50):
            db.execute("INSERT INTO t VALUES (?)", (number,))
        return threading.get_ident()

    assert await carrier.run(many) != threading.get_ident()
    assert at_work == [True, False]
    assert await carrier.end_within(1_000)


async def test_traffic_ends_with_the_last_hop_and_not_with_its_caller(ledger_path: Path) -> None:
    """A virtual clock may not go on because the caller of a working thread was cancelled."""
    at_work: list[bool] = []
    traffic = Traffic(at_work.append)
    one = await carried(partial(connect_plain, ledger_path), traffic)
    other = await carried(partial(connect_plain, ledger_path), traffic)
    at_work.clear()
    gate = Gate()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one.run, gate.hold)
        await gate.entered()
        await other.run(lambda db: None)
        nursery.cancel_scope.cancel()
    assert at_work == [True]
    gate.let_go()
    await one.run(lambda db: None)
    assert at_work == [True, False]
    await one.end_within(1_000)
    await other.end_within(1_000)


async def test_a_connection_that_cannot_be_made_says_why_and_leaves_no_thread(quiet: Traffic, tmp_path: Path) -> None:
    before = threading.active_count()
    with pytest.raises(sqlite3.OperationalError):
        await carried(partial(connect_plain, tmp_path / "nowhere" / "l.db"), quiet)
    while threading.active_count() > before:
        await trio.lowlevel.checkpoint()


async def test_a_caller_that_left_while_it_was_being_made_leaves_no_connection(
    quiet: Traffic, ledger_path: Path
) -> None:
    gate, closed = Gate(), threading.Event()

    class Watched(Db):
        def close(self) -> None:
            super().close()
            closed.set()

    def slow() -> Db:
        db = sqlite3.connect(ledger_path, factory=Watched, isolation_level=None)
        gate.hold(db)
        return db

    async with trio.open_nursery() as nursery:
        nursery.start_soon(carried, slow, quiet)
        await gate.entered()
        nursery.cancel_scope.cancel()
    gate.let_go()
    assert await trio.to_thread.run_sync(closed.wait, 60)


async def test_a_hanging_thread_does_not_keep_the_process(quiet: Traffic, ledger_path: Path) -> None:
    carrier = await carried(partial(connect_plain, ledger_path), quiet)
    daemon = carrier._thread.daemon
    assert await carrier.end_within(1_000)
    assert daemon


async def test_errors_of_the_thread_come_out_as_they_are(quiet: Traffic, ledger_path: Path) -> None:
    carrier = await carried(partial(connect_plain, ledger_path), quiet)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await carrier.run(kept)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await carrier.run(put, "a")
    assert await carrier.end_within(1_000)
    with pytest.raises(ValueError, match="connection"):
        await carrier.run(kept)
