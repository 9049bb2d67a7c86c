"""One page, from its address to a whole, verified and fsynced part."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import msgspec
import trio

from pixivflow.download import naming, verify
from pixivflow.download.marks import Marks
from pixivflow.download.part import Part
from pixivflow.download.transfer import Absent, Forbidden, Transfer, Wire, hop
from pixivflow.download.verify import Picture, Spoiled
from pixivflow.download.versions import Version
from pixivflow.errors import Cause, Gone, StorageFailed, Unavailable
from pixivflow.selection.model import Page
from pixivflow.slots.ports import SkipCode, Unfit

LONGEST: Final = 5
"""No pause of our own between two attempts is longer than so many times the first."""
LONGEST_WISH_MS: Final = 60_000
"""A longer wish of the host is left to whoever asked for the work."""


class Note(Protocol):
    """Says what happened, for people."""

    def __call__(self, event: str, /, **fields: object) -> None: ...


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A page that is all there, under the name of its part. `extension`: the one that its content has."""

    page: int
    part: Path
    picture: Picture
    sha256: str
    extension: str
    degraded: bool = False


def whole_page(page: int, part: Path, picture: Picture, sha256: str, url: str, *, degraded: bool) -> Whole:
    """The page in `part`, which came from `url`."""
    extension = picture.extension(naming.extension_of(url))
    return Whole(page=page, part=part, picture=picture, sha256=sha256, extension=extension, degraded=degraded)


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """How hard a page is tried for: `tries` attempts at an address, the first pause between two."""

    tries: int
    pause_ms: int


async def brought(
    wire: Wire, effort: Effort, page: Page, marks: Marks, folder: Path, threads: trio.CapacityLimiter, note: Note
) -> Whole:
    """The page. Where its original is gone, a smaller rendering of it, marked as such.

    Errors: `Gone`, `Unfit`; `StorageFull`, `Outage`, `Unavailable`; `OSError` of the disk. A part is left by those that
    may pass and by a cancellation, if its row names it.
    """
    part = marks.part(folder)
    end = part.drop
    try:
        whole = await _first_there(wire, effort, page, part, marks, threads, partial(note, work=marks.work.work_id))
        end = part.leave
    except StorageFailed:
        raise
    except (Unavailable, trio.Cancelled):
        end = part.leave if marks.name(part) else part.drop
        raise
    finally:
        end()
    return whole


async def _first_there(
    wire: Wire, effort: Effort, page: Page, part: Part, marks: Marks, threads: trio.CapacityLimiter,
    note: Callable[..., None],
) -> Whole:  # fmt: skip
    for url in filter(None, (page.original_url, page.fallback_url)):
        persistent = _Persistent(wire, effort, url, part, marks, threads, degraded=url != page.original_url)
        try:
            whole = await persistent.page(partial(note, page=page.index))
        except Absent:
            continue
        except Forbidden as error:
            raise Unfit(marks.work.work_id, SkipCode.ACCESS_DENIED, str(error)) from error
        if whole.extension != (wished := naming.extension_of(url)):
            note("download.renamed", page=page.index, named=wished, found=whole.picture.format)
        return whole
    raise Gone(marks.work.work_id, "work", f"page {page.index} is not on the image host")


class _Persistent:
    """The attempts at one address."""

    def __init__(
        self, wire: Wire, effort: Effort, url: str, part: Part, marks: Marks, threads: trio.CapacityLimiter, *,
        degraded: bool,
    ) -> None:  # fmt: skip
        self._effort, self._url, self._part, self._marks, self._threads = effort, url, part, marks, threads
        self._degraded = degraded
        known = marks.version(part, degraded=degraded)
        self._transfer = Transfer(wire, url, part, threads, known, self._progress)

    async def page(self, note: Callable[..., None]) -> Whole:
        """The page that is there.

        Errors: `Absent`, `Forbidden`; the last one of those that may pass; `StorageFailed`.
        """
        error = Unavailable("the image host was not asked", cause=Cause.DEFECT)
        for tries in range(1, self._effort.tries + 1):
            try:
                return await self._once()
            except Spoiled as spoiled:
                words = f"the image host sent no whole picture: {spoiled.reason}"
                error = Unavailable(words, cause=Cause.FILE_BROKEN)
            except StorageFailed:
                raise
            except Unavailable as failed:
                error = failed
            note("download.attempt_failed", tries=tries, error=str(error))
            if tries < self._effort.tries:
                await trio.sleep(pause_ms(self._effort, tries, error) / 1000)
        raise error

    async def _once(self) -> Whole:
        try:
            await self._transfer.attempt()
            picture, sha256 = await self._looked_at()
        except (Spoiled, Unavailable, trio.Cancelled):
            await self._marks.early(self._part, self._threads, self._transfer.version, degraded=self._degraded)
            raise
        await self._marks.whole(self._part, self._transfer.version, picture.format, sha256, degraded=self._degraded)
        return whole_page(self._marks.page, self._part.path, picture, sha256, self._url, degraded=self._degraded)

    async def _looked_at(self) -> tuple[Picture, str]:
        try:
            return await hop(self._threads, self._part.finish, verify.picture)
        except Spoiled:
            await hop(self._threads, self._part.restart)  # what looks whole and is not cannot be continued
            raise

    async def _progress(self, version: Version) -> None:
        await self._marks.progress(self._part, self._threads, version, degraded=self._degraded)


def pause_ms(effort: Effort, tries: int, error: Unavailable) -> int:
    """How long to wait before the next attempt, after `tries` of them. A longer wish of the host goes first."""
    wish_ms = min(round((error.retry_after_s or 0) * 1000), LONGEST_WISH_MS)
    return max(wish_ms, min(effort.pause_ms * tries, effort.pause_ms * LONGEST))
