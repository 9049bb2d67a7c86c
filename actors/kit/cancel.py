"""Cancellation that carries its origin.

A `BoundedScope` is a trio cancel scope that remembers why it ended. The first origin wins; the kit cancels for real
only after it has told every scope, so "cancelled without an origin" always means "from above".
"""

import enum
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import trio

from actors.kit.errors import unwrapped

T = TypeVar("T")


class CancelOrigin(enum.Enum):
    """Who ended a run, and with it what becomes of its slot."""

    TIMEOUT = "timeout"  # the run's own deadline
    SHUTDOWN = "shutdown"  # the first step of an orderly stop
    CONSUMER = "consumer"  # whoever asked for the work no longer wants it; the verdict is already recorded
    LEASE_LOST = "lease_lost"  # another owner has the slot


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    """The run came back by itself."""

    value: T


@dataclass(frozen=True, slots=True)
class Ended:
    """The run was cancelled. `origin` None: from above, by a restart or an escalation; nobody decided about the run."""

    origin: CancelOrigin | None
    reason: str = ""
    error: BaseException | None = field(default=None, compare=False)
    """What the work raised on its way out: something for the log, no decision looks at it."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The run raised something that is not a cancellation."""

    error: BaseException


End = Finished[Any] | Ended | Crashed


class BoundedScope:
    """A cancel scope with a budget that can tell, once it has ended, who ended it.

    Enter it once, in the task that does the work; `end` and `wait_over` are for everybody else. Trio's own
    `cancelled_caught` would be the wrong test: an outer cancellation during a slow clean-up takes the exception away,
    and the deadline that had passed before it would be forgotten.
    """

    def __init__(self, timeout_ms: float = math.inf) -> None:
        self._scope = trio.CancelScope()
        self._changed = trio.lowlevel.ParkingLot()
        self._timeout_ms = timeout_ms
        self._left = False
        self.ended: Ended | None = None
        """How the scope was ended, None while nobody has ended it. The first word stands."""
        if timeout_ms != math.inf:
            self.limit(timeout_ms)

    @property
    def deadline(self) -> float:
        """On trio's clock, in seconds."""
        return self._scope.deadline

    def limit(self, timeout_ms: float) -> None:
        """Start the budget: `timeout_ms` from now."""
        self._timeout_ms = timeout_ms
        self._scope.deadline = trio.current_time() + timeout_ms / 1000
        self._changed.unpark_all()

    def end(self, origin: CancelOrigin, reason: str = "") -> bool:
        """Cancel the work in the name of `origin`; False when it was ended, or had come back, before."""
        if self._left or self.ended is not None:
            return False
        self._say(Ended(origin, reason))
        self._scope.cancel(reason=f"{origin.value}: {reason}" if reason else origin.value)
        return True

    def cut(self) -> None:
        """Note that a cancellation from above is about to come. The kit calls this before it cancels for real.

        Without the note a deadline that passes during the clean-up would turn a restart into a timeout.
        """
        if not self._left and self.ended is None:
            self._say(Ended(None, "from above"))

    async def wait_over(self) -> None:
        """Until the scope has been left, or ended, be it by its deadline; the work may still be unwinding."""
        while not self._left and self.ended is None:
            with trio.move_on_at(self.deadline) as waited:
                await self._changed.park()
            if waited.cancelled_caught and trio.current_time() >= self.deadline:
                self._say(self._timeout())

    def _timeout(self) -> Ended:
        return Ended(CancelOrigin.TIMEOUT, f"Execution timeout after {self._timeout_ms:.0f}ms")

    def _say(self, ended: Ended) -> None:
        if trio.current_time() >= self.deadline:
            ended = self._timeout()
        self.ended = ended
        self._changed.unpark_all()

    def __enter__(self) -> Self:
        self._scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if error is not None and self.ended is None and trio.current_time() >= self.deadline:
            self._say(self._timeout())
        self._left = True
        self._changed.unpark_all()
        return self._scope.__exit__(kind, error, trace)


async def run_bounded(
    scope: BoundedScope, work: Callable[[], Awaitable[object]], settle: Callable[[End], Awaitable[None]]
) -> None:
    """Do `work` inside `scope`, hand its end to `settle` whatever happened, and let a cancellation from above go on.

    Work that came back by itself has finished, even after its deadline. An error raised while the scope was being ended
    belongs to that ending, which carries it: a transport that breaks because we cancelled it is a cancellation.
    """
    end: End = Ended(None, "from above")
    try:
        with scope:
            end = Finished(await work())
    except Exception as error:
        end = Crashed(unwrapped(error))
    finally:
        if scope.ended is not None and not isinstance(end, Finished):
            end = replace(scope.ended, error=end.error)
        await settle(end)
