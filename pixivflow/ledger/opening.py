"""The first minutes of a ledger, on its writer's thread: look, open, bring to the newest schema, check.

foreign or newer file ──────────────────> LedgerRefused, untouched
CORRUPT, NOTADB, lost; daemon, alone ───> moved aside, a new ledger in its place, and a hold on work
CORRUPT, NOTADB, lost otherwise ────────> LedgerRefused
cannot be opened (folder, permissions) ─> LedgerRefused
BUSY, FULL, IOERR ──────────────────────> as everywhere; never set aside: the file may be perfectly well

Lost: it holds nothing, or is gone, and yet a ledger has been here. The lock file keeps the proof of that.
"""

import sqlite3
from pathlib import Path

from pixivflow.errors import Cause, LedgerRefused, Unavailable
from pixivflow.ledger.check import (
    CHECKED_FIRST_BYTES,
    Lost,
    finding,
    forget_left_open,
    has_log,
    set_aside,
    version_found,
)
from pixivflow.ledger.connection import connect_plain
from pixivflow.ledger.db import Db
from pixivflow.ledger.hold import Hold
from pixivflow.ledger.leaseclock import newest_seen
from pixivflow.ledger.lockfile import LockFile
from pixivflow.ledger.migrate import migrate, shipped
from pixivflow.ledger.private import keep_private
from pixivflow.ledger.translate import DAMAGED, code_of, translated

UNUSABLE = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})


class Opening:
    """Opens one ledger for writing; `connect` runs on the thread that will use it, and what it found stays here.

    `alone`: nobody else has the file; only then may it be changed in ways that others would not survive.
    """

    def __init__(
        self,
        path: Path,
        lock: LockFile,
        *,
        daemon: bool,
        alone: bool,
        checkpoint_pages: int,
        busy_timeout_ms: int,
        now: int,
    ) -> None:
        self.path, self._lock, self._daemon, self._alone, self._now = path, lock, daemon, alone, now
        self._checkpoint_pages, self._busy_timeout_ms = checkpoint_pages, busy_timeout_ms
        self.set_aside: Path | None = None
        """Where a ledger that could not be used was moved, if anything was left of it."""
        self.set_aside_for: str | None = None
        """Why a new one was begun."""
        self.left_open = 0
        """How many processes had the ledger open and did not close it in order."""
        self.checked = False
        self.damaged: str | None = None
        """What the check found, if it was made here."""
        self.newest_at = 0
        self.exposed: list[Path] = []
        """Files of the ledger that others than their owner may read, and that this process may not change."""

    def connect(self) -> Db:
        """The connection, ready for use. Errors: `LedgerRefused`, `Unavailable`, `StorageFull`, `LedgerLost`."""
        try:
            return self._open()
        except (sqlite3.Error, Lost) as error:
            unusable = isinstance(error, Lost) or code_of(error) in DAMAGED
            if not unusable or not (self._daemon and self._alone) or self.set_aside_for is not None:
                raise self._refusal(error) from error
            self.set_aside_for = str(error)
        Hold(self.path).place(self.set_aside_for, self._now)  # first, or a kill would leave an empty ledger without it
        self.set_aside = set_aside(self.path, self._now)
        return self.connect()

    def _open(self) -> Db:
        steps = shipped()
        newest = steps[-1].number
        version = version_found(self.path, newest, in_use=not self._alone)
        if version == 0 and self.set_aside_for is None and (self._lock.has_seen_a_ledger or has_log(self.path)):
            raise Lost("it holds nothing" if self.path.exists() else "it is gone")
        if 0 < version < newest and not self._alone:
            raise Unavailable(f"{self.path} needs a newer schema, and another process has it open", cause=Cause.LEDGER)
        self.exposed = keep_private(self.path)
        db = connect_plain(self.path, checkpoint_pages=self._checkpoint_pages, busy_timeout_ms=self._busy_timeout_ms)
        try:
            self._insist_on_log(db)
            migrate(db, steps)
            self._look_back(db)
            self._lock.note_a_ledger()
        except BaseException:
            db.close()
            raise
        return db

    def _insist_on_log(self, db: Db) -> None:
        """Some network file systems cannot keep a write-ahead log; SQLite then goes on without one in silence."""
        if db.steer("PRAGMA journal_mode") != [("wal",)]:
            raise LedgerRefused(self.path, "its file system cannot keep a write-ahead log beside it")

    def _look_back(self, db: Db) -> None:
        """What the last use of the file left: its clock, and marks of an end that was not orderly."""
        self.newest_at = newest_seen(db)
        if not (self._daemon and self._alone):
            return  # the marks may belong to the living
        self.left_open = forget_left_open(db)
        if self.left_open and self.path.stat().st_size < CHECKED_FIRST_BYTES:
            self.damaged, self.checked = finding(db), True

    def _refusal(self, error: sqlite3.Error | Lost) -> BaseException:
        if isinstance(error, Lost):
            begin = f"the daemon says so and begins a new one; to begin anew on purpose, remove {self._lock.path} too"
            return LedgerRefused(self.path, f"{error}, but a ledger has been here: put it back, or {begin}")
        if code_of(error) in DAMAGED:
            return LedgerRefused(self.path, f"it cannot be read: {error}")
        if code_of(error) in UNUSABLE:
            return LedgerRefused(self.path, f"it cannot be opened for writing: {error}")
        return translated(error)
