"""`slots.ports.Fetcher`: all pictures of a work, or none.

known, still whole ──▶ used as recorded
named before       ──▶ used: a run died between the names and the rows
a whole part       ──▶ used: an earlier attempt got so far, as its row tells
a part             ──▶ continued, if the file is still the same
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
from pixivflow.download.present import Left, named_before, still_there
from pixivflow.download.shelf import Shelf
from pixivflow.download.store import Staged, make_folder, publish, translated
from pixivflow.download.transfer import Wire, hop
from pixivflow.errors import Cause, StorageFailed, Unavailable
from pixivflow.selection.model import Page, WorkDetail, WorkKind
from pixivflow.slots.ports import Fetched, FetchedFile, SkipCode, Unfit

PAGE_MS: Final = 120_000
"""What one attempt at a page gets, unless the settings name another time."""
PUBLISH_MS: Final = 5_000


class PageFetcher:
    """Fetches illustrations and manga, over a transport that somebody else closes.

    `image`: `pixiv.endpoints.image`, where files may come from besides the real host. `shelf`: what earlier attempts
    left, of everybody who fetches in this process.
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
        shelf: Shelf,
    ) -> None:
        timeout_ms = PAGE_MS if download.timeout_ms is None else download.timeout_ms
        self._wire = Wire(transport=transport, origins=allowed(image), user_agent=user_agent, timeout_ms=timeout_ms)
        self._effort = Effort(tries=network.retries + 1, pause_ms=network.retry_delay_ms)
        self._storage, self._download, self._clock, self._note = storage, download, clock, note
        self._shelf = shelf

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
        left = await self._shelf.take(detail, files, folder, threads)
        whole = dict(left.whole)
        missing = [page for page in detail.pages if page.index not in files and page.index not in whole]
        try:
            await self._bring(detail, missing, folder, whole, left, threads)
            files |= await self._published(detail, folder, whole, threads)
        except BaseException as error:
            if may_pass(error):
                self._shelf.keep(detail.work)
            else:
                await self._shelf.throw_away(detail.work, threads, [each.part for each in whole.values()])
            raise
        return Fetched(files=tuple(files[page.index] for page in detail.pages))

    async def _bring(
        self,
        detail: WorkDetail,
        missing: Sequence[Page],
        folder: Path,
        whole: dict[int, Whole],
        left: Left,
        threads: trio.CapacityLimiter,
    ) -> None:
        """Put every missing page into `whole`, some at once. The first error stops the others and comes out."""
        places, errors = trio.Semaphore(max(1, self._download.concurrency)), list[Exception]()

        async def one(page: Page) -> None:
            marks = self._shelf.marks(detail.work, page.index, left)
            try:
                whole[page.index] = await brought(self._wire, self._effort, page, marks, folder, threads, self._note)
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
        raise Unavailable(f"storage: took longer than {PUBLISH_MS} ms to give names", cause=Cause.STORAGE)


def may_pass(error: BaseException) -> bool:
    """Whether another attempt may have use of what this one fetched. Nurseries group what their tasks end with."""
    if isinstance(error, BaseExceptionGroup):
        return all(may_pass(each) for each in error.exceptions)
    return isinstance(error, Unavailable | trio.Cancelled) and not isinstance(error, StorageFailed)


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
