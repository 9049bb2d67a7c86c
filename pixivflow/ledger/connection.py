"""Connections to the ledger file, as production uses them. This module alone knows which driver carries them.

The driver is aiosqlite: a thread for each connection, which takes functions from a queue. It makes an asyncio future
for each of them; `Carrier` hands it a `Hop` instead, so that a trio task can wait for the thread without any asyncio
loop. The names this leans on are private to aiosqlite: hence the narrow version, and a test that fails when they move.
"""

import os
import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

import aiosqlite
import aiosqlite.core
import trio

from pixivflow.ledger.db import Db
from pixivflow.ledger.hop import Hop, Traffic

__all__ = ["Carrier", "Db", "carried", "connect_plain"]

P = ParamSpec("P")
T = TypeVar("T")

BUSY_TIMEOUT_MS: Final = 5_000
"""How long SQLite itself waits for another process's lock before it refuses; the slot lease is 36 times that."""

CHECKPOINT_PAGES: Final = 1_000
"""The daemon's writer checkpoints once the write-ahead log holds this many pages; nobody else does while it lives."""

JOURNAL_BYTES: Final = 64 * 1024 * 1024
"""After a checkpoint no more than this is left of the write-ahead log."""


def connect_plain(
    path: str | os.PathLike[str], *, checkpoint_pages: int = 0, busy_timeout_ms: int = BUSY_TIMEOUT_MS
) -> Db:
    """A synchronous connection with the production pragmas, for exports, the inline driver and tests of functions.

    `path`: a file, or `:memory:`. Errors: `sqlite3.Error` as SQLite raises it.
    """
    db = sqlite3.connect(path, factory=Db, isolation_level=None, cached_statements=512)
    try:
        for statement in pragmas(checkpoint_pages, busy_timeout_ms):
            db.steer(statement)
    except BaseException:
        db.close()
        raise
    return db


def pragmas(checkpoint_pages: int, busy_timeout_ms: int) -> tuple[str, ...]:
    """What every connection is told first. The waiting time comes before anything that could have to wait."""
    return (
        f"PRAGMA busy_timeout = {busy_timeout_ms}",
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "PRAGMA fullfsync = ON",  # macOS: without it an fsync stops at the drive's cache; elsewhere it says nothing
        "PRAGMA foreign_keys = ON",
        "PRAGMA temp_store = MEMORY",  # or what savepoints keep for their way back goes to files, on another disk
        f"PRAGMA wal_autocheckpoint = {checkpoint_pages}",
        f"PRAGMA journal_size_limit = {JOURNAL_BYTES}",
    )


class Carrier(aiosqlite.Connection):
    """One connection on a thread of its own: `carried` opens it, `end_within` closes it.

    The thread is a daemon: a function that hangs cannot keep the process. With the three methods of aiosqlite that made
    futures replaced here, all the others work under trio as they are.
    """

    def __init__(self, connector: Callable[[], Db], traffic: Traffic, name: str) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._traffic = traffic
        self._thread.daemon, self._thread.name = True, name

    async def run(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `fn` with the connection, on its thread: however many statements, one hop."""
        value: T = await self._execute(fn, self._conn, *args, **kwargs)
        return value

    def interrupt_now(self) -> None:
        """End the SQL statement that is running, if one is."""
        if self._connection is not None:
            self._connection.interrupt()

    async def end_within(self, patience_ms: int) -> bool:
        """Cut the statement that runs, if any, and close. False: the thread hangs and ends after its function."""
        self.interrupt_now()
        with trio.move_on_after(patience_ms / 1000, shield=True):
            await self.close()
            return True
        return False

    async def close(self) -> None:
        """Close after what is queued, and end the thread."""
        if self._connection is None:
            return
        try:
            await self.run(close_whole)
        finally:
            self._connection = None
            self.stop()

    def stop(self) -> None:
        """Close the connection and end the thread, after what is queued; a thread that hangs ends with the process."""
        self._running = False
        self._tx.put_nowait((None, self._close_and_end))

    async def _connect(self) -> Self:
        try:
            await self._submit(self._connect_here)
        except BaseException:
            self.stop()
            raise
        return self

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not self._running or self._connection is None:
            raise ValueError("this connection is closed")
        return await self._submit(partial(fn, *args, **kwargs))

    async def _submit(self, fn: Callable[[], Any]) -> Any:
        hop = Hop(self._traffic)
        self._tx.put_nowait((hop, fn))  # type: ignore[arg-type]  # a Hop is all that the thread asks of a future
        return await hop.wait()

    def _connect_here(self) -> None:
        self._connection = self._connector()

    def _close_and_end(self) -> object:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        return aiosqlite.core._STOP_RUNNING_SENTINEL


def close_whole(db: Db) -> None:
    """Close; the last connection of all brings the log into the file.

    An interruption that met no statement would break that off, hence a statement for it to be forgotten over.
    """
    db.steer("SELECT 1")
    db.close()


async def carried(connector: Callable[[], Db], traffic: Traffic, name: str = "ledger") -> Carrier:
    """A connection that `connector` makes on a new thread of that name.

    Errors: what `connector` raises; the thread has then ended.
    """
    carrier = Carrier(connector, traffic, name)
    await carrier
    return carrier
