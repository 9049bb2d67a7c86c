"""The home of slot runs: their registry, their lanes, and an actor of their own as whose temporary children they live.

So they outlive a restart of `slot_runner`. If a run dies, it is noted and its entry and permit are freed; nobody
restarts it, recovery finds its slot again. If this actor dies, the runs are cancelled from above and released, and
offers are refused until it is back.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import assert_never

import trio

from actors.kit import BoundedScope, Context, Crashed, End, Ended, Finished, unwrapped
from actors.ports import Busy, Lost, Run, Settled


@dataclass(eq=False, slots=True)
class LiveRun:
    """A run's entry in the registry, and what its execution is given of it."""

    busy: Busy
    scope: BoundedScope = field(default_factory=BoundedScope)
    threads: trio.CapacityLimiter = field(default_factory=lambda: trio.CapacityLimiter(8))
    """For the run's own blocking calls: a thread that never returns takes nothing from the next run."""
    run: Run | None = None
    """Known once the slot is claimed."""
    settling: bool = False
    """The run is writing down how it ended."""
    revoked: bool = False
    """The run was given up and may write nothing any more."""


class Runs:
    """The live runs by slot, and the permits of their lanes, given out in the order of asking.

    An entry stands from `spawn` until its run has returned or was given up. A run that was given up keeps only its
    task, which nobody waits for and whose late errors are notes.
    """

    def __init__(self) -> None:
        self._live: dict[str, LiveRun] = {}
        self._lanes: dict[str, trio.CapacityLimiter] = {}
        self._nursery: trio.Nursery | None = None

    @property
    def live(self) -> dict[str, LiveRun]:
        """The entries now; changing the copy changes nothing."""
        return dict(self._live)

    @property
    def taking(self) -> bool:
        """Whether `spawn` may be called: not before the start, nor once the stop has begun."""
        return self._nursery is not None

    def spawn(self, live: LiveRun, run: Callable[[Context], Awaitable[None]]) -> None:
        """Enter `live` and start `run`.

        Errors: `RuntimeError` when nothing is taken, or a run of this slot is live.
        """
        if self._nursery is None or live.busy.slot in self._live:
            raise RuntimeError(f"{live.busy.slot} cannot run now")
        self._live[live.busy.slot] = live
        self._nursery.start_soon(self._run, self._context, live, run)

    async def permit(self, live: LiveRun, capacity: int) -> None:
        """One of the `capacity` permits of the run's lane, after everybody who asked before.

        A larger capacity is seen at once; a smaller one takes no permit away.
        """
        lane = self._lanes.setdefault(live.busy.lane, trio.CapacityLimiter(capacity))
        lane.total_tokens = capacity
        await lane.acquire_on_behalf_of(live)

    def give_up(self, live: LiveRun) -> None:
        """Free the run's entry, and with it its plan, and its permit. Doing it twice changes nothing."""
        if self._live.get(live.busy.slot) is live:
            del self._live[live.busy.slot]
        lane = self._lanes.get(live.busy.lane)
        if lane is not None and live in lane.statistics().borrowers:
            lane.release_on_behalf_of(live)

    async def actor(self, context: Context) -> None:
        """Its own life: until it is told to stop and every run has returned."""
        async with trio.open_nursery() as nursery:
            self._nursery, self._context = nursery, context
            try:
                context.started()
                await context.wait_stopping()
            finally:
                self._nursery = None

    async def _run(self, context: Context, live: LiveRun, run: Callable[[Context], Awaitable[None]]) -> None:
        try:
            with context.inner(f"{context.name}/{live.busy.slot}") as inner:
                await run(inner)
        except* Exception as group:  # a cancellation beside it goes on upward
            context.note("run.failed", slot=live.busy.slot, error=unwrapped(group))
        finally:
            self.give_up(live)


def told(end: End) -> dict[str, object]:
    """How a run ended, as fields of a log line."""
    match end:
        case Finished(value=Lost()):
            return {"end": "lost"}
        case Finished(value=Settled(status)):
            return {"end": "settled", "status": status}
        case Finished():
            return {"end": "finished"}
        case Ended(origin, reason, error):
            kept = {"reason": reason, "error": error}
            return {"end": origin.value if origin else "cancelled"} | {key: kept[key] for key in kept if kept[key]}
        case Crashed(error):
            return {"end": "crashed", "error": error}
        case _:
            assert_never(end)
