"""`slots.ports.Fetcher`: all pictures of a work, or none.

known, still whole ──▶ used as recorded
named before       ──▶ used: a run died between the names and the rows
a whole part       ──▶ used: an earlier attempt got so far
anything else      ──▶ fetched, some pages at once
every page there   ──▶ names for all, in one step that no cancellation cuts
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import httpx
import trio

from actors.kit import Clock
from pixivflow.config.model import Download, Network, Storage, Target
from pixivflow.download import naming
from pixivflow.download.hosts import allowed
from pixivflow.download.page import Effort, Note, Whole, brought
from pixivflow.download.present import named_before, still_there, whole_still
from pixivflow.download.store import Staged, make_folder, publish, translated
from pixivflow.download.transfer import Wire, hop
from pixivflow.errors import Unavailable
from pixivflow.ids import WorkId
from pixivflow.selection.model import Page, WorkDetail, WorkKind
from pixivflow.slots.ports import Fetched, FetchedFile, SkipCode, Unfit

PAGE_MS: Final = 120_000
"""What one attempt at a page gets, unless the settings name another time."""
PUBLISH_MS: Final = 5_000
KEPT_WORKS: Final = 16
"""Of how many works that failed the whole pages are kept for another attempt."""


class PageFetcher:
    """Fetches illustrations and manga, over a transport that somebody else closes.

    `image`: `pixiv.endpoints.image`, where files may come from besides the real host.
    """

    def __init__(
        self,
        storage: Storage,
        download: Download,
        network: Network,
        transport: httpx.AsyncBaseTransport,
        *,
        user_agent: str,
        image: str | None,
        clock: Clock,
        note: Note,
    ) -> None:
        timeout_ms = PAGE_MS if download.timeout_ms == Download().timeout_ms else download.timeout_ms
        self._wire = Wire(transport=transport, origins=allowed(image), user_agent=user_agent, timeout_ms=timeout_ms)
        self._effort = Effort(tries=network.retries + 1, pause_ms=network.retry_delay_ms)
        self._storage, self._download, self._clock, self._note = storage, download, clock, note
        self._kept: dict[WorkId, dict[int, Whole]] = {}

    async def fetch(
        self, detail: WorkDetail, target: Target, known: Sequence[FetchedFile], threads: trio.CapacityLimiter
    ) -> Fetched:
        if (unfit := refusal(detail)) is not None:
            raise unfit
        try:
            return await self._fetched(detail, target, known, threads)
        except OSError as error:
            told = await hop(threads, translated, error, self._storage.illustration_directory)
            raise told from error

    async def _fetched(
        self, detail: WorkDetail, target: Target, known: Sequence[FetchedFile], threads: trio.CapacityLimiter
    ) -> Fetched:
        base = self._storage.illustration_directory
        way = self._storage.illustration_organization
        parts = naming.folder(base.name, way, detail, naming.label(target), self._clock.now_ms())
        folder = await hop(threads, make_folder, base, parts)
        files = await hop(threads, still_there, known)
        files |= await hop(threads, named_before, detail, folder, frozenset(files))
        whole = await hop(threads, whole_still, self._kept.pop(detail.id, {}), folder)
        missing = [page for page in detail.pages if page.index not in files and page.index not in whole]
        try:
            await self._bring(detail, missing, folder, whole, threads)
            files |= await self._published(detail, folder, whole, threads)
        except (Unavailable, trio.Cancelled):
            self._keep(detail.id, whole)
            raise
        except BaseException:
            _remove(whole)
            raise
        return Fetched(files=tuple(files[page.index] for page in detail.pages))

    async def _bring(
        self,
        detail: WorkDetail,
        missing: Sequence[Page],
        folder: Path,
        whole: dict[int, Whole],
        threads: trio.CapacityLimiter,
    ) -> None:
        """Put every missing page into `whole`, some at once. The first error stops the others and comes out."""
        places, errors = trio.Semaphore(max(1, self._download.concurrency)), list[Exception]()

        async def one(page: Page) -> None:
            try:
                whole[page.index] = await brought(
                    self._wire, self._effort, detail.id, page, folder, threads, self._note
                )
            except Exception as error:
                errors.append(error)
                nursery.cancel_scope.cancel()
            finally:
                places.release()

        async with trio.open_nursery() as nursery:
            for at, page in enumerate(missing):
                if at:
                    await trio.sleep(self._download.request_delay_ms / 1000)
                await places.acquire()
                nursery.start_soon(one, page)
        if errors:
            raise errors[0]

    async def _published(
        self, detail: WorkDetail, folder: Path, whole: Mapping[int, Whole], threads: trio.CapacityLimiter
    ) -> dict[int, FetchedFile]:
        pages = [whole[index] for index in sorted(whole)]
        staged = [
            Staged(part=each.part, name=naming.page_name(detail, each.page, each.extension), sha256=each.sha256)
            for each in pages
        ]
        if not staged:
            return {}
        with trio.move_on_after(PUBLISH_MS / 1000, shield=True):
            paths = await hop(threads, publish, folder, staged)
            return {each.page: _file(each, path) for each, path in zip(pages, paths, strict=True)}
        raise Unavailable(f"storage: took longer than {PUBLISH_MS} ms to give names")

    def _keep(self, work_id: WorkId, whole: dict[int, Whole]) -> None:
        if whole:
            self._kept[work_id] = whole
        while len(self._kept) > KEPT_WORKS:
            _remove(self._kept.pop(next(iter(self._kept))))


def refusal(detail: WorkDetail) -> Unfit | None:
    """Why the work cannot be fetched at all."""
    if not (detail.id.isascii() and detail.id.isdecimal()):
        return Unfit(detail.id, SkipCode.INVALID_METADATA, "not the number of any work")
    if detail.kind in (WorkKind.UGOIRA, WorkKind.NOVEL):
        return Unfit(detail.id, SkipCode.UNSUPPORTED_MEDIA, f"a work of kind {detail.kind} is not fetched here")
    if len(detail.pages) != detail.page_count or any(page.index != at for at, page in enumerate(detail.pages, 1)):
        return Unfit(detail.id, SkipCode.INVALID_METADATA, "Pixiv does not name all of its pictures")
    return None


def _file(whole: Whole, path: Path) -> FetchedFile:
    return FetchedFile(
        page=whole.page,
        path=str(path),
        size=whole.picture.size,
        sha256=whole.sha256,
        mime=whole.picture.mime,
        format=whole.picture.format,
        degraded=whole.degraded,
    )


def _remove(whole: Mapping[int, Whole]) -> None:
    for each in whole.values():
        each.part.unlink(missing_ok=True)
