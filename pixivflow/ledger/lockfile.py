"""`<ledger>.lock`: who may touch the ledger file, told between processes.

Shared by every process that writes the ledger, for as long as it has it open. Exclusive for what must be alone with the
file: VACUUM, a restore, the setting aside of a corrupt one, and the step to a new schema. The kernel gives a lock back
when its process dies, however it dies. The lock file itself is never deleted: a deleted one would be two locks.

It also outlives the ledger: once one has been made, the lock file says so, and a ledger that is emptied or gone
afterwards is not taken for one that never was.

Nobody waits inside the kernel: a lock that is not free is asked for again until patience ends.
"""

import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import trio

from pixivflow.errors import Cause, LedgerRefused, Unavailable

ASK_AGAIN_S: Final = 0.05

SEEN: Final = b"A ledger has been made beside this file.\n"


def lock_of(ledger: Path) -> Path:
    """Where the lock file of a ledger is."""
    return ledger.with_name(f"{ledger.name}.lock")


def was_here(ledger: Path) -> bool:
    """Whether a ledger was ever made at this place, as far as the lock file can tell; nothing is made or held."""
    try:
        return lock_of(ledger).stat().st_size > 0
    except OSError:
        return False


class LockFile:
    """The lock file of one ledger, open in this process, its folder made if it is not there. Holds nothing until asked.

    Errors: `LedgerRefused` when either cannot be had.
    """

    def __init__(self, ledger: Path) -> None:
        self.path = lock_of(ledger)
        try:
            ledger.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LedgerRefused(ledger, f"it and its lock file cannot be kept there: {error.strerror}") from error

    @property
    def has_seen_a_ledger(self) -> bool:
        """Whether a ledger was ever made beside this file."""
        return os.fstat(self._fd).st_size > 0

    def note_a_ledger(self) -> None:
        """Say for ever that there is one. A disk without room for it is told again at the next opening."""
        if not self.has_seen_a_ledger:
            with contextlib.suppress(OSError):
                os.pwrite(self._fd, SEEN, 0)
                os.fsync(self._fd)

    def try_exclusive(self) -> bool:
        """Hold the ledger alone, if nobody else holds it. What was held before may be lost in the attempt."""
        return self._try(fcntl.LOCK_EX)

    def try_share(self) -> bool:
        """Hold the ledger beside others, if nobody holds it alone."""
        return self._try(fcntl.LOCK_SH)

    async def share(self, patience_ms: int) -> None:
        """Hold the ledger beside others. Errors: `Unavailable` once `patience_ms` have passed."""
        await self._until(fcntl.LOCK_SH, patience_ms)

    @contextlib.asynccontextmanager
    async def exclusively(self, patience_ms: int = 0) -> AsyncIterator[None]:
        """Hold the ledger alone inside the block, and not at all after it.

        Errors: `Unavailable` once `patience_ms` have passed.
        """
        await self._until(fcntl.LOCK_EX, patience_ms)
        try:
            yield
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Give back whatever is held."""
        os.close(self._fd)

    async def _until(self, kind: int, patience_ms: int) -> None:
        end = trio.current_time() + patience_ms / 1000
        while not self._try(kind):
            if trio.current_time() >= end:
                raise Unavailable(f"another process holds {self.path}", cause=Cause.LEDGER)
            await trio.sleep(ASK_AGAIN_S)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
