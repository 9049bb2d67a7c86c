"""The parts of works that are not whole yet, between two attempts: what is taken up again, and what is thrown away."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from actors.kit import Clock
from pixivflow.download.living import remove
from pixivflow.download.marks import Marks
from pixivflow.download.present import Left, left
from pixivflow.download.transfer import hop
from pixivflow.errors import Unavailable
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.model import BoundWork
from pixivflow.slots.staging import Staging

KEPT_WORKS: Final = 16
"""Of how many works that failed the pages are kept while the process lives; after its end the start decides."""
GIVE_UP_MS: Final = 2_000
"""What throwing away gets, also in a task that was cancelled. What stays is thrown away at the next start."""


class Shelf:
    """The shelf of one process, whoever fetches in it; rows hold what is on it. `point`: passes crash points."""

    def __init__(self, staging: Staging, clock: Clock, point: Callable[[str], object] = lambda name: None) -> None:
        self._staging, self._clock, self._point = staging, clock, point
        self._kept: dict[BoundWork, None] = {}

    async def take(
        self, detail: WorkDetail, have: Collection[int], folder: Path, threads: trio.CapacityLimiter
    ) -> Left:
        """What earlier attempts left of the work. What serves nobody is thrown away. `have`: pages that are there.

        Errors: `LedgerBusy`, `LedgerLost`; `OSError`.
        """
        self._kept.pop(detail.work, None)
        while len(self._kept) > KEPT_WORKS:
            await self.throw_away(next(iter(self._kept)), threads)
        rows = await self._staging.staged(detail.work)
        found = await hop(threads, left, rows, detail, frozenset(have), folder, self._clock.now_ms())
        await self._removed(found.useless, threads)
        return found

    def marks(self, work: BoundWork, page: int, left: Left) -> Marks:
        """What the row of a page is told while it is fetched."""
        return Marks(self._staging, self._clock, work, page, left.begun.get(page), self._point)

    def keep(self, work: BoundWork) -> None:
        """Another attempt at the work may follow."""
        self._kept[work] = None

    async def throw_away(self, work: BoundWork, threads: trio.CapacityLimiter, also: Iterable[Path] = ()) -> None:
        """Remove the parts of the work, and `also` these, with their rows. Errors: `LedgerLost`."""
        self._kept.pop(work, None)
        with trio.move_on_after(GIVE_UP_MS / 1000, shield=True):
            parts = list(also)
            with suppress(Unavailable):
                parts += [Path(row.part) for row in await self._staging.staged(work)]
            await self._removed(parts, threads)

    async def _removed(self, parts: Sequence[Path], threads: trio.CapacityLimiter) -> None:
        """Rows go with what was removed and with what is not there; a part that another process writes keeps its."""
        if parts:
            gone = await hop(threads, _remove, parts)
            await self._staging.drop([str(part) for part in gone])


def _remove(parts: Iterable[Path]) -> list[Path]:
    gone = []
    for part in parts:
        with suppress(OSError):
            if remove(part) or not part.exists():
                gone.append(part)
    return gone
