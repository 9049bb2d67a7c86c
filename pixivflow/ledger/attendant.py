"""A task beside the caller's own, for work that must outlast the caller's cancellation and is ended by name."""

from collections.abc import Awaitable, Callable

import trio


class Attendant:
    """Runs `work` until it returns, or until `end`. Nothing that cancels the caller reaches it.

    A child of the caller's nursery would be cancelled together with the tasks that still have to settle through the
    ledger. Whoever starts an attendant ends it; `work` must handle its own errors.
    """

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._scope = trio.CancelScope()
        self._over = trio.Event()
        trio.lowlevel.spawn_system_task(self._run)

    async def wait_over(self, within_ms: int) -> bool:
        """Wait until the work has returned; False when it has not after `within_ms`."""
        with trio.move_on_after(within_ms / 1000):
            await self._over.wait()
        return self._over.is_set()

    async def end(self) -> None:
        """Cancel the work and wait until it is gone."""
        self._scope.cancel()
        await self._over.wait()

    async def _run(self) -> None:
        try:
            with self._scope:
                await self._work()
        finally:
            self._over.set()
