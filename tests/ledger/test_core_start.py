"""What a ledger looks at before it serves: whose the file is, how its last use ended, whether it can be read."""

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
import trio

from actors.kit.testing import Probe
from pixivflow.errors import LedgerLost, LedgerRefused, StorageFull, Unavailable
from pixivflow.ledger import check, connection, opening, threaded
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.ledger import Ledger, open_ledger
from pixivflow.ledger.lockfile import LockFile
from pixivflow.ledger.migrate import APPLICATION_ID, migrate, shipped
from pixivflow.ledger.threaded import ThreadedLedger
from tests.fixtures.ledgers import LIMIT_S, StoppedClock, kept, put, transaction

CLOCK = StoppedClock()


def made(path: Path, *names: str) -> None:
    """A ledger with these rows, closed."""
    with closing(connect_plain(path)) as db:
        migrate(db)
        with transaction(db):
            for name in names:
                put(db, name)


def content(path: Path) -> bytes:
    return path.read_bytes()


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but the lock file."""
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.suffix != ".lock"}


def scratch(path: Path, page: int = 2) -> None:
    """Overwrite one page of the file, from the second on."""
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)


async def pragma(ledger: Ledger, name: str, *, of_the_reader: bool = False) -> object:
    opened = cast("ThreadedLedger", ledger)
    carrier = opened._reader if of_the_reader else opened._carrier
    [(value,)] = await carrier.run(lambda db: db.steer(f"PRAGMA {name}"))
    return value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("fullfsync", 1),
        ("foreign_keys", 1),
        ("temp_store", 2),
        ("busy_timeout", 5_000),
        ("journal_size_limit", 64 * 1024 * 1024),
        ("application_id", APPLICATION_ID),
        ("user_version", len(shipped())),
    ],
)
@pytest.mark.parametrize("of_the_reader", [False, True], ids=["writer", "reader"])
async def test_each_connection_is_set_as_the_promises_need(
    ledger: Ledger, name: str, value: object, of_the_reader: bool
) -> None:
    assert await pragma(ledger, name, of_the_reader=of_the_reader) == value


async def test_nobody_can_load_an_extension(ledger: Ledger) -> None:
    with pytest.raises(sqlite3.OperationalError, match="not authorized"):
        await ledger.read(lambda db: db.execute("SELECT load_extension('any')").fetchone())


@pytest.mark.parametrize(("daemon", "pages"), [(True, 1_000), (False, 0)], ids=["a daemon", "a command"])
async def test_only_a_daemons_writer_checkpoints(ledger_path: Path, daemon: bool, pages: int) -> None:
    async with open_ledger(ledger_path, clock=CLOCK, daemon=daemon) as ledger:
        assert await pragma(ledger, "wal_autocheckpoint") == pages
        assert await pragma(ledger, "wal_autocheckpoint", of_the_reader=True) == 0


@pytest.mark.parametrize("version", [(3, 51, 2), (3, 51, 3)], ids=["before it was mended", "since"])
async def test_the_version_of_sqlite_is_said_and_an_unsound_one_is_warned_of(
    ledger_path: Path, probe: Probe, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int]
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    async with open_ledger(ledger_path, clock=CLOCK, note=probe.note):
        pass
    assert probe.heard("ledger.opened")[0]["sqlite"] == sqlite3.sqlite_version
    assert bool(probe.heard("ledger.sqlite_old")) is (version < (3, 51, 3))


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (x)")


def foreign_in_wal(path: Path) -> None:
    foreign(path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")


def foreign_with_a_version(path: Path) -> None:
    foreign(path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 1")


def newer(path: Path) -> None:
    made(path, "theirs")
    with closing(connect_plain(path)) as db:
        db.steer("PRAGMA user_version = 99")


@pytest.mark.parametrize("inline", [False, True], ids=["with threads", "inline"])
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (foreign, "pixivflow import"),
        (foreign_in_wal, "pixivflow import"),
        (foreign_with_a_version, "pixivflow import"),
        (newer, f"version 99, this program knows up to {len(shipped())}"),
    ],
)
async def test_a_file_that_is_not_ours_to_open_is_refused_and_not_touched(
    ledger_path: Path, make: Callable[[Path], None], says: str, inline: bool
) -> None:
    make(ledger_path)
    before = bytes_of(ledger_path.parent)
    with pytest.raises(LedgerRefused, match=says):
        async with open_inline(ledger_path, clock=CLOCK) if inline else open_ledger(ledger_path, clock=CLOCK):
            pass
    assert bytes_of(ledger_path.parent) == before, "no byte of it, and no -wal or -shm beside it"


async def test_a_newer_ledger_whose_news_is_still_in_the_log_is_refused_too(ledger_path: Path) -> None:
    """As a newer program that died leaves it: the file itself still shows the old version."""
    made(ledger_path)
    with closing(connect_plain(ledger_path)) as dead:
        dead.steer("PRAGMA user_version = 99")
        before = bytes_of(ledger_path.parent)
        with pytest.raises(LedgerRefused, match="version 99"):
            async with open_ledger(ledger_path, clock=CLOCK):
                pass
        after = bytes_of(ledger_path.parent)
        assert after.keys() == before.keys()
        assert after["ledger.db"] == before["ledger.db"]
        assert after["ledger.db-wal"] == before["ledger.db-wal"]


def nothing(path: Path) -> None:
    assert not path.exists()


def empty_database(path: Path) -> None:
    connect_plain(path).close()


@pytest.mark.parametrize("make", [nothing, Path.touch, empty_database])
async def test_what_holds_nothing_becomes_a_ledger(ledger_path: Path, make: Callable[[Path], None]) -> None:
    make(ledger_path)
    async with open_ledger(ledger_path, clock=CLOCK) as ledger:
        await ledger.write(put, "a")
        assert ledger.set_aside is None


async def used(path: Path, probe: Probe | None = None, *, daemon: bool = True) -> list[str]:
    """Open the ledger, keep one more row, close it; the rows that were there before."""
    async with open_ledger(path, clock=CLOCK, note=(probe or Probe()).note, daemon=daemon) as ledger:
        names = await ledger.read(kept)
        await ledger.write(put, f"row {len(names)}")
    return names


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def gone(path: Path) -> None:
    path.unlink()


def forgotten(path: Path) -> None:
    """A database, but with nothing in it."""
    path.unlink()
    empty_database(path)


def only_its_log_is_left(path: Path) -> None:
    """As a folder without its lock file looks, after a kill and a copy that broke off."""
    path.with_name(f"{path.name}.lock").unlink()
    path.write_bytes(b"")
    with_log(path)


LOST = [
    pytest.param(emptied, "it holds nothing", id="emptied"),
    pytest.param(gone, "it is gone", id="gone"),
    pytest.param(forgotten, "it holds nothing", id="an empty database"),
    pytest.param(only_its_log_is_left, "it holds nothing", id="emptied beside its log"),
]


@pytest.mark.parametrize(("lose", "reason"), LOST)
async def test_a_ledger_that_was_lost_is_not_taken_for_a_first_start(
    ledger_path: Path, probe: Probe, lose: Callable[[Path], None], reason: str
) -> None:
    """The daemon says so once, puts what is left aside, and begins anew."""
    await used(ledger_path)
    lose(ledger_path)
    left = bytes_of(ledger_path.parent)

    assert await used(ledger_path, probe) == []
    [said] = probe.heard("ledger.set_aside")
    went_to = f"{ledger_path}.corrupt-20260115T030000000Z" if left else f"{ledger_path}"
    assert said == {"path": went_to, "reason": reason}
    kept_aside = bytes_of(ledger_path.parent)
    for name, content in left.items():
        assert kept_aside[name.replace("ledger.db", Path(str(said["path"])).name)] == content

    again = Probe()
    assert await used(ledger_path, again) == ["row 0"]
    assert again.heard("ledger.set_aside") == []


@pytest.mark.parametrize(("lose", "reason"), LOST)
@pytest.mark.parametrize("who", ["a command", "a daemon that is not alone"])
async def test_nobody_else_begins_anew_where_a_ledger_was_lost(
    ledger_path: Path, lose: Callable[[Path], None], reason: str, who: str
) -> None:
    await used(ledger_path)
    lose(ledger_path)
    before = bytes_of(ledger_path.parent)
    other = LockFile(ledger_path)
    assert who == "a command" or other.try_share()
    with pytest.raises(LedgerRefused, match=rf"{reason}, but a ledger has been here.*remove .*ledger\.db\.lock too"):
        await used(ledger_path, daemon=who != "a command")
    other.close()
    assert before.items() <= bytes_of(ledger_path.parent).items()


@pytest.mark.parametrize("daemon", [True, False], ids=["a daemon", "a command"])
async def test_who_removes_the_lock_file_with_the_ledger_begins_anew_in_silence(
    ledger_path: Path, probe: Probe, daemon: bool
) -> None:
    await used(ledger_path)
    for left in ledger_path.parent.iterdir():
        left.unlink()
    assert await used(ledger_path, probe, daemon=daemon) == []
    assert probe.heard("ledger.set_aside") == []


async def test_a_start_that_died_before_there_was_a_ledger_is_still_the_first(ledger_path: Path, probe: Probe) -> None:
    LockFile(ledger_path).close()
    empty_database(ledger_path)
    assert await used(ledger_path, probe) == []
    assert probe.heard("ledger.set_aside") == []


async def test_a_lock_file_without_room_for_its_word_keeps_nobody_from_working(
    ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", no_room)
        assert await used(ledger_path) == []
    assert await used(ledger_path) == ["row 0"]
    gone(ledger_path)
    with pytest.raises(LedgerRefused, match="it is gone"):
        await used(ledger_path, daemon=False)


async def marks(ledger: Ledger) -> int:
    def count(db: Db) -> int:
        [number] = db.execute("SELECT count(*) FROM ledger_openings").fetchone()
        return int(number)

    return await ledger.read(count)


async def test_a_ledger_is_marked_while_it_is_open_and_not_after_an_orderly_end(ledger_path: Path) -> None:
    async with open_ledger(ledger_path, clock=CLOCK) as ledger:
        assert await marks(ledger) == 1
        async with open_ledger(ledger_path, clock=CLOCK, daemon=False):
            assert await marks(ledger) == 2
        assert await marks(ledger) == 1
    with closing(connect_plain(ledger_path)) as db:
        assert db.execute("SELECT * FROM ledger_openings").fetchall() == []


def left_open(path: Path) -> None:
    made(path, *(f"{number:04}" for number in range(500)))
    with closing(connect_plain(path)) as db:
        check.mark_open(db, "4711-dead", 1)
        db.steer("PRAGMA wal_checkpoint(TRUNCATE)")


def index_broken(path: Path) -> None:
    """A ledger whose rows can be read while an index of them says something else: only a check finds that."""
    left_open(path)
    with closing(sqlite3.connect(path)) as db:
        [(root,)] = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'idx_slots_schedule_occ'").fetchall()
    scratch(path, root)


async def test_after_an_unclean_end_the_file_is_checked_before_it_serves(ledger_path: Path, probe: Probe) -> None:
    index_broken(ledger_path)
    async with open_ledger(ledger_path, clock=CLOCK, note=probe.note) as ledger:
        assert ledger.damaged is not None
        assert ledger.obstacle(CLOCK.now_ms()) == "ledger_damaged"
        assert probe.heard("ledger.opened")[0]["left_open"] == 1
        assert probe.heard("ledger.damaged") == [{"finding": ledger.damaged}]
        assert len(await ledger.read(kept)) == 500, "what can be read is served"
    with closing(connect_plain(ledger_path)) as db:
        assert db.execute("SELECT count(*) FROM ledger_openings").fetchone() == (1,), "to be checked again"


async def test_a_check_that_finds_nothing_is_silent(ledger_path: Path, probe: Probe) -> None:
    left_open(ledger_path)
    async with open_ledger(ledger_path, clock=CLOCK, note=probe.note) as ledger:
        assert ledger.damaged is None
        assert await marks(ledger) == 1, "the mark of the dead is gone, ours is there"
    assert [event for event, _ in probe.notes if event != "ledger.sqlite_old"] == ["ledger.opened"]


def not_before_it_serves(_db: Db) -> None:
    raise AssertionError("checked before it serves")


@pytest.mark.parametrize("reason", ["too large", "an orderly end before"])
async def test_otherwise_it_is_checked_while_it_serves(
    ledger_path: Path, probe: Probe, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    index_broken(ledger_path)
    monkeypatch.setattr(opening, "finding", not_before_it_serves)
    if reason == "too large":
        monkeypatch.setattr(opening, "CHECKED_FIRST_BYTES", 1)
    else:
        with closing(connect_plain(ledger_path)) as db:
            check.mark_closed(db, "4711-dead")
    async with open_ledger(ledger_path, clock=CLOCK, note=probe.note) as ledger:
        with trio.fail_after(LIMIT_S):
            await probe.until("ledger.damaged")
        assert ledger.obstacle(CLOCK.now_ms()) == "ledger_damaged"


async def test_a_check_in_the_background_does_not_keep_the_end_waiting(
    ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even one whose thread hears no interrupt: the end gives it up, as it does with every other thread."""
    begun, let_go = trio.Event(), threading.Event()
    token = trio.lowlevel.current_trio_token()

    def check_for_ever(_db: Db) -> None:
        token.run_sync_soon(begun.set)
        let_go.wait()

    async def let_go_at_last() -> None:
        await trio.sleep(LIMIT_S)
        let_go.set()

    made(ledger_path)
    monkeypatch.setattr(threaded, "finding", check_for_ever)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(let_go_at_last)
            async with open_ledger(ledger_path, clock=CLOCK):
                await begun.wait()
            assert not let_go.is_set(), "the end has come before that of the check"
            nursery.cancel_scope.cancel()
    finally:
        let_go.set()


async def test_a_command_leaves_the_marks_of_others_to_the_daemon(ledger_path: Path) -> None:
    left_open(ledger_path)
    async with open_ledger(ledger_path, clock=CLOCK, daemon=False) as ledger:
        assert await marks(ledger) == 2


async def test_marks_are_not_judged_while_another_process_may_own_them(ledger_path: Path) -> None:
    left_open(ledger_path)
    other = LockFile(ledger_path)
    assert other.try_share()
    async with open_ledger(ledger_path, clock=CLOCK) as ledger:
        assert await marks(ledger) == 2
    other.close()


def with_log(path: Path) -> None:
    Path(f"{path}-wal").write_bytes(b"a log that belongs to it")
    Path(f"{path}-shm").write_bytes(b"and its index")


def no_database(path: Path) -> None:
    path.write_bytes(b"this was never a database, or its first page is gone" * 100)
    with_log(path)


def torn(path: Path) -> None:
    made(path, *(f"{number:04}" for number in range(500)))
    os.truncate(path, 4096)
    with_log(path)


BROKEN = [no_database, torn]


@pytest.mark.parametrize("broken", BROKEN)
async def test_a_ledger_that_cannot_be_read_is_set_aside_by_the_daemon_and_said(
    ledger_path: Path, probe: Probe, broken: Callable[[Path], None]
) -> None:
    broken(ledger_path)
    was = content(ledger_path)
    async with open_ledger(ledger_path, clock=CLOCK, note=probe.note) as ledger:
        assert ledger.set_aside is not None
        [said] = probe.heard("ledger.set_aside")
        assert said["path"] == str(ledger.set_aside)
        assert said["reason"] in ("file is not a database", "database disk image is malformed")
        assert await ledger.write(put, "afresh") == "afresh"
    assert ledger.set_aside.name == "ledger.db.corrupt-20260115T030000000Z"
    assert content(ledger.set_aside) == was
    assert content(Path(f"{ledger.set_aside}-wal")) == b"a log that belongs to it"
    assert f"{ledger.set_aside.name}-shm" in bytes_of(ledger_path.parent)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("who", ["a command", "a daemon that is not alone"])
async def test_by_nobody_else(ledger_path: Path, broken: Callable[[Path], None], who: str) -> None:
    broken(ledger_path)
    was = content(ledger_path)
    other = LockFile(ledger_path)
    assert who == "a command" or other.try_share()
    with pytest.raises(LedgerRefused, match="cannot be read"):
        async with open_ledger(ledger_path, clock=CLOCK, daemon=who != "a command"):
            pass
    other.close()
    assert content(ledger_path) == was


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (sqlite3.SQLITE_BUSY, Unavailable),
        (sqlite3.SQLITE_IOERR_READ, LedgerLost),
        (sqlite3.SQLITE_FULL, StorageFull),
        (sqlite3.SQLITE_CANTOPEN, LedgerRefused),
        (sqlite3.SQLITE_READONLY, LedgerRefused),
    ],
)
async def test_a_file_that_may_be_perfectly_well_is_never_set_aside(
    ledger_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception]
) -> None:
    made(ledger_path, "a")

    def refuse(*_: object) -> None:
        refusal = sqlite3.OperationalError("as SQLite raises it")
        refusal.sqlite_errorcode = code
        raise refusal

    with monkeypatch.context() as patch:
        patch.setattr(opening, "migrate", refuse)
        with pytest.raises(error):
            async with open_ledger(ledger_path, clock=CLOCK):
                pass
    async with open_ledger(ledger_path, clock=CLOCK) as ledger:
        assert await ledger.read(kept) == ["a"]


async def test_a_folder_in_the_files_place_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(LedgerRefused, match=f"{tmp_path}: this is not a file"):
        async with open_ledger(tmp_path, clock=CLOCK):
            pass


async def test_a_file_system_without_a_write_ahead_log_is_refused(
    ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There readers and the writer would keep each other out. SQLite says nothing of it; it only answers `delete`."""
    stubborn = tuple(each.replace("WAL", "DELETE") for each in connection.pragmas(0, 0))
    monkeypatch.setattr(connection, "pragmas", lambda *_: stubborn)
    with pytest.raises(LedgerRefused, match="write-ahead log"):
        async with open_ledger(ledger_path, clock=CLOCK):
            pass


async def test_a_full_disk_does_not_keep_a_daemon_from_serving_what_it_has(
    ledger_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(ledger_path, "a")

    def no_room(*_: object) -> None:
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise full

    monkeypatch.setattr(threaded, "mark_open", no_room)
    async with open_ledger(ledger_path, clock=CLOCK) as ledger:
        assert await ledger.read(kept) == ["a"]


async def test_a_start_that_is_cancelled_leaves_no_lock_behind(ledger_path: Path) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        async with open_ledger(ledger_path, clock=CLOCK):
            raise AssertionError("never here")
    lock = LockFile(ledger_path)
    assert lock.try_exclusive()
    lock.close()


NO_DATABASE = b"no database at all, yet too long to be an empty one" * 100


async def test_on_a_ledger_that_was_begun_anew_nothing_is_begun_until_a_person_has_looked(ledger_path: Path) -> None:
    """Also after the next start, and at once when the hold is gone: what the lost one had published is not known."""
    await trio.Path(ledger_path).write_bytes(NO_DATABASE)
    hold = ledger_path.with_name("ledger.db.hold")
    for life in range(2):
        probe = Probe()
        async with open_ledger(ledger_path, clock=CLOCK, note=probe.note) as ledger:
            assert ledger.obstacle(CLOCK.now_ms()) == "ledger_set_aside"
            await ledger.write(put, f"accepted {life}")
            [said] = probe.heard("ledger.held")
            assert said["remove"] == str(hold)
            assert "could not be used (file is not a database)" in str(said["reason"])
            if life == 1:
                await trio.Path(hold).unlink()
                assert ledger.obstacle(CLOCK.now_ms()) is None
                assert await ledger.read(kept) == ["accepted 0", "accepted 1"]


async def test_the_hold_is_there_before_the_new_ledger_is(ledger_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await trio.Path(ledger_path).write_bytes(NO_DATABASE)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(opening, "set_aside", killed)
    with pytest.raises(BaseException) as ended:
        async with open_ledger(ledger_path, clock=CLOCK):
            pass
    assert "KeyboardInterrupt" in repr(ended.value)
    assert ledger_path.with_name("ledger.db.hold").exists()
