"""One page, from its address to a whole, verified and fsynced part."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import msgspec
import trio

from pixivflow.download import naming, verify
from pixivflow.download.part import Part
from pixivflow.download.transfer import Absent, Forbidden, Transfer, Wire, hop
from pixivflow.download.verify import Picture, Spoiled
from pixivflow.errors import Cause, Gone, Unavailable
from pixivflow.ids import WorkId
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


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """How hard a page is tried for: `tries` attempts at an address, the first pause between two."""

    tries: int
    pause_ms: int


async def brought(
    wire: Wire, effort: Effort, work_id: WorkId, page: Page, folder: Path, threads: trio.CapacityLimiter, note: Note
) -> Whole:
    """The page. Where its original is gone, a smaller rendering of it, marked as such.

    Errors: `Gone`, `Unfit`; `Outage`, `Unavailable`; `OSError` of the disk. None of them leaves a part.
    """
    part, is_kept = Part(folder, work_id, page.index), False
    try:
        found, url, degraded = await _first_there(wire, effort, work_id, page, part, threads, note)
        (picture, sha256), is_kept = found, True
    finally:
        if not is_kept:
            part.drop()
    wished = naming.extension_of(url)
    extension = picture.extension(wished)
    if extension != wished:
        note("download.renamed", work=work_id, page=page.index, named=wished, found=picture.format)
    return Whole(
        page=page.index, part=part.path, picture=picture, sha256=sha256, extension=extension, degraded=degraded
    )


async def _first_there(
    wire: Wire, effort: Effort, work_id: WorkId, page: Page, part: Part, threads: trio.CapacityLimiter, note: Note
) -> tuple[tuple[Picture, str], str, bool]:
    for url in filter(None, (page.original_url, page.fallback_url)):
        persistent = _Persistent(Transfer(wire, url, part, threads), effort, part, threads)
        try:
            return await persistent.picture(partial(note, work=work_id, page=page.index)), url, url != page.original_url
        except Absent:
            await hop(threads, part.restart)
        except Forbidden as error:
            raise Unfit(work_id, SkipCode.ACCESS_DENIED, str(error)) from error
    raise Gone(work_id, "work", f"page {page.index} is not on the image host")


class _Persistent:
    """The attempts at one address."""

    def __init__(self, transfer: Transfer, effort: Effort, part: Part, threads: trio.CapacityLimiter) -> None:
        self._transfer, self._effort, self._part, self._threads = transfer, effort, part, threads

    async def picture(self, note: Callable[..., None]) -> tuple[Picture, str]:
        """What is there, and its hash. Errors: `Absent`, `Forbidden`; the last one of those that may pass."""
        error = Unavailable("the image host was not asked", cause=Cause.DEFECT)
        for tries in range(1, self._effort.tries + 1):
            try:
                return await self._once()
            except Spoiled as spoiled:
                words = f"the image host sent no whole picture: {spoiled.reason}"
                error = Unavailable(words, cause=Cause.FILE_BROKEN)
            except Unavailable as failed:
                error = failed
            note("download.attempt_failed", tries=tries, error=str(error))
            if tries < self._effort.tries:
                await trio.sleep(pause_ms(self._effort, tries, error) / 1000)
        raise error

    async def _once(self) -> tuple[Picture, str]:
        await self._transfer.attempt()
        try:
            return await hop(self._threads, self._part.finish, verify.picture)
        except Spoiled:
            await hop(self._threads, self._part.restart)  # what looks whole and is not cannot be continued
            raise


def pause_ms(effort: Effort, tries: int, error: Unavailable) -> int:
    """How long to wait before the next attempt, after `tries` of them. A longer wish of the host goes first."""
    wish_ms = min(round((error.retry_after_s or 0) * 1000), LONGEST_WISH_MS)
    return max(wish_ms, min(effort.pause_ms * tries, effort.pause_ms * LONGEST))
