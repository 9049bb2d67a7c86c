"""The one writer of a ledger: tasks queue functions, its thread takes them in batches, tasks are woken after COMMIT.

    write() ──append──> queue ──popleft, on the thread──> Batch ── Settled ──> its tasks are woken
      │ cancelled before it was taken: removed              ├───── Broken ───> taken again, one by one, each alone
      │ cancelled afterwards: written, and nobody hears     └───── Refused ──> the same queue again, until patience ends

Two threads share the queue. `append`, `popleft` and `remove` of a deque are atomic, so whoever gets a function out of
it decides: the thread, which runs it, or the cancelled task, and then it never runs.
"""

import contextlib
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable
from typing import Concatenate, Final, ParamSpec, TypeVar

import trio

from pixivflow.errors import LedgerLost, StorageFull
from pixivflow.ledger.batch import Batch, Broken, Job, Refused, Settled, said_by
from pixivflow.ledger.connection import Carrier
from pixivflow.ledger.db import Db, Told
from pixivflow.ledger.translate import BUSY, code_of, translated

P = ParamSpec("P")
T = TypeVar("T")

REFUSED_PAUSE_S: Final = 0.05
"""Between two tries of BEGIN, each of which has waited SQLite's own busy timeout."""

Observe = Callable[[bool, int], None]
"""Hears of each batch: whether it changed the file, and how many of its functions found no room."""

Say = Callable[[Told], None]
"""Says what is on the disk now."""


class Writer:
    """Queues and writes from `run` until `close`, or until something makes the ledger unusable."""

    def __init__(
        self, carrier: Carrier, *, point: Callable[[str], None], observe: Observe, say: Say,
        is_there: Callable[[], bool], patience_ms: int,
    ) -> None:  # fmt: skip
        self._carrier, self._point, self._observe, self._say = carrier, point, observe, say
        self._is_there, self._patience_s = is_there, patience_ms / 1000
        self._queue: deque[Job] = deque()
        self._again: deque[Job] = deque()
        self._flying: Batch | None = None
        self._parked: trio.lowlevel.Task | None = None
        self._refused_at: float | None = None
        self._closing = self._cut = False
        self.refusal: str | None = None
        """Why nothing can be queued any more."""

    async def write(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """`fn`'s value, once what it did is on the disk.

        Cancelled before `fn` was taken, nothing happens; afterwards it is written and the caller does not hear of it.
        Errors: `fn`'s own; `StorageFull`, `Unavailable`, `LedgerLost`.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self.refusal is not None:
            raise LedgerLost(self.refusal)
        job = Job(fn, args, kwargs)
        job.task = trio.lowlevel.current_task()
        self._queue.append(job)
        self._wake()
        return await trio.lowlevel.wait_task_rescheduled(lambda _: self._forget(job))  # type: ignore[no-any-return]

    async def run(self) -> None:
        """Write batch after batch until closed and empty.

        Errors: whatever made the ledger unusable; by then everybody who waited has been told `LedgerLost`.
        """
        try:
            while await self._has_work():
                await self._next_batch()
        except BaseException as error:
            self.refusal = reason = f"the ledger's writer is gone: {error!r}"
            if self._flying is not None:
                self._tell_each(self._flying.taken, lambda: LedgerLost(reason))
            self._tell_each(self._waiting(), lambda: LedgerLost(reason))
            raise

    def close(self, last: Callable[[Db], None] | None = None) -> None:
        """Take nothing new; `run` returns once everything is written, `last` after all the rest."""
        if last is not None and self.refusal is None:
            self._queue.append(Job(last, (), {}))
        self.refusal = self.refusal or "the ledger is closed"
        self._closing = True
        self._wake()

    def cut(self) -> None:
        """End the statement that runs now. A batch that breaks over it is given up rather than run again."""
        self._cut = True
        self._carrier.interrupt_now()

    async def _has_work(self) -> bool:
        while not (self._queue or self._again):
            if self._closing:
                return False
            self._parked = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._unpark)
        return True

    async def _next_batch(self) -> None:
        """One hop to the thread, and what follows from its end."""
        batch = self._flying = Batch(self._again or self._queue, self._point)
        end = await self._carrier.run(self._findable, batch.alone if self._again else batch.together)
        self._flying = None
        if not isinstance(end, Refused):
            self._refused_at = None
        match end:
            case Settled(jobs=jobs, wrote=wrote):
                said = said_by(jobs)
                self._observe(wrote, self._tell(jobs))
                for told in said:
                    self._say(told)
                await self._let_queue(len(jobs))
            case Broken(jobs=jobs) if not self._cut:
                self._again.extend(jobs)
            case Broken(jobs=jobs):
                self._tell_each(jobs, lambda: LedgerLost("cut short by the ledger's end; nothing of it was kept"))
            case Refused(error=error):
                await self._wait_for_turn(error)

    def _findable(self, db: Db, run: Callable[[Db], Refused | Settled | Broken]) -> Refused | Settled | Broken:
        """What `run` came to, on the writer's thread: a disk that does not answer must not keep the event loop.

        Errors: `LedgerLost` when it wrote to a file that does not stand in its place any more.
        """
        end = run(db)
        if isinstance(end, Settled) and end.wrote and not self._is_there():
            raise LedgerLost("its file was removed or replaced, and nobody will find what was written since")
        return end

    async def _wait_for_turn(self, error: sqlite3.Error) -> None:
        """After a refused BEGIN: try again later, or tell everybody who waits once patience has ended."""
        now = trio.current_time()
        self._refused_at = now if self._refused_at is None else self._refused_at
        if code_of(error) in BUSY and now < self._refused_at + self._patience_s:
            await trio.sleep(REFUSED_PAUSE_S)
            return
        self._refused_at = None
        self._observe(False, self._tell_each(self._waiting(), lambda: translated(error)))

    async def _let_queue(self, woken: int) -> None:
        """Let the woken go on before the next batch begins, since most write again and would miss it.

        Twice: trio runs the tasks of one round in either direction, so ours may have been the first of them.
        """
        full = len(self._queue) + woken
        for _ in range(2):
            if len(self._queue) < full:
                await trio.lowlevel.cancel_shielded_checkpoint()

    def _tell(self, jobs: Iterable[Job]) -> int:
        """Wake the tasks that wait for these jobs; how many found no room."""
        full = 0
        for job in jobs:
            if job.error is not None and isinstance(job.error, StorageFull):
                full += 1
            if job.task is not None:
                trio.lowlevel.reschedule(job.task, job)  # type: ignore[arg-type]  # see Job.unwrap
        return full

    def _tell_each(self, jobs: list[Job], error: Callable[[], BaseException]) -> int:
        """Wake the tasks that wait for these jobs, each with an error of its own; how many found no room.

        The word goes out in a job made for it: a thread that hangs may still write into the one it has taken.
        """
        words = [Job(job.fn, (), {}) for job in jobs]
        for word, job in zip(words, jobs, strict=True):
            word.task, word.error = job.task, error()
        return self._tell(words)

    def _waiting(self) -> list[Job]:
        """Everything that is still queued, taken out of the queues."""
        waiting = [*self._again, *self._queue]
        self._again.clear()
        self._queue.clear()
        return waiting

    def _forget(self, job: Job) -> trio.lowlevel.Abort:
        job.task = None
        with contextlib.suppress(ValueError):  # the thread has it already
            self._queue.remove(job)
        return trio.lowlevel.Abort.SUCCEEDED

    def _wake(self) -> None:
        if self._parked is not None:
            trio.lowlevel.reschedule(self._parked)
            self._parked = None

    def _unpark(self, _: object) -> trio.lowlevel.Abort:
        self._parked = None
        return trio.lowlevel.Abort.SUCCEEDED
