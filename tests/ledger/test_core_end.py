"""How a ledger closes: what is queued is written, what hangs is cut or given up, nothing waits for ever."""

import math
import os
import shutil
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import cast

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit.testing import Probe, VirtualClock
from pixivflow.errors import LedgerLost
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.ledger import Ledger, open_ledger
from pixivflow.ledger.lockfile import LockFile
from pixivflow.ledger.threaded import ThreadedLedger
from tests.fixtures.ledgers import LIMIT_S, Gate, kept, put

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT begun() UNION ALL SELECT i + 1 FROM n)"

READING = f"{NUMBERS} SELECT count(*) FROM n"

WRITING = f"{NUMBERS} INSERT INTO schedule_slots (id, schedule_id) SELECT 'endless', 'test' FROM n WHERE i < 0"
"""When this is cut, SQLite ends its whole transaction."""


class Endless:
    """A statement that never ends, and word of when it has begun: an interrupt before that would meet nothing."""

    def __init__(self, statement: str) -> None:
        self._statement, self._begun = statement, threading.Event()

    def __call__(self, db: Db) -> None:
        db.create_function("begun", 0, self._begun.set)
        db.execute(self._statement)

    async def begun(self) -> None:
        while not self._begun.is_set():
            await trio.lowlevel.checkpoint()


async def told(ledger: Ledger, ends: dict[str, object], name: str, fn: object) -> None:
    """Write, also while the block ends, and keep what came of it."""
    with trio.CancelScope(shield=True):
        try:
            ends[name] = await ledger.write(fn)  # type: ignore[arg-type]
        except Exception as error:
            ends[name] = error


def rows_of(path: Path) -> list[str]:
    with closing(connect_plain(path)) as db:
        return kept(db)


def marks_of(path: Path) -> int:
    with closing(connect_plain(path)) as db:
        [marks] = db.execute("SELECT count(*) FROM ledger_openings").fetchone()
        return int(marks)


async def test_what_is_queued_when_the_block_ends_is_written_and_told(ledger_path: Path) -> None:
    gate, ends = Gate(), dict[str, object]()
    async with trio.open_nursery() as nursery, open_ledger(ledger_path, clock=VirtualClock()) as ledger:
        nursery.start_soon(told, ledger, ends, "gate", gate.hold)
        await gate.entered()
        nursery.start_soon(told, ledger, ends, "a", partial(put, name="a"))
        await wait_all_tasks_blocked()
        gate.let_go()
    assert ends == {"gate": None, "a": "a"}
    assert rows_of(ledger_path) == ["a"]
    assert marks_of(ledger_path) == 0


async def test_a_closed_ledger_takes_nothing(ledger_path: Path) -> None:
    async with open_ledger(ledger_path, clock=VirtualClock()) as ledger:
        pass
    for call in (ledger.write, ledger.read, ledger.settle):
        with pytest.raises(LedgerLost), trio.fail_after(LIMIT_S):
            await call(kept)


async def test_an_orderly_end_brings_the_log_into_the_file(ledger_path: Path) -> None:
    """Another connection stays open, so that it is not SQLite's own clean-up after the last one that does it."""
    with closing(connect_plain(ledger_path)) as witness:
        async with open_ledger(ledger_path, clock=VirtualClock()) as ledger:
            await ledger.write(put, "a")
            assert kept(witness) == ["a"]
            assert size(f"{ledger_path}-wal") > 0
        assert size(f"{ledger_path}-wal") == 0
        assert kept(witness) == ["a"]


async def test_a_command_leaves_the_log_to_the_daemon(ledger_path: Path) -> None:
    with closing(connect_plain(ledger_path)) as witness:
        async with open_ledger(ledger_path, clock=VirtualClock(), daemon=False) as ledger:
            await ledger.write(put, "a")
            assert kept(witness) == ["a"]
        assert size(f"{ledger_path}-wal") > 0


def size(path: str) -> int:
    return Path(path).stat().st_size


@pytest.mark.parametrize("statement", [READING, WRITING], ids=["reading", "writing"])
async def test_a_statement_that_never_ends_is_cut_and_the_rest_is_told(
    ledger_path: Path, probe: Probe, autojump_clock: MockClock, statement: str
) -> None:
    """The clock jumps over the two seconds, since nobody tells it of the thread, and stands still from the cut on."""
    ends, endless = dict[str, object](), Endless(statement)

    def never_ending(db: Db) -> None:
        put(db, "undone")
        endless(db)

    def note(event: str, **fields: object) -> None:
        probe.note(event, **fields)
        if event == "ledger.cut":
            autojump_clock.autojump_threshold = math.inf

    async with trio.open_nursery() as nursery, open_ledger(ledger_path, clock=VirtualClock(), note=note) as ledger:
        nursery.start_soon(told, ledger, ends, "endless", never_ending)
        await endless.begun()
        nursery.start_soon(told, ledger, ends, "queued", partial(put, name="queued"))
        await wait_all_tasks_blocked()
    assert isinstance(ends["endless"], LedgerLost)
    assert [event for event, _ in probe.notes][-1:] == ["ledger.cut"]
    assert ends["queued"] == "queued"
    assert rows_of(ledger_path) == ["queued"]
    lock = LockFile(ledger_path)
    assert lock.try_exclusive(), "the thread came back, so the lock is free"
    lock.close()


async def test_a_function_that_hangs_outside_sqlite_is_given_up_and_keeps_the_lock(
    ledger_path: Path, probe: Probe, autojump_clock: MockClock
) -> None:
    gate, ends, started = Gate(), dict[str, object](), trio.current_time()

    def hang(db: Db) -> None:
        put(db, "unknown")
        gate.hold(db)

    opened = open_ledger(ledger_path, clock=VirtualClock(), note=probe.note)
    async with trio.open_nursery() as nursery, opened as ledger:
        nursery.start_soon(told, ledger, ends, "hang", hang)
        await gate.entered()
        nursery.start_soon(told, ledger, ends, "queued", partial(put, name="never"))
        await wait_all_tasks_blocked()
    assert trio.current_time() - started < 4, "within what a process gets to stop"
    assert isinstance(ends["hang"], LedgerLost)
    assert isinstance(ends["queued"], LedgerLost)
    assert [event for event, _ in probe.notes][-2:] == ["ledger.cut", "ledger.hung"]

    lock = LockFile(ledger_path)
    assert not lock.try_exclusive(), "the thread might still write"
    lock.close()
    gate.let_go()
    for thread in threading.enumerate():
        if thread.name == "ledger-writer":
            thread.join()
    assert marks_of(ledger_path) == 1, "not an orderly end"


async def test_who_was_told_of_the_end_is_not_told_otherwise_by_a_thread_that_comes_back(ledger: Ledger) -> None:
    """It writes into the job that it took, at any moment: here between the word and the caller's hearing it."""
    gate, ends = Gate(), dict[str, object]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(told, ledger, ends, "hang", gate.hold)
        await gate.entered()
        writer = cast("ThreadedLedger", ledger)._writer
        assert writer._flying is not None
        [job] = writer._flying.taken
        writer._tell_each([job], lambda: LedgerLost("given up"))
        job.task, job.value, job.error = None, "ok", None
        await wait_all_tasks_blocked()
        assert isinstance(ends["hang"], LedgerLost)
        gate.let_go()


async def test_a_read_that_never_ends_does_not_keep_the_ledger_open(
    ledger_path: Path, autojump_clock: MockClock
) -> None:
    endless = Endless(READING)
    async with open_ledger(ledger_path, clock=VirtualClock()) as ledger:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ledger.read, endless)
            await endless.begun()
            nursery.cancel_scope.cancel()
        autojump_clock.autojump_threshold = math.inf
    assert marks_of(ledger_path) == 0


@pytest.mark.parametrize("daemon", [True, False])
async def test_who_closes_last_leaves_everything_in_the_one_file(daemon: bool, ledger_path: Path) -> None:
    """Copied alone afterwards, it is whole; a command that is no daemon leaves no log behind either."""
    async with open_ledger(ledger_path, clock=VirtualClock(), daemon=daemon) as ledger:
        await ledger.write(put, "a")
    copy = ledger_path.with_name("copy.db")
    shutil.copyfile(ledger_path, copy)
    assert rows_of(copy) == ["a"]
    assert not {f"{ledger_path.name}-wal", f"{ledger_path.name}-shm"} & set(os.listdir(ledger_path.parent))
