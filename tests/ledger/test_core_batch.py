"""Many functions, one transaction: what becomes of the others when one of them fails, in every way SQLite knows.

Batches run here without threads and without an event loop: a deque goes in, what became of each job comes out.
"""

import sqlite3
from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pixivflow.errors import Conflict, StorageFull, Unavailable
from pixivflow.ledger import batch as batch_module
from pixivflow.ledger.batch import Batch, Broken, Job, Refused, Settled
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.db import TransactionEnded
from tests.fixtures.ledgers import kept, put

Fn = Callable[[Db], Any]


def jobs(*fns: Fn) -> list[Job]:
    return [Job(fn, (), {}) for fn in fns]


def named(*names: str) -> list[Job]:
    return [Job(put, (name,), {}) for name in names]


def silent(_name: str) -> None:
    pass


def together(db: Db, batch: list[Job], point: Callable[[str], None] = silent) -> Refused | Settled | Broken:
    return Batch(deque(batch), point).together(db)


def to_the_end(db: Db, batch: list[Job], after_a_break: Callable[[], object] = lambda: None) -> None:
    """Batch after batch, and what broke one by one, as the writer does."""
    queue = deque(batch)
    while queue:
        ended = Batch(queue, silent).together(db)
        if isinstance(ended, Broken):
            after_a_break()
            again = deque(ended.jobs)
            while again:
                assert isinstance(Batch(again, silent).alone(db), Settled)


def outcomes(batch: list[Job]) -> list[object]:
    return [job.error or job.value for job in batch]


def seen_by_another(path: Path) -> list[str]:
    """What is committed, as another connection sees it."""
    with closing(connect_plain(path)) as other:
        return kept(other)


def refused_by_a_constraint(db: Db) -> None:
    put(db, "half")
    put(db, "half")


def conflicting(db: Db) -> None:
    put(db, "half")
    raise Conflict("pending", "running")


def or_rollback(db: Db) -> None:
    put(db, "half")
    db.execute("INSERT OR ROLLBACK INTO schedule_slots (id, schedule_id) VALUES ('half', 'test')")


def or_rollback_hidden(db: Db) -> str:
    try:
        or_rollback(db)
    except sqlite3.IntegrityError:
        return "all is well"
    return "never"


def orphan(db: Db) -> str:
    """A cell of no slot: the foreign key is deferred, so only COMMIT finds out."""
    db.execute("INSERT INTO schedule_slot_items (slot_id, target_id) VALUES ('nowhere', 't')")
    return "orphan"


def test_each_function_gets_its_own_value_out_of_one_transaction(db: Db, ledger_path: Path) -> None:
    batch = named("a", "b", "c")

    assert together(db, batch) == Settled(batch, wrote=True)
    assert outcomes(batch) == ["a", "b", "c"]
    assert seen_by_another(ledger_path) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("fails", "error"), [(refused_by_a_constraint, sqlite3.IntegrityError), (conflicting, Conflict)]
)
def test_a_function_that_raises_takes_back_its_own_rows_and_no_others(db: Db, fails: Fn, error: type) -> None:
    batch = [*named("a"), *jobs(fails), *named("b")]

    assert isinstance(together(db, batch), Settled)
    assert isinstance(batch[1].error, error)
    assert kept(db) == ["a", "b"]


@pytest.mark.parametrize(
    ("ends", "code"), [(or_rollback, sqlite3.IntegrityError), (or_rollback_hidden, TransactionEnded)]
)
@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "in the middle", "last"])
def test_a_transaction_that_sqlite_ended_spoils_nobody_elses_rows(
    db: Db, ledger_path: Path, ends: Fn, code: type, place: int
) -> None:
    batch = named("a", "b")
    batch[place:place] = jobs(ends)
    between: list[list[str]] = []

    to_the_end(db, batch, after_a_break=lambda: between.append(seen_by_another(ledger_path)))
    assert between == [[]], "nothing of the broken batch is kept, whatever ran before or after"
    assert isinstance(batch.pop(place).error, code)
    assert outcomes(batch) == seen_by_another(ledger_path) == ["a", "b"]


def test_after_such_an_end_no_further_function_is_taken(db: Db) -> None:
    queue = deque([*jobs(or_rollback), *named("a")])
    Batch(queue, silent).together(db)

    assert [job.args for job in queue] == [("a",)]


def test_a_deferred_foreign_key_fails_its_own_function_and_not_everybodys_commit(db: Db, ledger_path: Path) -> None:
    batch = [*named("a"), *jobs(orphan), *named("b")]

    to_the_end(db, batch)
    assert isinstance(batch[1].error, sqlite3.IntegrityError)
    assert batch[0].error is batch[2].error is None
    assert seen_by_another(ledger_path) == ["a", "b"]
    assert not db.in_transaction


def test_a_full_disk_in_mid_batch_fails_the_one_that_needs_room(db: Db, ledger_path: Path) -> None:
    """`max_page_count` lets SQLite say FULL as a disk without room does: the whole transaction is gone."""
    [(pages,)] = db.steer("PRAGMA page_count")
    db.steer(f"PRAGMA max_page_count = {pages + 2}")
    large = "x" * 100_000
    batch = [*named("a"), *jobs(lambda db: put(db, large)), *named("b")]

    to_the_end(db, batch)
    assert isinstance(batch[1].error, StorageFull)
    assert isinstance(batch[1].error.__cause__, sqlite3.OperationalError)
    assert batch[0].error is batch[2].error is None
    assert seen_by_another(ledger_path) == ["a", "b"]

    db.steer("PRAGMA max_page_count = 1000000")
    to_the_end(db, again := named(large))
    assert outcomes(again) == [large], "with room again it goes on by itself"
    assert db.steer("PRAGMA quick_check") == [("ok",)]


def test_nobody_is_settled_before_the_commit(db: Db, ledger_path: Path) -> None:
    seen: dict[str, list[str]] = {}
    together(db, named("a"), point=lambda name: seen.update({name: seen_by_another(ledger_path)}))

    assert seen == {"ledger.before_commit": [], "ledger.after_commit": ["a"]}


def test_a_function_that_arrives_while_the_batch_runs_rides_along(db: Db) -> None:
    queue: deque[Job] = deque()
    late = Job(put, ("late",), {})
    early = Job(lambda db: queue.append(late), (), {})
    queue.append(early)

    assert Batch(queue, silent).together(db) == Settled([early, late], wrote=True)


def test_a_batch_ends_at_128_functions(db: Db) -> None:
    queue = deque(jobs(*[lambda db: None] * 200))

    ended = Batch(queue, silent).together(db)
    assert isinstance(ended, Settled)
    assert (len(ended.jobs), len(queue)) == (128, 72)


def test_a_batch_ends_after_10_ms_of_work(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(batch_module, "perf_counter", lambda: now[0])

    def work_for_4_ms(db: Db) -> None:
        now[0] += 0.004

    queue = deque(jobs(*[work_for_4_ms] * 9))
    ended = Batch(queue, silent).together(db)
    assert isinstance(ended, Settled)
    assert (len(ended.jobs), len(queue)) == (3, 6)


def test_a_begin_that_is_refused_takes_nothing(ledger_path: Path, db: Db) -> None:
    with closing(connect_plain(ledger_path, busy_timeout_ms=0)) as impatient:
        db.steer("BEGIN IMMEDIATE")
        queue = deque(named("a"))
        refused = Batch(queue, silent).together(impatient)
        assert isinstance(refused, Refused)
        assert isinstance(Batch(queue, silent).alone(impatient), Refused)
        assert len(queue) == 1
        db.steer("ROLLBACK")


def said_by_sqlite(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("as SQLite raises it")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize("way", ["together", "alone"])
@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT"])
@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB])
def test_a_file_that_cannot_be_trusted_ends_the_writer_also_at_begin_and_commit(
    db: Db, monkeypatch: pytest.MonkeyPatch, code: int, statement: str, way: str
) -> None:
    steer = db.steer

    def broken(text: str) -> list[Any]:
        if text == statement:
            raise said_by_sqlite(code)
        return steer(text)

    monkeypatch.setattr(db, "steer", broken)
    with pytest.raises(sqlite3.OperationalError, match="as SQLite raises it"):
        getattr(Batch(deque(named("a")), silent), way)(db)
    if db.in_transaction:
        steer("ROLLBACK")


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL], ids=["busy", "locked", "full"]
)
def test_what_passes_by_itself_refuses_a_begin_and_ends_nobody(
    db: Db, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(_text: str) -> list[Any]:
        raise said_by_sqlite(code)

    monkeypatch.setattr(db, "steer", refuse)
    assert isinstance(together(db, named("a")), Refused)


def test_reading_first_and_writing_later_does_not_fail_when_another_process_wrote_in_between(
    ledger_path: Path, db: Db
) -> None:
    """Without IMMEDIATE this is SQLITE_BUSY_SNAPSHOT at once, whatever the busy timeout."""
    with closing(connect_plain(ledger_path, busy_timeout_ms=0)) as other:
        refusals: list[object] = []

        def read_then_write(db: Db) -> None:
            kept(db)
            refusals.append(together(other, named("other")))
            put(db, "mine")

        assert isinstance(together(db, jobs(read_then_write)), Settled)
        assert isinstance(refusals[0], Refused), "the other has to wait for its turn, and can"
        assert kept(db) == ["mine"]


def test_busy_inside_a_function_is_told_as_unavailable(db: Db) -> None:
    def busy(db: Db) -> None:
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error

    batch = jobs(busy)
    together(db, batch)
    assert isinstance(batch[0].error, Unavailable)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_CORRUPT_INDEX, sqlite3.SQLITE_NOTADB])
@pytest.mark.parametrize("alone", [False, True], ids=["together", "alone"])
def test_an_error_that_makes_the_file_untrustworthy_is_nobodys_own(db: Db, code: int, alone: bool) -> None:
    def fatal(db: Db) -> None:
        error = sqlite3.DatabaseError("as SQLite raises it")
        error.sqlite_errorcode = code
        raise error

    batch = Batch(deque(jobs(fatal)), silent)
    with pytest.raises(sqlite3.DatabaseError):
        batch.alone(db) if alone else batch.together(db)
    assert len(batch.taken) == 1, "whose fate is unknown"


def test_a_batch_that_changed_nothing_says_so(db: Db) -> None:
    batch = jobs(kept)

    assert together(db, batch) == Settled(batch, wrote=False)
    assert Batch(deque(batch), silent).alone(db) == Settled(batch, wrote=False)
    assert Batch(deque(), silent).alone(db) == Settled([], wrote=False)
    assert not db.in_transaction
