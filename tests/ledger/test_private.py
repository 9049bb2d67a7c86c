"""Nobody but its owner reads the ledger, whatever the umask says and whoever made the file."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import trio

from actors.kit.testing import Probe
from pixivflow.ledger import private
from pixivflow.ledger.check import set_aside
from pixivflow.ledger.connection import connect_plain
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.ledger import open_ledger
from pixivflow.ledger.migrate import keep_copy, migrate
from tests.fixtures.ledgers import LIMIT_S, StoppedClock, put

CLOCK = StoppedClock()


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=["open", "usual", "shut"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """The mode of every file of a folder but the lock file."""
    return {each.name: each.stat().st_mode & 0o777 for each in folder.iterdir() if each.suffix != ".lock"}


def made(path: Path, mode: int = 0o644) -> None:
    with closing(connect_plain(path)) as db:
        migrate(db)
    path.chmod(mode)


async def test_a_new_ledger_and_its_log_are_their_owner_s_alone(tmp_path: Path, umask: int) -> None:
    with trio.fail_after(LIMIT_S):
        async with open_ledger(tmp_path / "l.db", clock=CLOCK, daemon=True) as ledger:
            await ledger.write(put, "a")
            assert modes(tmp_path) == {"l.db": 0o600, "l.db-wal": 0o600, "l.db-shm": 0o600}


async def test_a_ledger_that_others_could_read_is_narrowed_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    made(path, 0o666)
    for name in ("l.db.before-v2", "l.db.corrupt-20260115", "other.db"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o664)
    with closing(connect_plain(path)) as other:
        other.steer("BEGIN IMMEDIATE")
        other.steer("ROLLBACK")
        with trio.fail_after(LIMIT_S):
            async with open_ledger(path, clock=CLOCK, daemon=False) as ledger:
                await ledger.write(put, "a")
                told = modes(tmp_path)
    assert told.pop("other.db") == 0o664
    assert set(told.values()) == {0o600}
    assert len(told) == 5


async def test_a_ledger_that_cannot_be_narrowed_is_used_and_said_to_be_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, probe = tmp_path / "l.db", Probe()
    made(path)

    def refuse(path: Path, mode: int) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "chmod", refuse)
    with trio.fail_after(LIMIT_S):
        async with open_ledger(path, clock=CLOCK, daemon=True, note=probe.note):
            pass
    [told] = probe.heard("ledger.exposed")
    assert str(path) in str(told["paths"])


async def test_a_ledger_of_a_simulation_is_its_owner_s_alone(tmp_path: Path) -> None:
    async with open_inline(tmp_path / "l.db", clock=CLOCK):
        assert set(modes(tmp_path).values()) == {0o600}


def test_the_copy_before_a_new_schema_is_its_owner_s_alone(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "l.db"
    private.make_private(path)
    with closing(connect_plain(path)) as db:
        migrate(db)
        keep_copy(db, 9)
        assert modes(tmp_path)["l.db.before-v9"] == 0o600


def test_a_ledger_that_is_set_aside_is_its_owner_s_alone(tmp_path: Path) -> None:
    for suffix in private.SUFFIXES:
        (tmp_path / f"l.db{suffix}").touch()
        (tmp_path / f"l.db{suffix}").chmod(0o644)
    set_aside(tmp_path / "l.db", 0)
    assert set(modes(tmp_path).values()) == {0o600}
    assert len(modes(tmp_path)) == 3
