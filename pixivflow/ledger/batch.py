"""One batch: many ledger functions, one fsync. It runs whole on the writer's thread; the event loop is not involved.

    BEGIN IMMEDIATE ── refused ──> Refused      nothing was taken
        │
        ├─ SAVEPOINT, function, RELEASE         an exception rolls back to its savepoint and waits for its caller
        ├─ SAVEPOINT, function, RELEASE         functions that arrive while the batch runs ride along
        │      └── SQLite ended the transaction ──> Broken
        │
    COMMIT ── failed ──> Broken                 nothing of it was kept: each function runs again, alone
        │
        └──> Settled                            only now may anybody be told

SQLite ends a whole transaction by itself when the disk is full, and on `OR ROLLBACK`; a deferred foreign key passes its
savepoint and fails everybody's COMMIT. A function may hide such an error, so the transaction itself is asked each time.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, Final

import msgspec
import trio

from pixivflow.ledger.db import Db, Told, TransactionEnded, Wheel, name_of
from pixivflow.ledger.translate import BUSY, FATAL, code_of, translated

BATCH_FUNCTIONS: Final = 128
"""A batch ends after this many functions, so that no caller waits behind an endless queue."""

BATCH_S: Final = 0.010
"""A batch takes no further function after this much work, in seconds."""


class Job:
    """One ledger function on its way: what to call, who waits for it, and once it was called, what came of it."""

    __slots__ = ("args", "error", "fn", "kwargs", "task", "told", "value")

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn, self.args, self.kwargs = fn, args, kwargs
        self.task: trio.lowlevel.Task | None = None
        self.value: Any = None
        self.error: BaseException | None = None
        self.told: tuple[Told, ...] = ()

    def unwrap(self) -> Any:
        """The function's value, or its error. This is all that trio asks of the outcome it sends to a waiting task."""
        if self.error is None:
            return self.value
        error, self.error = self.error, None  # its traceback holds this job, which must not hold it in turn
        try:
            raise error
        finally:
            del error


class Refused(msgspec.Struct, frozen=True):
    """BEGIN was refused, mostly because another process writes. Nothing was taken."""

    error: sqlite3.Error


class Settled(msgspec.Struct, frozen=True):
    """The jobs are over; those without an error are on the disk. `wrote`: the commit changed something."""

    jobs: list[Job]
    wrote: bool


class Broken(msgspec.Struct, frozen=True):
    """The transaction is gone, with all that the jobs did. Each must run again, alone."""

    jobs: list[Job]


class Batch:
    """Takes jobs from the queue. `taken` are those whose functions were called; nobody can call them back."""

    def __init__(self, queue: deque[Job], point: Callable[[str], None]) -> None:
        self._queue, self._point = queue, point
        self.taken: list[Job] = []

    def together(self, db: Db) -> Refused | Settled | Broken:
        """Run what is queued in one transaction.

        Errors: what makes the ledger unusable, as SQLite raised it; the fate of `taken` is then unknown.
        """
        if (refused := begin(db)) is not None:
            return refused
        wheel, changes, end = Wheel(db), db.total_changes, perf_counter() + BATCH_S
        while (job := self._take()) is not None:
            if not ran_in_savepoint(db, wheel, job):
                return Broken(self.taken)
            if len(self.taken) >= BATCH_FUNCTIONS or perf_counter() >= end:
                break
        if self._failed_commit(db) is not None:
            return Broken(self.taken)
        return Settled(self.taken, wrote=db.total_changes != changes)

    def alone(self, db: Db) -> Refused | Settled:
        """Run the first of the queue in a transaction of its own. Errors: as `together`."""
        if (refused := begin(db)) is not None:
            return refused
        changes = db.total_changes
        if (job := self._take()) is not None:
            run(db, job)
            if job.error is None:
                job.error = self._failed_commit(db) if db.in_transaction else TransactionEnded(hidden_by(job))
        roll_back(db)
        wrote = job is not None and job.error is None and db.total_changes != changes
        return Settled(self.taken, wrote=wrote)

    def _take(self) -> Job | None:
        """The next job. From here on its function is called, even if its caller is cancelled."""
        try:
            job = self._queue.popleft()
        except IndexError:
            return None
        self.taken.append(job)
        return job

    def _failed_commit(self, db: Db) -> BaseException | None:
        """Commit. If SQLite would not, roll back and say why."""
        self._point("ledger.before_commit")
        try:
            db.steer("COMMIT")
        except sqlite3.Error as error:
            raise_fatal(error)
            roll_back(db)
            return translated(error)
        self._point("ledger.after_commit")
        return None


def begin(db: Db) -> Refused | None:
    """Begin as a writer. Reading first and writing later would fail at once when another process wrote in between."""
    try:
        db.steer("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        if code_of(error) in BUSY or code_of(error) == sqlite3.SQLITE_FULL:
            return Refused(error)
        raise
    return None


def ran_in_savepoint(db: Db, wheel: Wheel, job: Job) -> bool:
    """Run one job among others; False when SQLite ended the transaction under it."""
    wheel.set()
    run(db, job)
    if not db.in_transaction:
        return False
    if job.error is not None:
        wheel.back()
    wheel.drop()
    return True


def run(db: Db, job: Job) -> None:
    """Call the job's function and keep what came of it. Errors: what makes the ledger unusable."""
    try:
        job.value, job.error = db.call(job.fn, *job.args, **job.kwargs), None
        job.told = db.told()
    except BaseException as error:
        raise_fatal(error)
        job.error = translated(error)


def raise_fatal(error: BaseException) -> None:
    """Let errors out after which nothing that this connection says can be trusted."""
    if code_of(error) in FATAL:
        raise error


def roll_back(db: Db) -> None:
    """Roll back what is left of the transaction, if anything is."""
    if db.in_transaction:
        db.steer("ROLLBACK")


def hidden_by(job: Job) -> str:
    """The message for a function that swallowed the error which ended its transaction."""
    return f"{name_of(job.fn)} hid an error that ended its transaction"


def said_by(jobs: Iterable[Job]) -> list[Told]:
    """What jobs that are on the disk want to have said. Look before their callers unwrap them."""
    return [told for job in jobs if job.error is None for told in job.told]
