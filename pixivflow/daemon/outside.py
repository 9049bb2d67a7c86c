"""Everything that speaks to other machines, imported only when the first run or delivery needs it.

These rooms stand on httpx, which takes a fifth of a second to import: a door that opens first answers first.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import trio

from actors.kit import Clock, Note
from pixivflow.config.model import Route, Settings
from pixivflow.download.fetch import PageFetcher
from pixivflow.download.reconcile import reconcile
from pixivflow.download.shelf import Shelf
from pixivflow.errors import Unavailable
from pixivflow.ids import RouteName
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.staged import StagedRows
from pixivflow.ledger.tokens import AccountRows
from pixivflow.pixiv.source import PixivSource, source
from pixivflow.providers.addresses import anywhere
from pixivflow.providers.attempts import Attempts
from pixivflow.providers.egress import proxy_of, transport
from pixivflow.providers.files import size_on_disk
from pixivflow.providers.readiness import Readiness
from pixivflow.times import Timings

READONLY = frozenset({"1", "true", "yes"})


@dataclass(frozen=True, slots=True)
class Outside:
    """The ways out of one process, as configured at its start; they do not change while it lives."""

    source: PixivSource
    fetcher: PageFetcher
    attempt: Attempts
    ready: Readiness
    size_of: Callable[[str], int | None]
    """The bytes of a file that is to be sent, None when it is gone."""
    closing: tuple[Callable[[], Awaitable[None]], ...]

    async def aclose(self) -> None:
        """Close every connection."""
        for close in self.closing:
            await close()


def outside(
    settings: Settings,
    ledger: Ledger,
    routes: Callable[[], Mapping[RouteName, Route]],
    *,
    clock: Clock,
    note: Note,
    environ: Mapping[str, str],
    timings: Timings,
    point: Callable[[str], object] = lambda name: None,
) -> Outside:
    """Join the rooms that speak to Pixiv and to receivers.

    Every address they use is the operator's own, so a receiver in the same house may be spoken to.
    """
    proxy = proxy_of(settings.network.proxy)
    to_pixiv = transport(allow=anywhere, keep_alive=True, proxy=proxy)
    to_receivers = transport(allow=anywhere, keep_alive=False, proxy=proxy)
    rows = AccountRows(ledger)
    return Outside(
        source=source(
            settings.pixiv,
            settings.network,
            to_pixiv,
            vault=rows,
            gates=rows,
            clock=clock,
            note=note,
            page_delay_ms=settings.download.request_delay_ms,
            readonly=environ.get("PIXIV_AUTH_READONLY", "").lower() in READONLY,
        ),
        fetcher=PageFetcher(
            settings.storage,
            settings.download,
            settings.network,
            to_pixiv,
            user_agent=settings.pixiv.user_agent,
            image=settings.pixiv.endpoints.image,
            clock=clock,
            note=note,
            shelf=Shelf(StagedRows(ledger), clock, point),
        ),
        attempt=Attempts(routes=routes, way_out=to_receivers, now=clock.now_ms, environ=environ, timings=timings),
        ready=Readiness(routes=routes, way_out=to_receivers, now=clock.now_ms, environ=environ, timings=timings),
        size_of=size_on_disk,
        closing=(to_pixiv.aclose, to_receivers.aclose),
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
