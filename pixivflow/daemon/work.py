"""What a daemon does beyond its own walls: the work of runs, and attempts at deliveries.

The rooms that speak to other machines are imported when the first of them is needed, in a thread: the door has opened
by then, and the event loop does not wait for them.
"""

import importlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import trio

from actors.kit import Hooks
from actors.runs import LiveRun
from pixivflow.config.model import Route, Settings
from pixivflow.daemon.resolved import targets_of
from pixivflow.delivery.deferral import Unready
from pixivflow.delivery.intents import Promise
from pixivflow.delivery.model import Ack, OutboxRow
from pixivflow.delivery.pledge import Terms, pledges
from pixivflow.ids import RouteName
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.run_store import RunLedger
from pixivflow.selection.candidates import Candidates
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.coordinator import walk
from pixivflow.slots.fallback import clamped_stages
from pixivflow.slots.model import Work
from pixivflow.slots.parts import Parts
from pixivflow.slots.ports import Entry
from pixivflow.times import Timings

if TYPE_CHECKING:
    from pixivflow.daemon.outside import Outside


class AtWork:
    """The work of one daemon. `settings`: those in force; a run keeps the ones it began with."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        ledger: Callable[[], Ledger],
        hooks: Hooks,
        timings: Timings,
        environ: Mapping[str, str],
    ) -> None:
        self._settings, self._ledger, self._hooks = settings, ledger, hooks
        self._timings, self._environ = timings, environ
        self._made: Outside | None = None
        self._making = trio.Lock()

    async def execute(self, work: Work, live: LiveRun, ledger: Ledger) -> None:
        """Walk the cells of one run."""
        if live.run is None:
            raise RuntimeError(f"{work.slot.id} is not claimed")
        settings, ways = self._settings(), await self._outside()
        stages = clamped_stages(settings.download.max_fallback_stages)
        terms = Terms(
            slot=work.slot,
            started_at=live.run.started_at,
            delete_after_delivery=settings.delivery.delete_after_delivery,
        )

        def pledge(entry: Entry[WorkDetail]) -> Sequence[Promise]:
            return pledges(entry, terms, ways.size_of, lambda: str(uuid.uuid4()))

        parts = Parts(
            targets=targets_of(settings),
            selection=Candidates(ways.source, settings.download.candidate_scan_limit),
            fetcher=ways.fetcher,
            cells=RunLedger(ledger, live, self._hooks.clock, pledge, stages),
            threads=live.threads,
            started_at=live.run.started_at,
            stages=stages,
            note=self._hooks.note,
            point=self._hooks.point,
        )
        await walk(work, parts)

    async def attempt(self, row: OutboxRow) -> Ack:
        """One attempt at one row."""
        return await (await self._outside()).attempt(row)

    async def ready(self, route: RouteName) -> Unready | None:
        """Why the route takes nothing now; None when it does."""
        return await (await self._outside()).ready(route)

    async def aclose(self) -> None:
        """Close the ways out, once nobody needs them any more."""
        if self._made is not None:
            await self._made.aclose()

    async def _outside(self) -> "Outside":
        async with self._making:
            if self._made is None:
                room = await trio.to_thread.run_sync(
                    importlib.import_module, "pixivflow.daemon.outside", limiter=trio.CapacityLimiter(1)
                )
                await room.tidied(self._settings(), self._ledger(), self._hooks.clock, self._hooks.note)
                self._made = room.outside(
                    self._settings(),
                    self._ledger(),
                    self._routes,
                    clock=self._hooks.clock,
                    note=self._hooks.note,
                    environ=self._environ,
                    timings=self._timings,
                    point=self._hooks.point,
                )
        return self._made

    def _routes(self) -> Mapping[RouteName, Route]:
        return self._settings().delivery.targets
