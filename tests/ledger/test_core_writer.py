"""Tasks that write: who rides in which batch, who is told what and when, cancelled callers, other processes, death.

A `Gate` holds the thread where a test wants it. Virtual clocks wait for the threads, so nothing here waits for real.
"""

import contextlib
import gc
import sqlite3
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit.testing import Probe, VirtualClock
from pixivflow.errors import Conflict, LedgerLost, StorageFull, Unavailable
from pixivflow.ledger import batch as batch_module
from pixivflow.ledger.batch import Job, Refused
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.ledger import Ledger, open_ledger
from pixivflow.ledger.threaded import ThreadedLedger
from tests.fixtures.ledgers import LIMIT_S, Gate, kept, patient_clock, put

Fn = Callable[[Db], Any]


async def ends_of(ledger: Ledger, *fns: Fn) -> list[object]:
    """Write all of them at once, in this order, behind a gate; the value or the error of each."""
    gate = Gate()
    ends: list[object] = [None] * (len(fns) + 1)

    async def write(place: int, fn: Fn) -> None:
        try:
            ends[place] = await ledger.write(fn)
        except Exception as error:
            ends[place] = error

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write, 0, gate.hold)
        await gate.entered()
        for place, fn in enumerate(fns, 1):
            nursery.start_soon(write, place, fn)
            await wait_all_tasks_blocked()
        gate.let_go()
    return ends[1:]


def named(*names: str) -> list[Fn]:
    return [partial(put, name=name) for name in names]


def failing(error: Exception) -> Fn:
    def fail(db: Db) -> None:
        raise error

    return fail


def said_by_sqlite(code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError("as SQLite raises it")
    error.sqlite_errorcode = code
    return error


async def test_a_write_returns_the_functions_value_and_takes_its_arguments(ledger: Ledger) -> None:
    def joined(db: Db, first: str, *, second: str) -> str:
        return put(db, first) + second

    assert await ledger.write(joined, "a", second="b") == "ab"
    assert await ledger.read(kept) == ["a"]


async def test_many_tasks_share_one_commit(ledger_path: Path, probe: Probe) -> None:
    async with open_ledger(ledger_path, clock=VirtualClock(), point=probe.point) as ledger:
        probe.points.clear()
        await ends_of(ledger, *named(*map(str, range(100))))
        assert probe.points.count("ledger.after_commit") <= 2, "the gate's and everybody's, or one for both"


async def test_each_task_gets_its_own_end(ledger: Ledger) -> None:
    ends = await ends_of(ledger, *named("a"), failing(Conflict("pending", "running")), *named("a", "b"))

    assert ends[0] == "a"
    assert isinstance(ends[1], Conflict)
    assert isinstance(ends[2], sqlite3.IntegrityError)
    assert ends[3] == "b"
    assert await ledger.read(kept) == ["a", "b"]


async def test_an_error_is_gone_once_its_caller_has_dealt_with_it(ledger: Ledger) -> None:
    """With its traceback, and what the frames in it hold: nothing waits for the garbage collector."""
    left: list[weakref.ref[Exception]] = []

    def fail(db: Db) -> None:
        error = Conflict("pending", "running")
        left.append(weakref.ref(error))
        try:
            raise error
        finally:
            del error

    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(Conflict):
            await ledger.write(fail)
        await ledger.write(kept)
        assert left[0]() is None
    finally:
        gc.enable()


async def test_after_a_broken_batch_each_task_still_gets_its_own_end(ledger: Ledger) -> None:
    def hostile(db: Db) -> None:
        db.execute("INSERT OR ROLLBACK INTO schedule_slots (id, schedule_id) VALUES ('a', 'test')")

    ends = await ends_of(ledger, *named("a"), hostile, *named("b"))

    assert [ends[0], ends[2]] == ["a", "b"]
    assert isinstance(ends[1], sqlite3.IntegrityError)
    assert await ledger.read(kept) == ["a", "b"]


async def test_nobody_is_woken_before_the_commit(ledger_path: Path) -> None:
    woken: list[str] = []
    before: list[list[str]] = []

    def point(name: str) -> None:
        if name == "ledger.before_commit":
            before.append(list(woken))

    async with open_ledger(ledger_path, clock=VirtualClock(), point=point) as ledger:

        async def write(name: str) -> None:
            await ledger.write(put, name)
            woken.append(name)

        before.clear()
        await write("a")
        await write("b")
        assert before == [[], ["a"]]


@pytest.mark.parametrize("turn", range(10))
async def test_the_woken_write_again_in_the_very_next_batch(
    ledger_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    """Three are woken while three others are queued: the next batch is of six. Ten turns, since chance has a part."""
    now, queued = [0.0], list[int]()
    monkeypatch.setattr(batch_module, "perf_counter", lambda: now[0])

    def hold_and_end_the_batch(db: Db, gate: Gate) -> None:
        gate.hold(db)
        now[0] += 1

    def busy(at_work: bool) -> None:
        if at_work and opened:
            queued.append(len(cast("ThreadedLedger", opened[0])._writer._queue))

    async def twice(ledger: Ledger, first: Fn) -> None:
        await ledger.write(first)
        await ledger.write(kept)

    opened: list[Ledger] = []
    async with open_ledger(ledger_path, clock=VirtualClock(), busy=busy, daemon=False) as ledger:
        early, late = Gate(), Gate()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ledger.write, hold_and_end_the_batch, early)
            await early.entered()
            for first in (kept, kept, partial(hold_and_end_the_batch, gate=late)):
                nursery.start_soon(twice, ledger, first)
                await wait_all_tasks_blocked()
            early.let_go()
            await late.entered()
            for _ in range(3):
                nursery.start_soon(ledger.write, kept)
            await wait_all_tasks_blocked()
            opened.append(ledger)
            late.let_go()
        opened.clear()
    assert queued == [6]


async def test_a_caller_cancelled_before_its_function_was_taken_leaves_nothing(ledger: Ledger) -> None:
    gate = Gate()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.write, gate.hold)
        await gate.entered()
        with trio.CancelScope() as scope:
            nursery.start_soon(cancel_when_blocked, scope)
            await ledger.write(put, "never")
        assert scope.cancelled_caught
        gate.let_go()
    assert await ledger.read(kept) == []


async def cancel_when_blocked(scope: trio.CancelScope) -> None:
    await wait_all_tasks_blocked()
    scope.cancel()


async def test_a_caller_cancelled_after_its_function_was_taken_has_written_it_and_sees_the_cancellation(
    ledger: Ledger,
) -> None:
    gate = Gate()

    def slow(db: Db) -> None:
        put(db, "written")
        gate.hold(db)

    async def cancel_when_taken(scope: trio.CancelScope) -> None:
        await gate.entered()
        scope.cancel()

    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            nursery.start_soon(cancel_when_taken, scope)
            await ledger.write(slow)
        assert scope.cancelled_caught, "at once, while the function still runs"
        gate.let_go()
    assert await ledger.write(kept) == ["written"]


async def test_a_caller_that_is_cancelled_already_writes_nothing(ledger: Ledger) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await ledger.write(put, "never")
    assert scope.cancelled_caught
    assert await ledger.read(kept) == []


class QuickTaking(deque[Job]):
    """A queue out of which the thread takes each function before the task that queued it goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.appended, self.taken = threading.Event(), threading.Event()

    def append(self, job: Job) -> None:
        super().append(job)
        self.appended.set()
        self.taken.wait(60)

    def popleft(self) -> Job:
        job = super().popleft()
        self.taken.set()
        return job


async def test_nor_when_the_thread_is_as_quick_as_can_be(ledger: Ledger) -> None:
    queue, gate = QuickTaking(), Gate()

    def until_something_is_queued(db: Db) -> None:
        gate.hold(db)
        queue.appended.wait(60)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.write, until_something_is_queued)
        await gate.entered()
        batch = cast("ThreadedLedger", ledger)._writer._flying
        assert batch is not None
        batch._queue = cast("ThreadedLedger", ledger)._writer._queue = queue
        gate.let_go()
        with trio.CancelScope() as scope:
            scope.cancel()
            await ledger.write(put, "never")
        queue.appended.set()
        queue.taken.set()
    assert await ledger.write(kept) == []


async def test_settling_writes_also_in_a_cancelled_task(ledger: Ledger) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        assert await ledger.settle(put, "settled") == "settled"
    assert await ledger.read(kept) == ["settled"]


async def test_settling_gives_up_after_its_time(ledger_path: Path, autojump_clock: MockClock) -> None:
    async with open_ledger(ledger_path, clock=VirtualClock(), busy=patient_clock(), busy_timeout_ms=0) as ledger:
        with closing(connect_plain(ledger_path)) as other:
            other.steer("BEGIN IMMEDIATE")
            started = trio.current_time()
            with trio.CancelScope() as scope:
                scope.cancel()
                with pytest.raises(Unavailable):
                    await ledger.settle(put, "never")
            assert trio.current_time() - started == pytest.approx(5)
            other.steer("ROLLBACK")
        assert await ledger.write(kept) == []


async def test_another_process_that_writes_is_waited_for_and_nothing_is_lost(
    ledger_path: Path, autojump_clock: MockClock
) -> None:
    async with open_ledger(ledger_path, clock=VirtualClock(), busy=patient_clock(), busy_timeout_ms=0) as ledger:
        with closing(connect_plain(ledger_path)) as other:
            other.steer("BEGIN IMMEDIATE")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ledger.write, put, "a")
                nursery.start_soon(ledger.write, put, "b")
                await trio.sleep(29)
                other.steer("ROLLBACK")
        assert await ledger.read(kept) == ["a", "b"]


async def test_a_ledger_that_is_free_again_is_written_at_once(ledger_path: Path, autojump_clock: MockClock) -> None:
    """Not only when some long pause between two tries is over."""
    async with open_ledger(ledger_path, clock=VirtualClock(), busy=patient_clock(), busy_timeout_ms=0) as ledger:
        with closing(connect_plain(ledger_path)) as other:
            other.steer("BEGIN IMMEDIATE")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ledger.write, put, "a")
                await trio.sleep(1)
                other.steer("ROLLBACK")
        assert trio.current_time() == pytest.approx(1, abs=0.1)


async def test_a_disk_that_has_no_room_for_a_transaction_is_told_at_once_and_not_waited_for(
    ledger_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_ledger(ledger_path, clock=VirtualClock(), busy=patient_clock()) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(batch_module, "begin", lambda _: Refused(said_by_sqlite(sqlite3.SQLITE_FULL)))
            started = trio.current_time()
            with pytest.raises(StorageFull):
                await ledger.write(put, "a")
            assert trio.current_time() == started
        assert await ledger.write(kept) == []


async def test_a_caller_that_goes_while_another_process_writes_leaves_nothing(
    ledger_path: Path, autojump_clock: MockClock
) -> None:
    async with open_ledger(ledger_path, clock=VirtualClock(), busy=patient_clock(), busy_timeout_ms=0) as ledger:
        with closing(connect_plain(ledger_path)) as other:
            other.steer("BEGIN IMMEDIATE")
            with trio.move_on_after(10):
                await ledger.write(put, "never")
            other.steer("ROLLBACK")
        assert await ledger.write(kept) == []


async def test_after_thirty_seconds_everybody_who_waits_is_told_and_the_next_starts_afresh(
    ledger_path: Path, autojump_clock: MockClock
) -> None:
    async with open_ledger(ledger_path, clock=VirtualClock(), busy=patient_clock(), busy_timeout_ms=0) as ledger:
        with closing(connect_plain(ledger_path)) as other:
            other.steer("BEGIN IMMEDIATE")
            errors: list[Unavailable] = []

            async def write(name: str) -> None:
                try:
                    await ledger.write(put, name)
                except Unavailable as error:
                    errors.append(error)

            started = trio.current_time()
            with trio.fail_after(LIMIT_S + 1):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(write, "a")
                    nursery.start_soon(write, "b")
            assert trio.current_time() - started == pytest.approx(30, abs=0.1)
            assert len({id(error) for error in errors}) == 2, "each its own"
            assert await ledger.read(kept) == []

            async with trio.open_nursery() as nursery:
                nursery.start_soon(write, "c")
                await trio.sleep(29)
                other.steer("ROLLBACK")
        assert await ledger.read(kept) == ["c"]


async def test_the_same_patience_holds_for_what_is_left_of_a_broken_batch(
    ledger_path: Path, autojump_clock: MockClock
) -> None:
    """Another process gets in between the broken batch and its second run."""
    ran: list[str] = []
    virtual = patient_clock()

    def hostile(db: Db) -> None:
        ran.append("hostile")
        put(db, "a")
        db.execute("INSERT OR ROLLBACK INTO schedule_slots (id, schedule_id) VALUES ('a', 'test')")

    def intrude(at_work: bool) -> None:
        virtual(at_work)
        if at_work and ran and not other.in_transaction:
            other.steer("BEGIN IMMEDIATE")

    with closing(connect_plain(ledger_path)) as other:
        opened = open_ledger(ledger_path, clock=VirtualClock(), busy=intrude, busy_timeout_ms=0, daemon=False)
        async with opened as ledger:
            started = trio.current_time()
            with pytest.raises(Unavailable):
                await ledger.write(hostile)
            assert trio.current_time() - started == pytest.approx(30, abs=0.1)
            assert ran == ["hostile"], "nothing runs while another process writes"
            ran.clear()
            other.steer("ROLLBACK")


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB])
async def test_when_the_file_cannot_be_trusted_everybody_is_told_and_the_block_ends(
    ledger_path: Path, probe: Probe, code: int
) -> None:
    ends: list[object] = []

    async def block() -> None:
        async with open_ledger(ledger_path, clock=VirtualClock(), note=probe.note) as ledger:
            with trio.move_on_after(LIMIT_S, shield=True):
                ends.extend(await ends_of(ledger, *named("a"), failing(said_by_sqlite(code)), *named("b")))
                for later in (ledger.write, ledger.read, ledger.settle):
                    with pytest.raises(LedgerLost):
                        await later(kept)
            await trio.sleep_forever()

    with pytest.raises(LedgerLost) as raised, trio.fail_after(LIMIT_S):
        await block()
    assert all(isinstance(end, LedgerLost) for end in ends), "also who had run well: nothing was committed"
    assert len({id(end) for end in ends}) == 3, "each its own"
    assert isinstance(raised.value.__cause__, sqlite3.DatabaseError)
    assert len(probe.heard("ledger.lost")) == 1


async def test_a_commit_whose_caller_could_not_be_told_is_found_by_the_next_process(ledger_path: Path) -> None:
    armed: list[bool] = []

    def point(name: str) -> None:
        if name == "ledger.after_commit" and armed:
            raise RuntimeError("a bug on the writer's thread")

    async def block() -> None:
        async with open_ledger(ledger_path, clock=VirtualClock(), point=point) as ledger:
            armed.append(True)
            with trio.move_on_after(LIMIT_S, shield=True), pytest.raises(LedgerLost):
                await ledger.write(put, "written")
            await trio.sleep_forever()

    with pytest.raises(LedgerLost), trio.fail_after(LIMIT_S):
        await block()
    with closing(connect_plain(ledger_path)) as next_process:
        assert kept(next_process) == ["written"]


async def test_an_error_of_the_block_itself_comes_out_as_it_is(ledger_path: Path) -> None:
    async def block() -> None:
        async with open_ledger(ledger_path, clock=VirtualClock()):
            raise KeyError("mine")

    with pytest.raises(KeyError):
        await block()


async def test_a_lost_ledger_is_what_the_block_raises_whatever_else_it_led_to(ledger_path: Path) -> None:
    async def block() -> None:
        async with open_ledger(ledger_path, clock=VirtualClock()) as ledger, trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(ledger.write, failing(said_by_sqlite(sqlite3.SQLITE_IOERR)))

    with pytest.raises(LedgerLost), trio.fail_after(LIMIT_S):
        await block()


async def test_a_full_disk_pauses_after_three_in_a_row_and_a_write_that_found_room_ends_it(
    ledger_path: Path, autojump_clock: MockClock
) -> None:
    clock = VirtualClock()
    async with open_ledger(ledger_path, clock=clock, busy=patient_clock()) as ledger:

        async def full() -> None:
            with pytest.raises(StorageFull):
                await ledger.write(failing(said_by_sqlite(sqlite3.SQLITE_FULL)))

        await full()
        await full()
        assert not ledger.paused(clock.now_ms())
        await ledger.write(kept)
        await full()
        assert ledger.paused(clock.now_ms()), "a write that changed nothing has not found room"
        assert ledger.obstacle(clock.now_ms()) == "storage_full"
        assert await ledger.read(kept) == [], "reads go on"
        await trio.sleep(30)
        assert not ledger.paused(clock.now_ms()), "time to try again"
        await full()
        assert ledger.paused(clock.now_ms())
        await ledger.write(put, "room")
        assert not ledger.paused(clock.now_ms())
        assert ledger.obstacle(clock.now_ms()) is None


@pytest.mark.parametrize("by", ["removed", "replaced"])
async def test_nothing_is_told_to_be_written_to_a_file_that_nobody_will_find(ledger_path: Path, by: str) -> None:
    """A restore under a living daemon, or a clean-up that went too far: the process ends instead of promising more."""

    async def lose_it() -> None:
        async with open_ledger(ledger_path, clock=VirtualClock()) as ledger:
            await ledger.write(put, "before")
            await trio.Path(ledger_path).rename(ledger_path.with_name("away.db"))
            if by == "replaced":
                await trio.Path(ledger_path).write_bytes(b"")
            with pytest.raises(LedgerLost, match="removed or replaced"):
                await ledger.write(put, "after")

    with pytest.raises(LedgerLost, match="removed or replaced"):
        await lose_it()
