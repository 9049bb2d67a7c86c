"""Who may touch the file, told between processes: `holding.py` is the other one."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from actors.kit.testing import VirtualClock
from pixivflow.errors import LedgerRefused, Unavailable
from pixivflow.ledger.connection import connect_plain
from pixivflow.ledger.ledger import open_ledger
from pixivflow.ledger.lockfile import LockFile
from tests.fixtures.ledgers import LIMIT_S, kept, patient_clock, put

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def held_by_another(path: Path, kind: str) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds the ledger while the block lasts."""
    command = [sys.executable, "-m", "tests.ledger.holding", str(path), kind]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def opened(path: Path, *, daemon: bool = True) -> None:
    with trio.fail_after(LIMIT_S):
        async with open_ledger(path, clock=VirtualClock(), busy=patient_clock(), daemon=daemon):
            pass


@pytest.mark.parametrize("daemon", [True, False], ids=["a daemon", "a command"])
async def test_a_ledger_that_another_process_holds_alone_is_not_opened(
    ledger_path: Path, autojump_clock: MockClock, daemon: bool
) -> None:
    with held_by_another(ledger_path, "exclusive"), pytest.raises(Unavailable, match=r"ledger\.db\.lock"):
        await opened(ledger_path, daemon=daemon)
    assert [file.name for file in sorted(files(ledger_path.parent))] == ["ledger.db.lock"], "nothing was touched"


async def test_it_is_waited_for_as_long_as_for_a_write(ledger_path: Path, autojump_clock: MockClock) -> None:
    lock = LockFile(ledger_path)
    assert lock.try_exclusive()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(opened, ledger_path)
        await trio.sleep(4.9)
        lock.close()


async def test_two_processes_may_have_it_open_at_once(ledger_path: Path) -> None:
    with held_by_another(ledger_path, "shared"):
        await opened(ledger_path)


async def test_while_it_is_open_nobody_else_can_be_alone_with_it(ledger_path: Path) -> None:
    lock = LockFile(ledger_path)
    async with open_ledger(ledger_path, clock=VirtualClock()):
        assert not lock.try_exclusive()
        assert lock.try_share()
    assert lock.try_exclusive(), "the lock is given back at the end"
    lock.close()


async def test_a_lock_dies_with_its_process_however_that_died(ledger_path: Path) -> None:
    with held_by_another(ledger_path, "exclusive") as other:
        other.kill()
        other.wait()
        await opened(ledger_path)


async def test_being_alone_ends_with_the_block(ledger_path: Path, autojump_clock: MockClock) -> None:
    mine, other = LockFile(ledger_path), LockFile(ledger_path)
    async with mine.exclusively():
        assert not other.try_share()
        with pytest.raises(Unavailable), trio.fail_after(LIMIT_S):
            await other.share(1_000)
    async with other.exclusively(1_000):
        with pytest.raises(Unavailable):
            async with mine.exclusively(1_000):
                pass
    mine.close()
    other.close()


async def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    await opened(tmp_path / "a" / "new" / "ledger.db")
    assert (tmp_path / "a" / "new" / "ledger.db").is_file()


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(LedgerRefused, match=r"a file.*cannot be kept there"):
        await opened(tmp_path / "a file" / "ledger.db")


async def test_a_command_writes_beside_a_living_daemon(ledger_path: Path) -> None:
    async with open_ledger(ledger_path, clock=VirtualClock()) as daemon:
        async with open_ledger(ledger_path, clock=VirtualClock(), daemon=False) as command:
            await command.write(put, "by the command")
        await daemon.write(put, "by the daemon")
        assert await daemon.read(kept) == ["by the command", "by the daemon"]


async def test_another_process_in_the_middle_of_a_write_is_waited_for(ledger_path: Path) -> None:
    with closing(connect_plain(ledger_path)):
        await opened(ledger_path)
    with held_by_another(ledger_path, "writing") as other:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(opened, ledger_path)
            await trio.to_thread.run_sync(other.communicate, "")
