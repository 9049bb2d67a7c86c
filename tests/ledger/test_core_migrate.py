"""Steps of the schema: forward only, each whole or not at all, with a way back kept beside the file."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
import trio

from actors.kit.testing import VirtualClock
from pixivflow.errors import Unavailable
from pixivflow.ledger import migrate as migrate_module
from pixivflow.ledger import opening
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.ledger import open_ledger
from pixivflow.ledger.lockfile import LockFile
from pixivflow.ledger.migrate import APPLICATION_ID, Migration, migrate, shipped, statements, version_of
from tests.fixtures.ledgers import kept, put

LATEST = shipped()[-1].number

FURTHER = Migration(
    number=LATEST + 1,
    sql="""
    -- A step with all that a script can hold; the semicolon in this comment ends nothing.
    CREATE TABLE further (name TEXT DEFAULT 'a;b');
    CREATE TRIGGER further_seen AFTER INSERT ON further BEGIN
      INSERT INTO further SELECT 'c' WHERE 0; DELETE FROM further WHERE name = 'x';
    END;
    INSERT INTO further (name) VALUES ('y')
    """,
)

BROKEN = Migration(number=LATEST + 2, sql="CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);")


def tables(db: Db) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_the_steps_that_ship_are_numbered_without_a_gap() -> None:
    assert [step.number for step in shipped()] == list(range(1, LATEST + 1))


def test_a_new_file_takes_every_step_and_says_whose_it_is(ledger_path: Path) -> None:
    with closing(connect_plain(ledger_path)) as db:
        migrate(db)
        assert version_of(db) == LATEST
        assert db.steer("PRAGMA application_id") == [(APPLICATION_ID,)]
        assert {"schedule_slots", "outbox", "ledger_openings"} <= tables(db)
        assert db.execute("SELECT newest_at FROM ledger_clock").fetchall() == [(0,)]


def test_a_step_is_taken_once(db: Db) -> None:
    migrate(db, [*shipped(), FURTHER])
    migrate(db, [*shipped(), FURTHER])
    assert db.execute("SELECT name FROM further").fetchall() == [("y",)]


def test_a_step_that_fails_leaves_the_file_where_the_last_whole_one_left_it(db: Db) -> None:
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(db, [*shipped(), FURTHER, BROKEN])
    assert not db.in_transaction
    assert version_of(db) == LATEST + 1
    assert "further" in tables(db)
    assert "half" not in tables(db)


def test_before_a_ledger_is_changed_a_copy_is_kept(db: Db, ledger_path: Path) -> None:
    put(db, "a")  # still in the log, as with a ledger that nobody closed
    migrate(db, [*shipped(), FURTHER])

    assert sorted(file.name for file in ledger_path.parent.glob("*.before*")) == [f"ledger.db.before-v{LATEST + 1}"]
    with closing(connect_plain(f"{ledger_path}.before-v{LATEST + 1}")) as copy:
        assert version_of(copy) == LATEST
        assert kept(copy) == ["a"]
        assert "further" not in tables(copy)


def test_the_copy_is_on_the_disk_before_its_name_appears_and_then_the_name_is(
    db: Db, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Path(f"{ledger_path}.before-v{LATEST + 1}")
    synced = list[tuple[str, bool]]()
    sync = migrate_module.sync

    def remembered(path: Path) -> None:
        synced.append((path.name, target.exists()))
        sync(path)

    monkeypatch.setattr(migrate_module, "sync", remembered)
    migrate(db, [*shipped(), FURTHER])
    assert synced == [(f"{target.name}.partial", False), (ledger_path.parent.name, True)]


def test_a_new_file_needs_no_copy_and_neither_does_one_without_a_step_to_take(db: Db, ledger_path: Path) -> None:
    migrate(db)
    assert list(ledger_path.parent.glob("*.before*")) == []


def test_a_ledger_in_memory_has_nothing_to_go_back_to() -> None:
    with closing(connect_plain(":memory:")) as db:
        migrate(db)
        migrate(db, [*shipped(), FURTHER])
        assert "further" in tables(db)


def test_of_two_that_migrate_at_once_one_does_it_and_the_other_waits(ledger_path: Path) -> None:
    """Each step would fail if it were taken twice. Both threads stand at the same line before they go."""
    line, failures = threading.Barrier(2), list[BaseException]()

    def process() -> None:
        try:
            with closing(connect_plain(ledger_path)) as db:
                line.wait()
                migrate(db, [*shipped(), FURTHER])
        except BaseException as error:
            failures.append(error)

    connect_plain(ledger_path).close()
    threads = [threading.Thread(target=process) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with closing(connect_plain(ledger_path)) as db:
        assert version_of(db) == LATEST + 1


async def test_two_that_open_a_new_ledger_at_once_both_get_it(ledger_path: Path) -> None:
    async def opened(name: str) -> None:
        async with open_ledger(ledger_path, clock=VirtualClock()) as ledger:
            await ledger.write(put, name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(opened, "a")
        nursery.start_soon(opened, "b")
    with closing(connect_plain(ledger_path)) as db:
        assert kept(db) == ["a", "b"]


async def test_a_ledger_in_use_by_another_program_is_not_changed_under_it(
    db: Db, ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "shipped", lambda: (*shipped(), FURTHER))
    older = LockFile(ledger_path)
    assert older.try_share()
    with pytest.raises(Unavailable, match="newer schema"):
        async with open_ledger(ledger_path, clock=VirtualClock()):
            pass
    assert version_of(db) == LATEST
    older.close()
    async with open_ledger(ledger_path, clock=VirtualClock()):
        assert version_of(db) == LATEST + 1


def test_a_script_is_cut_where_its_statements_end() -> None:
    comment_and_table, trigger, insert = statements(FURTHER.sql)
    assert comment_and_table.rstrip().endswith("'a;b');")
    assert trigger.rstrip().endswith("END;")
    assert insert.strip().startswith("INSERT INTO further")
