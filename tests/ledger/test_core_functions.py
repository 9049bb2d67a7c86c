"""What a ledger function may not do, however it tries: steer its transaction, go on after it, leave a cursor behind."""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pixivflow.ledger.batch import Batch, Job, Settled
from pixivflow.ledger.connection import Db
from pixivflow.ledger.db import Cursor, HalfReadCursor, TransactionEnded
from pixivflow.ledger.reader import read_once
from tests.fixtures.ledgers import kept, put


def outcome(db: Db, fn: Callable[[Db], Any]) -> BaseException | None:
    """Write `fn` in a batch; its error."""
    job = Job(fn, (), {})
    ended = Batch(deque([job]), lambda name: None).together(db)
    assert isinstance(ended, Settled)
    return job.error


STEERING: dict[str, Callable[[Db], object]] = {
    "BEGIN": lambda db: db.execute("BEGIN"),
    "COMMIT": lambda db: db.execute("COMMIT"),
    "END": lambda db: db.execute("END"),
    "ROLLBACK": lambda db: db.execute("ROLLBACK"),
    "SAVEPOINT": lambda db: db.execute("SAVEPOINT mine"),
    "RELEASE of the batch's own savepoint": lambda db: db.execute("RELEASE job"),
    "ROLLBACK TO the batch's own savepoint": lambda db: db.execute("ROLLBACK TO job"),
    "PRAGMA": lambda db: db.execute("PRAGMA synchronous = OFF"),
    "a pragma as a table": lambda db: db.execute("SELECT * FROM pragma_table_list").fetchall(),
    "ATTACH": lambda db: db.execute("ATTACH ':memory:' AS other"),
    "DETACH": lambda db: db.execute("DETACH other"),
    "commit()": lambda db: db.commit(),
    "rollback()": lambda db: db.rollback(),
    "executescript(), which commits first": lambda db: db.executescript("SELECT 1"),
    "a cursor of its own": lambda db: db.cursor().execute("COMMIT"),
    "a with block, which commits at its end": lambda db: db.__exit__(None, None, None),
    "the batch's own way": lambda db: db.steer("COMMIT"),
    "the old transaction control of sqlite3": lambda db: setattr(db, "isolation_level", None),
}


@pytest.mark.parametrize("steer", STEERING.values(), ids=STEERING)
def test_a_function_that_steers_its_transaction_is_refused_and_undone(db: Db, steer: Callable[[Db], object]) -> None:
    def function(db: Db) -> None:
        put(db, "undone")
        steer(db)

    assert "not authorized" in str(outcome(db, function))
    assert kept(db) == []


@pytest.mark.parametrize(
    "text", ["BEGIN IMMEDIATE", "SAVEPOINT job", "RELEASE job", "ROLLBACK TO job", "COMMIT", "ROLLBACK"]
)
def test_a_statement_that_the_batch_itself_has_run_is_no_back_door(db: Db, text: str) -> None:
    """sqlite3 keeps prepared statements by their text, and SQLite asks its authorizer only when one is prepared."""
    assert outcome(db, lambda db: put(db, "before")) is None
    assert isinstance(outcome(db, lambda db: put(db, "before")), sqlite3.IntegrityError)  # back to the savepoint

    assert "not authorized" in str(outcome(db, lambda db: db.execute(text)))


@pytest.mark.parametrize("text", ["PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL", "PRAGMA journal_mode = WAL"])
def test_a_pragma_that_opened_the_connection_is_no_back_door(db: Db, text: str) -> None:
    assert "not authorized" in str(outcome(db, lambda db: db.execute(text)))


def test_what_a_function_may_not_do_is_open_again_to_the_one_who_runs_it(db: Db) -> None:
    assert outcome(db, lambda db: put(db, "kept")) is None
    db.steer("PRAGMA user_version")


def test_a_function_that_goes_on_after_its_transaction_ended_writes_nothing(db: Db) -> None:
    """After OR ROLLBACK every further statement would commit by itself, and again when the function is run again."""
    put(db, "there")

    def stubborn(db: Db) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            db.execute("INSERT OR ROLLBACK INTO schedule_slots (id, schedule_id) VALUES ('there', 'test')")
        put(db, "alone")

    db.steer("BEGIN IMMEDIATE")
    with pytest.raises(TransactionEnded):
        db.call(stubborn)
    assert kept(db) == ["there"]


@pytest.mark.parametrize("many", [False, True], ids=["execute", "executemany"])
def test_nor_does_it_with_a_cursor_it_had_before(db: Db, many: bool) -> None:
    put(db, "there")
    insert = "INSERT INTO schedule_slots (id, schedule_id) VALUES (?, 'test')"

    def stubborn(db: Db) -> None:
        cursor = db.cursor()
        with pytest.raises(sqlite3.IntegrityError):
            cursor.execute("INSERT OR ROLLBACK INTO schedule_slots (id, schedule_id) VALUES ('there', 'test')")
        cursor.executemany(insert, [("alone",)]) if many else cursor.execute(insert, ("alone",))

    db.steer("BEGIN IMMEDIATE")
    with pytest.raises(TransactionEnded):
        db.call(stubborn)
    assert kept(db) == ["there"]


def rows(db: Db) -> Cursor:
    return db.execute("SELECT id FROM schedule_slots")


ESCAPED: list[object] = []


def returned(db: Db) -> object:
    return rows(db)


def half_read_and_returned(db: Db) -> object:
    cursor = rows(db)
    cursor.fetchone()
    return cursor


def hidden_in_a_tuple(db: Db) -> object:
    return 1, rows(db)


def kept_elsewhere(db: Db) -> object:
    ESCAPED.append(rows(db))
    return None


def half_read_rows_of_a_change(db: Db) -> object:
    ESCAPED.append(db.execute("UPDATE schedule_slots SET schedule_id = 'changed' RETURNING id"))
    return None


def in_a_closure(db: Db) -> object:
    cursor = rows(db)
    return lambda: cursor.fetchone()


def as_a_generator(db: Db) -> Iterator[str]:
    for (name,) in rows(db):
        yield name


def as_a_started_generator(db: Db) -> object:
    generator = as_a_generator(db)
    next(generator)
    return generator


def as_a_map(db: Db) -> object:
    return map(str, rows(db))


async def as_a_coroutine(db: Db) -> None:
    put(db, "never")


LEFT_OPEN: tuple[Callable[[Db], object], ...] = (
    returned,
    half_read_and_returned,
    hidden_in_a_tuple,
    kept_elsewhere,
    in_a_closure,
    as_a_generator,
    as_a_started_generator,
    as_a_map,
)


@pytest.fixture
def three(db: Db) -> Db:
    """A ledger with three rows."""
    for name in "abc":
        put(db, name)
    return db


@pytest.mark.parametrize("fn", [*LEFT_OPEN, half_read_rows_of_a_change], ids=lambda fn: fn.__name__)
def test_a_write_that_leaves_a_cursor_half_read_is_refused_and_undone(three: Db, fn: Callable[[Db], object]) -> None:
    def function(db: Db) -> object:
        put(db, "undone")
        return fn(db)

    assert isinstance(outcome(three, function), HalfReadCursor)
    assert kept(three) == ["a", "b", "c"]
    assert three.execute("SELECT DISTINCT schedule_id FROM schedule_slots").fetchall() == [("test",)]


@pytest.mark.parametrize("fn", LEFT_OPEN, ids=lambda fn: fn.__name__)
def test_a_read_that_leaves_a_cursor_half_read_is_refused(three: Db, fn: Callable[[Db], object]) -> None:
    with pytest.raises(HalfReadCursor):
        read_once(three, fn, (), {})


def test_a_coroutine_is_not_taken_for_a_ledger_function(three: Db) -> None:
    assert isinstance(outcome(three, as_a_coroutine), HalfReadCursor)


def test_a_cursor_that_died_with_its_function_is_no_fault(three: Db) -> None:
    def first(db: Db) -> object:
        return rows(db).fetchone()[0], next(iter(rows(db)))

    assert read_once(three, first, (), {}) == ("a", ("a",))


def test_a_cursor_that_was_read_to_its_end_is_no_fault_while_it_lives(three: Db) -> None:
    def all_rows(db: Db) -> int:
        ESCAPED.append(cursor := rows(db))
        return len(cursor.fetchall())

    assert read_once(three, all_rows, (), {}) == 3


def test_an_error_in_the_middle_of_reading_stays_that_error_and_pins_nothing(three: Db, ledger_path: object) -> None:
    """The traceback keeps the frame, the frame keeps the cursor, and an open cursor would keep the snapshot."""

    def stumble(db: Db) -> None:
        cursor = rows(db)
        raise KeyError(cursor.fetchone())

    with pytest.raises(KeyError) as raised:
        read_once(three, stumble, (), {})
    assert raised.value.__traceback__ is not None
    other = sqlite3.connect(str(ledger_path), isolation_level=None)
    other.execute("INSERT INTO schedule_slots (id, schedule_id) VALUES ('d', 'test')")
    assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0, "a pinned snapshot keeps the log"
    other.close()
