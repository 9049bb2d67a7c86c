"""The ledger as everybody sees it: `write` and `read` take a function and give its value.

async with open_ledger(path, clock=clock) as ledger:
    won = await ledger.write(claim, slot, owner, now)     # committed and fsynced when it returns
    due = await ledger.read(due_rows, now)                # sees every write that has returned
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import trio

from actors.kit import Clock
from pixivflow.errors import Cause, Unavailable
from pixivflow.ledger.db import Db, Told
from pixivflow.ledger.hold import Hold
from pixivflow.ledger.leaseclock import LeaseClock
from pixivflow.ledger.storage import ROOM, Storage
from pixivflow.times import Timings

P = ParamSpec("P")
T = TypeVar("T")


class Ledger(ABC):
    """What is common to the ledger with threads and the inline one. Opened by `open_ledger` or `open_inline`."""

    def __init__(self, path: Path | None, clock: Clock, timings: Timings, note: Callable[..., None]) -> None:
        self.path = path
        """The file; None in memory."""
        self.damaged: str | None = None
        """What the check of the file found. Selection and delivery then stop; what is accepted is still kept."""
        self.set_aside: Path | None = None
        """Where a ledger that could not be used was moved, if anything was left of it, when this one took its place."""
        self._hold = Hold(path) if path is not None else None
        self._clock, self._timings, self._note = clock, timings, note
        self._lease_clock = LeaseClock(0)
        self._storage: Storage = ROOM

    @abstractmethod
    async def write(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """`fn(db, …)`'s value, once what it did is on the disk.

        `fn` may run twice, so it has no effect outside `db`, and takes time and randomness as arguments; it stays under
        50 ms. Cancelled before `fn` was taken, nothing happens; cancelled later, it is written and the rows tell.
        Errors: `fn`'s own; `StorageFull`, `Unavailable`: nothing was kept; `LedgerLost`: unknown, stop in order.
        """

    @abstractmethod
    async def read(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """`fn(db, …)`'s value, from one snapshot that holds every write that has returned. `fn` returns no cursor.

        What is then written because of it belongs into `fn` as a write: between the two others may write.
        Errors: `fn`'s own; `Unavailable`, `LedgerLost`.
        """

    def _say(self, told: Told) -> None:
        """Log what has reached the disk, in the words of the row that holds it."""
        name, fields = told.line()
        self._note(name, **fields)

    async def settle(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """`write`, also in a task that has been cancelled, for what must be written down before it goes.

        Errors: as `write`; `Unavailable` when it took longer than `settle_ms`, whatever became of it.
        """
        with trio.move_on_after(self._timings.settle_ms / 1000, shield=True):
            return await self.write(fn, *args, **kwargs)
        words = f"the ledger took longer than {self._timings.settle_ms} ms to settle"
        raise Unavailable(words, cause=Cause.LEDGER)

    def paused(self, now: int) -> bool:
        """Whether the disk was found full so often that selection and delivery should wait. `now`: wall time."""
        return self._storage.is_paused(now, self._timings.storage_retry_ms)

    def obstacle(self, now: int) -> str | None:
        """Why nothing new should be begun; None when nothing is in the way.

        `ledger_damaged`; `ledger_set_aside`: a person has to look first, see `hold`; `storage_full`.
        """
        if self.damaged is not None:
            return "ledger_damaged"
        if self._hold is not None and self._hold.stands:
            return "ledger_set_aside"
        return "storage_full" if self.paused(now) else None

    def lease_now(self, wall: int) -> int:
        """The instant by which leases are judged and written while the wall clock shows `wall`."""
        return self._lease_clock.now_ms(wall)

    def _start_lease_clock(self, newest_at: int) -> None:
        """Go on from the newest instant that the ledger had seen."""
        self._lease_clock = LeaseClock(newest_at)

    def _observe(self, wrote: bool, full: int) -> None:
        """Remember how a batch fared with the disk's room, and say when there is none any more, or again."""
        was_full = self._storage.is_full
        if wrote:
            self._storage = ROOM
        for _ in range(full):
            self._storage = self._storage.found_full(self._clock.now_ms())
        if self._storage.is_full != was_full:
            self._note("storage.room" if was_full else "storage.full", ledger=str(self.path))
