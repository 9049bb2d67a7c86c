"""How far one page has come, as the ledger hears it: every 8 MiB, when an attempt ends early, and when it is whole.

synced to the disk ──▶ written in the page's row, never the other way round
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from actors.kit import Clock
from pixivflow.download.part import Part
from pixivflow.download.transfer import hop
from pixivflow.download.versions import UNKNOWN, Version
from pixivflow.errors import Unavailable
from pixivflow.slots.model import BoundWork
from pixivflow.slots.staging import StagedPage, Staging

EARLY_MS: Final = 2_000
"""What a page that ends early gets to write down how far it came, also while the process is stopping."""


class Marks:
    """The row of one page, and the part that it names. `begun`: what the row tells of an earlier attempt."""

    def __init__(
        self, staging: Staging, clock: Clock, work: BoundWork, page: int, begun: StagedPage | None,
        point: Callable[[str], object],
    ) -> None:  # fmt: skip
        self._staging, self._clock, self._begun, self._point = staging, clock, begun, point
        self.work, self.page = work, page
        self._done = {Path(begun.part): begun.bytes_done} if begun is not None else dict[Path, int]()

    def part(self, folder: Path) -> Part:
        """The part to write to: the one of the earlier attempt, or a new one in the folder."""
        begun = None if self._begun is None else (Path(self._begun.part), self._begun.bytes_done)
        return Part(folder, self.work.work_id, self.page, begun)

    def version(self, part: Part, *, degraded: bool) -> Version:
        """Of the file that the part has the first bytes of, at the original's or the smaller rendering's address."""
        begun = self._begun
        is_this = begun is not None and begun.degraded == degraded and Path(begun.part) == part.path
        return Version(validator=begun.validator, length=begun.length) if begun is not None and is_this else UNKNOWN

    def name(self, part: Part) -> bool:
        """Whether a row names the part as it is called now."""
        return part.path in self._done

    async def progress(self, part: Part, threads: trio.CapacityLimiter, version: Version, *, degraded: bool) -> None:
        """Put what is written to the disk, and write down how much that is. Errors: `StorageFull`; `OSError`."""
        path, done = part.path, await hop(threads, part.sync)
        await self._mark(path, done, version=version, degraded=degraded)
        self._point("page.marked")

    async def early(self, part: Part, threads: trio.CapacityLimiter, version: Version, *, degraded: bool) -> None:
        """The same for an attempt that has ended, also by a cancellation. What cannot be written down is lost."""
        if version.validator and part.size > self._done.get(part.path, 0):
            with trio.move_on_after(EARLY_MS / 1000, shield=True), suppress(Unavailable, OSError):
                path, done = part.path, await hop(threads, part.sync)
                await self._mark(path, done, version=version, degraded=degraded)

    async def whole(self, part: Part, version: Version, form: str, sha256: str, *, degraded: bool) -> None:
        """Write down that the page is all there, on the disk. Errors: `StorageFull`."""
        await self._mark(part.path, part.size, version=version, degraded=degraded, sha256=sha256, form=form)
        self._point("page.staged")

    async def _mark(
        self, path: Path, done: int, *, version: Version, degraded: bool, sha256: str | None = None,
        form: str | None = None,
    ) -> None:  # fmt: skip
        page = StagedPage(
            page=self.page,
            part=str(path),
            bytes_done=done,
            validator=version.validator,
            length=version.length if sha256 is None else done,
            degraded=degraded,
            sha256=sha256,
            format=form,
            at=self._clock.now_ms(),
        )
        if await self._staging.mark(self.work, page):
            self._done[path] = done
