"""The ledger without threads: each function runs at once, on the event loop's own thread.

For simulation, where a virtual clock must not leap while a thread works, and for ledgers in memory. The errors are the
same, and the two moments at which a caller can be cancelled: before its function was taken, and after it was written.
No lock file is held: whoever opens a file this way answers for being its only writer.
"""

import os
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import trio

from actors.kit import Clock
from pixivflow.errors import LedgerLost, StorageFull
from pixivflow.ledger.batch import Batch, Job, Refused, Settled, said_by
from pixivflow.ledger.check import version_found
from pixivflow.ledger.connection import BUSY_TIMEOUT_MS, connect_plain
from pixivflow.ledger.db import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.leaseclock import newest_seen
from pixivflow.ledger.migrate import migrate, shipped
from pixivflow.ledger.private import keep_private
from pixivflow.ledger.reader import read_once
from pixivflow.ledger.translate import translated
from pixivflow.times import PRODUCTION, Timings

P = ParamSpec("P")
T = TypeVar("T")


class InlineLedger(Ledger):
    """One connection for both directions; while it reads, it cannot write."""

    def __init__(
        self,
        path: Path | None,
        db: Db,
        clock: Clock,
        timings: Timings,
        note: Callable[..., None],
        point: Callable[[str], None],
    ) -> None:
        super().__init__(path, clock, timings, note)
        self._db, self._point = db, point
        self.lost: Exception | None = None
        """What made the ledger unusable."""
        self._start_lease_clock(newest_seen(db))

    async def write(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await trio.lowlevel.checkpoint()
        self._check()
        job = Job(fn, args, kwargs)
        self._run(job)
        await trio.lowlevel.checkpoint()
        value: T = job.unwrap()
        return value

    async def read(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await trio.lowlevel.checkpoint()
        self._check()
        self._db.steer("PRAGMA query_only = ON")
        try:
            value: T = read_once(self._db, fn, args, kwargs)
        finally:
            self._db.steer("PRAGMA query_only = OFF")
        return value

    def _check(self) -> None:
        if self.lost is not None:
            raise LedgerLost(f"the ledger cannot be used: {self.lost}")

    def _run(self, job: Job) -> None:
        """One function in one transaction. What came of it is in the job. Errors: `LedgerLost`."""
        try:
            end = Batch(deque([job]), self._point).alone(self._db)
        except sqlite3.Error as error:
            self.lost = error
            raise LedgerLost(f"the ledger cannot be used: {error}") from error
        if isinstance(end, Refused):
            job.error = translated(end.error)
        self._observe(isinstance(end, Settled) and end.wrote, isinstance(job.error, StorageFull))
        for told in said_by([job]):
            self._say(told)


@asynccontextmanager
async def open_inline(
    path: str | os.PathLike[str],
    *,
    clock: Clock,
    note: Callable[..., None] = lambda event, **fields: None,
    point: Callable[[str], None] = lambda name: None,
    timings: Timings = PRODUCTION,
    busy_timeout_ms: int = BUSY_TIMEOUT_MS,
) -> AsyncIterator[Ledger]:
    """The ledger at `path`, or one in memory for `:memory:`, open inside the block.

    Errors: `LedgerRefused` for a file that is not ours; `LedgerLost`, also out of the block; `sqlite3.Error`.
    """
    file = None if path == ":memory:" else Path(path)
    if file is not None:
        version_found(file, shipped()[-1].number)
        keep_private(file)
    with closing(connect_plain(path, busy_timeout_ms=busy_timeout_ms)) as db:
        migrate(db)
        ledger = InlineLedger(file, db, clock, timings, note, point)
        yield ledger
    if ledger.lost is not None:
        raise LedgerLost(f"the ledger cannot be used: {ledger.lost}") from ledger.lost
