"""What a daemon does beyond its own walls: the work of runs, and attempts at deliveries.

The rooms that speak to other machines are imported when the first of them is needed, in a thread: the door has opened
by then, and the event loop does not wait for them.
"""

import importlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from pixivflow.observe.log import inherited
from pixivflow.observe.structured import load
from pixivflow.selection.candidates import Candidates
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.coordinator import walk
from pixivflow.slots.model import Work
from pixivflow.slots.parts import Parts
from pixivflow.slots.ports import Entry
from pixivflow.times import Timings

if TYPE_CHECKING:
    from pixivflow.daemon.outside import ToPixiv, ToReceivers


class AtWork:
    """The work of one daemon. `settings`: those in force; a run keeps the ones it began with."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        hooks: Hooks,
        timings: Timings,
        environ: Mapping[str, str],
    ) -> None:
        self._settings, self._hooks = settings, hooks
        self._timings, self._environ = timings, environ
        self._pixiv: ToPixiv | None = None
        self._receivers: ToReceivers | None = None
        self._making_pixiv, self._making_receivers = trio.Lock(), trio.Lock()

    async def execute(self, work: Work, live: LiveRun, ledger: Ledger) -> None:
        """Walk the cells of one run."""
        if live.run is None:
            raise RuntimeError(f"{work.slot.id} is not claimed")
        settings, ways = self._settings(), await self._to_pixiv(ledger)
        stages = settings.download.max_fallback_stages
        terms = Terms(
            slot=work.slot,
            started_at=live.run.started_at,
            delete_after_delivery=settings.delivery.delete_after_delivery,
            asset_namespace=settings.download.asset_namespace,
        )

        def pledge(entry: Entry[WorkDetail]) -> Sequence[Promise]:
            return pledges(entry, terms, ways.size_of, lambda: str(uuid.uuid4()))

        parts = Parts(
            targets=targets_of(settings),
            selection=Candidates(ways.source(settings.download), settings.download.candidate_scan_limit),
            fetcher=ways.fetcher(settings.download),
            cells=RunLedger(ledger, live, self._hooks.clock, pledge, stages),
            threads=live.threads,
            started_at=live.run.started_at,
            stages=stages,
            max_tries=settings.download.max_retries,
            retry_ms=settings.download.retry_delay_ms,
            note=self._hooks.note,
            about=inherited,
            point=self._hooks.point,
        )
        await walk(work, parts)

    async def attempt(self, row: OutboxRow) -> Ack:
        """One attempt at one row."""
        return await (await self._to_receivers()).attempt(row)

    async def ready(self, route: RouteName) -> Unready | None:
        """Why the route takes nothing now; None when it does."""
        return await (await self._to_receivers()).ready(route)

    async def aclose(self) -> None:
        """Close the ways out, once nobody needs them any more."""
        for way in (self._pixiv, self._receivers):
            if way is not None:
                await way.aclose()

    async def _to_pixiv(self, ledger: Ledger) -> "ToPixiv":
        async with self._making_pixiv:
            if self._pixiv is None:
                room, settings, hooks = await _imported(), self._settings(), self._hooks
                await room.tidied(settings, ledger, hooks.clock, hooks.note)
                self._pixiv = room.to_pixiv(
                    settings,
                    ledger,
                    clock=hooks.clock,
                    note=hooks.note,
                    environ=self._environ,
                    timings=self._timings,
                    point=self._hooks.point,
                )
        return self._pixiv

    async def _to_receivers(self) -> "ToReceivers":
        async with self._making_receivers:
            if self._receivers is None:
                room, clock = await _imported(), self._hooks.clock
                self._receivers = room.to_receivers(
                    self._settings(), self._routes, clock=clock, environ=self._environ, timings=self._timings
                )
        return self._receivers

    def _routes(self) -> Mapping[RouteName, Route]:
        return self._settings().delivery.targets


async def _imported() -> Any:
    """The room that speaks to other machines; with it comes what carries the fields of a run to its lines."""
    await trio.to_thread.run_sync(load, limiter=trio.CapacityLimiter(1))
    return await trio.to_thread.run_sync(
        importlib.import_module, "pixivflow.daemon.outside", limiter=trio.CapacityLimiter(1)
    )
