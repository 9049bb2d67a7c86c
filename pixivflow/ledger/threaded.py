"""The ledger with its two threads: one writes, one reads, the event loop waits for neither.

Start: lock, look, open, migrate, check, mark as open. The end, in this order:

    1. nothing new is taken; what is queued is written             within 2 s, else the running statement is cut
    2. the last write removes the mark: this end was orderly
    3. reader closed, log checkpointed (daemon), writer closed     each within its time
    4. lock given back, unless a thread hangs that might still write: then it goes with the process
"""

import os
import secrets
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec
import trio

from actors.kit import Clock
from pixivflow.errors import LedgerLost, PixivflowError, StorageFull
from pixivflow.ledger.attendant import Attendant
from pixivflow.ledger.check import finding, mark_closed, mark_open
from pixivflow.ledger.connection import CHECKPOINT_PAGES, carried
from pixivflow.ledger.db import Db
from pixivflow.ledger.hop import Traffic
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.lockfile import LockFile
from pixivflow.ledger.opening import Opening
from pixivflow.ledger.reader import connect_reader, read_once
from pixivflow.ledger.writer import Writer
from pixivflow.times import Timings

P = ParamSpec("P")
T = TypeVar("T")

DRAIN_MS: Final = 2_000
"""What the writer gets to write what is queued when the ledger closes."""

CUT_MS: Final = 300
"""What an interrupted statement gets to come back; then its thread is given up."""

SOUND_SQLITE: Final = (3, 51, 3)
"""From 3.7.0 to just before it, a checkpoint that meets another connection's commit can, rarely, harm the file."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """How a ledger is opened: see `open_ledger`."""

    clock: Clock
    note: Callable[..., None]
    point: Callable[[str], None]
    busy: Callable[[bool], None]
    timings: Timings
    daemon: bool
    busy_timeout_ms: int


class ThreadedLedger(Ledger):
    """The ledger at `path`. `open` it, and whatever came of that, `close` it."""

    def __init__(self, path: Path, terms: Terms) -> None:
        super().__init__(path, terms.clock, terms.timings, terms.note)
        self.block = trio.CancelScope()
        """Cancelled when the writer dies: around whatever uses the ledger."""
        self.lost: Exception | None = None
        """What the writer died of."""
        self._path, self._terms = path, terms
        self._traffic = Traffic(terms.busy)
        self._end = AsyncExitStack()
        self._cut = self._hung = False
        self._owner = f"{os.getpid()}-{secrets.token_hex(4)}"

    def write(
        self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]:
        return self._writer.write(fn, *args, **kwargs)  # no coroutine around it: everybody comes by here

    async def read(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._writer.refusal is not None:
            raise LedgerLost(self._writer.refusal)
        value: T = await self._reader.run(read_once, fn, args, kwargs)
        return value

    async def open(self) -> None:
        """Errors: `LedgerRefused`, `Unavailable`, `StorageFull`, `LedgerLost`."""
        opening = await self._open_writer()
        await self._open_reader()
        self._writer = Writer(
            self._carrier,
            point=self._terms.point,
            observe=self._observe,
            say=self._say,
            is_there=partial(is_file, self._path, file_at(self._path)),
            patience_ms=self._terms.timings.busy_retry_ms,
        )
        self._writing = Attendant(self._write_on)
        self._end.push_async_callback(self._drain)
        await self._mark_open()
        self._announce(opening)
        if self._terms.daemon and not opening.checked:
            self._end.push_async_callback(Attendant(self._check).end)

    async def close(self) -> None:
        """In order, and within bounds whatever hangs. Call it shielded."""
        await self._end.aclose()

    async def _open_writer(self) -> Opening:
        lock = LockFile(self._path)
        self._end.callback(lambda: None if self._hung else lock.close())
        alone = lock.try_exclusive()
        if not alone:
            await lock.share(self._terms.busy_timeout_ms)
        opening = Opening(
            self._path,
            lock,
            daemon=self._terms.daemon,
            alone=alone,
            checkpoint_pages=CHECKPOINT_PAGES if self._terms.daemon else 0,
            busy_timeout_ms=self._terms.busy_timeout_ms,
            now=self._clock.now_ms(),
        )
        self._carrier = await carried(opening.connect, self._traffic, "ledger-writer")
        self._end.push_async_callback(self._close_writer)
        if alone:
            await lock.share(self._terms.busy_timeout_ms)
        self.set_aside, self.damaged = opening.set_aside, opening.damaged
        self._start_lease_clock(opening.newest_at)
        return opening

    async def _open_reader(self) -> None:
        self._reader = await carried(self._connect_reader, self._traffic, "ledger-reader")
        self._end.push_async_callback(self._reader.end_within, CUT_MS)

    def _connect_reader(self) -> Db:
        return connect_reader(self._path, self._terms.busy_timeout_ms)

    async def _mark_open(self) -> None:
        with suppress(StorageFull):  # a full disk is no reason not to serve what can be read
            await self.write(mark_open, self._owner, self._clock.now_ms())

    def _announce(self, opening: Opening) -> None:
        """Note what was found."""
        note = self._note
        note("ledger.opened", path=str(self._path), sqlite=sqlite3.sqlite_version, left_open=opening.left_open)
        if sqlite3.sqlite_version_info < SOUND_SQLITE:
            note("ledger.sqlite_old", version=sqlite3.sqlite_version, sound_from=".".join(map(str, SOUND_SQLITE)))
        if opening.set_aside_for is not None:
            note("ledger.set_aside", path=str(self.set_aside or self._path), reason=opening.set_aside_for)
        if self._hold is not None and (why := self._hold.why) is not None:
            note("ledger.held", remove=str(self._hold.path), reason=why)
        if opening.exposed:
            note("ledger.exposed", paths=[str(each) for each in opening.exposed])
        if self.damaged is not None:
            note("ledger.damaged", finding=self.damaged)

    async def _write_on(self) -> None:
        """The writer's task. Its death ends the block."""
        try:
            await self._writer.run()
        except Exception as error:
            self.lost = error
            self._note("ledger.lost", error=error)
            self.block.cancel()

    async def _check(self) -> None:
        """The check of a file that already serves, on a connection of its own."""
        try:
            connection = await carried(self._connect_reader, self._traffic, "ledger-check")
            try:
                self.damaged = await connection.run(finding)
            finally:
                await connection.end_within(CUT_MS)
        except (PixivflowError, sqlite3.Error) as error:
            self._note("ledger.unchecked", error=error)
        if self.damaged is not None:
            self._note("ledger.damaged", finding=self.damaged)

    async def _drain(self) -> None:
        """Write what is queued, and last that this was an orderly end; a damaged file keeps its mark, to be checked."""
        self._writer.close(None if self.damaged is not None else partial(mark_closed, owner=self._owner))
        if await self._writing.wait_over(DRAIN_MS):
            return
        self._cut = True
        self._note("ledger.cut")
        self._writer.cut()
        if not await self._writing.wait_over(CUT_MS):
            await self._writing.end()

    async def _close_writer(self) -> None:
        if self._terms.daemon and self.lost is None and not self._cut:
            with trio.move_on_after(CUT_MS / 1000), suppress(sqlite3.Error):  # the log keeps what the file has not got
                await self._carrier.run(checkpoint)
        if not await self._carrier.end_within(CUT_MS, is_cut=self._cut):
            self._hung = True
            self._note("ledger.hung")


def file_at(path: Path) -> tuple[int, int] | None:
    """Which file stands at `path`: its device and number; None for none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_file(path: Path, file: tuple[int, int] | None) -> bool:
    """Whether `file` still stands at `path`."""
    return file_at(path) == file


def checkpoint(db: Db) -> None:
    """Bring the whole log into the file and cut it to nothing, unless somebody else still reads from it."""
    db.steer("PRAGMA busy_timeout = 0")
    db.steer("PRAGMA wal_checkpoint(TRUNCATE)")
