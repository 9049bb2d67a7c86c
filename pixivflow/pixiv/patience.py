"""Work that a cancellation should not cut in the middle, and must not wait for long either."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


async def unhurried(work: Callable[[], Awaitable[T]], patience_ms: int) -> T:
    """What `work` gives or raises. A cancellation from outside leaves it `patience_ms` to end by itself, and passes
    through afterwards."""
    running = _Running(work)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run)
        try:
            await running.over.wait()
        except trio.Cancelled:
            running.scope.deadline = trio.current_time() + patience_ms / 1000
            raise
    if running.error is not None:
        raise running.error
    return running.made[0]


class _Running(Generic[T]):
    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self.scope, self.over = trio.CancelScope(shield=True), trio.Event()
        self.made: list[T] = []
        self.error: Exception | None = None

    async def run(self) -> None:
        try:
            with self.scope:
                self.made.append(await self._work())
        except Exception as error:  # told to whoever waits, as it is and in no group
            self.error = error
        finally:
            self.over.set()
