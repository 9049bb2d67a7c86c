"""Waiting for a thread: what aiosqlite asks of a future, and what a trio task awaits."""

import contextlib
from collections.abc import Callable
from typing import Any, Self

import trio


class Traffic:
    """Counts the hops that are with a thread, and says when the first begins and the last ends.

    A thread at work looks idle to a virtual clock, which would leap over every deadline meanwhile.
    """

    def __init__(self, busy: Callable[[bool], None]) -> None:
        self._busy, self._hops = busy, 0

    def begins(self) -> None:
        """A hop sets out; on the event loop's thread."""
        self._hops += 1
        if self._hops == 1:
            self._busy(True)

    def ends(self) -> None:
        """A hop is back; on the event loop's thread."""
        self._hops -= 1
        if self._hops == 0:
            self._busy(False)


class Hop:
    """One function on its way through a connection's thread: what aiosqlite asks of a future, and a trio task awaits.

    If the task is cancelled, the function runs all the same and nobody hears of it.
    """

    __slots__ = ("_error", "_over", "_task", "_token", "_traffic", "_value", "_waiting")

    def __init__(self, traffic: Traffic) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._task = trio.lowlevel.current_task()
        self._traffic = traffic
        self._value: Any = None
        self._error: BaseException | None = None
        self._over = self._waiting = False
        traffic.begins()

    def get_loop(self) -> Self:
        return self

    def call_soon_threadsafe(self, fn: Callable[..., object], *args: object) -> None:
        with contextlib.suppress(trio.RunFinishedError):  # nobody is left to hear it
            self._token.run_sync_soon(fn, *args)

    def done(self) -> bool:
        return self._over

    def set_result(self, value: Any) -> None:
        self._value = value
        self._arrive()

    def set_exception(self, error: BaseException) -> None:
        self._error = error
        self._arrive()

    def _arrive(self) -> None:
        self._over = True
        self._traffic.ends()
        if self._waiting:
            self._waiting = False
            trio.lowlevel.reschedule(self._task)

    async def wait(self) -> Any:
        """The function's value, or its exception."""
        if not self._over:
            self._waiting = True
            await trio.lowlevel.wait_task_rescheduled(self._abandon)
        if self._error is not None:
            raise self._error
        return self._value

    def _abandon(self, _: object) -> trio.lowlevel.Abort:
        self._waiting = False
        return trio.lowlevel.Abort.SUCCEEDED
