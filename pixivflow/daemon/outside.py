"""Everything that speaks to other machines, imported only when the first run or delivery needs it.

These rooms stand on httpx, which takes a fifth of a second to import: a door that opens first answers first.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import trio

from actors.kit import Clock, Note
from pixivflow.config.model import Download, Route, Settings
from pixivflow.download.fetch import PageFetcher
from pixivflow.download.reconcile import reconcile
from pixivflow.download.shelf import Shelf
from pixivflow.errors import Unavailable
from pixivflow.ids import RouteName
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.staged import StagedRows
from pixivflow.ledger.tokens import AccountRows
from pixivflow.observe.known import known_secrets
from pixivflow.pixiv.source import PixivSource, source
from pixivflow.providers.addresses import anywhere
from pixivflow.providers.attempts import Attempts
from pixivflow.providers.egress import proxy_of, transport
from pixivflow.providers.files import size_on_disk
from pixivflow.providers.readiness import Readiness
from pixivflow.times import Timings

READONLY = frozenset({"1", "true", "yes"})


@dataclass(frozen=True, slots=True)
class ToPixiv:
    """The way to Pixiv, as configured at the start of the process; it does not change while it lives.

    What `download` says is no part of it: each run is given what it began with.
    """

    account: PixivSource
    new_fetcher: Callable[[Download], PageFetcher]
    size_of: Callable[[str], int | None]
    """The bytes of a file that is to be sent, None when it is gone."""
    aclose: Callable[[], Awaitable[None]]

    def source(self, download: Download) -> PixivSource:
        """Lists and works, at the pace of the account, with the pauses that `download` asks for."""
        return self.account.paced(download.request_delay_ms)

    def fetcher(self, download: Download) -> PageFetcher:
        """Fetches files as `download` says. All know of the pages that one of them left behind."""
        return self.new_fetcher(download)


@dataclass(frozen=True, slots=True)
class ToReceivers:
    """The way to receivers. Which routes there are is asked at each attempt."""

    attempt: Attempts
    ready: Readiness
    aclose: Callable[[], Awaitable[None]]


def to_pixiv(
    settings: Settings,
    ledger: Ledger,
    *,
    clock: Clock,
    note: Note,
    environ: Mapping[str, str],
    timings: Timings,
    point: Callable[[str], object] = lambda name: None,
) -> ToPixiv:
    """Join the rooms that speak to Pixiv. Its address may be the operator's own, in the same house."""
    way_out = transport(allow=anywhere, keep_alive=True, proxy=proxy_of(settings.network.proxy))
    rows, shelf = AccountRows(ledger), Shelf(StagedRows(ledger), clock, point)

    def new_fetcher(download: Download) -> PageFetcher:
        return PageFetcher(
            settings.storage,
            download,
            settings.network,
            way_out,
            user_agent=settings.pixiv.user_agent,
            image=settings.pixiv.endpoints.image,
            clock=clock,
            note=note,
            shelf=shelf,
        )

    return ToPixiv(
        account=source(
            settings.pixiv,
            settings.network,
            way_out,
            vault=rows,
            gates=rows,
            clock=clock,
            note=note,
            page_delay_ms=settings.download.request_delay_ms,
            timings=timings,
            readonly=environ.get("PIXIV_AUTH_READONLY", "").lower() in READONLY,
        ),
        new_fetcher=new_fetcher,
        size_of=size_on_disk,
        aclose=way_out.aclose,
    )


def to_receivers(
    settings: Settings,
    routes: Callable[[], Mapping[RouteName, Route]],
    *,
    clock: Clock,
    environ: Mapping[str, str],
    timings: Timings,
) -> ToReceivers:
    """Join the rooms that speak to receivers. They are the operator's own, and may stand in the same house."""
    way_out = transport(allow=anywhere, keep_alive=False, proxy=proxy_of(settings.network.proxy))
    return ToReceivers(
        attempt=Attempts(
            routes=routes,
            way_out=way_out,
            now=clock.now_ms,
            environ=environ,
            timings=timings,
            hidden=frozenset(known_secrets(settings.network, environ, ("network",))),
        ),
        ready=Readiness(routes=routes, way_out=way_out, now=clock.now_ms, environ=environ, timings=timings),
        aclose=way_out.aclose,
    )


async def tidied(settings: Settings, ledger: Ledger, clock: Clock, note: Note) -> None:
    """Remove what an earlier life left half-written, before this one fetches. A file that stays harms nobody."""
    bases, threads = [settings.storage.illustration_directory], trio.CapacityLimiter(1)
    try:
        removed = await reconcile(bases, StagedRows(ledger), clock.now_ms(), threads)
    except (OSError, Unavailable) as error:
        note("download.parts_stay", error=error)
    else:
        if removed:
            note("download.parts_removed", count=removed)
