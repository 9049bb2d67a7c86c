"""Pages on their way to the disk, as rows tell of them: what whoever fetches files asks of the ledger.

A page is written to a part, a file without a final name. Its row is the only claim to it: a part that no row names is
nobody's, and a row knows no more bytes of its part than are on the disk for sure.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from pixivflow.slots.model import BoundWork

KEPT_MS: Final = 86_400_000
"""A page that has not moved for a day is begun afresh."""


class StagedPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page that is under way, or all there and without its name.

    Shape: `part` the path of its part; `bytes_done` of it are on the disk, of `length` in all where that is known;
    `validator` says whether the file at the host is still the same, empty where nothing can; `degraded`: it is the
    smaller rendering; `sha256` (hex) and `format` only of a page that is all there; `at`: epoch ms, when this was so.
    """

    page: int
    part: str
    bytes_done: int
    length: int | None = None
    validator: str = ""
    degraded: bool = False
    sha256: str | None = None
    format: str | None = None
    at: int

    def is_fresh(self, now: int) -> bool:
        """Whether it may be gone on with. A clock that stepped back makes no page old."""
        return now - self.at < KEPT_MS


class Staging(Protocol):
    """The rows of pages under way. Each call is one transaction.

    Errors: `LedgerBusy` of those that read; `LedgerLost`.
    """

    async def staged(self, work: BoundWork) -> Sequence[StagedPage]:
        """The pages of one work, in order."""
        ...

    async def all_staged(self) -> Sequence[StagedPage]:
        """The pages of every work."""
        ...

    async def mark(self, work: BoundWork, page: StagedPage) -> bool:
        """Write how far a page has come, in the place of whatever was known of it. False: the ledger was busy.

        Errors: `StorageFull`.
        """
        ...

    async def drop(self, parts: Sequence[str]) -> None:
        """Forget the pages of these parts; also in a task that was cancelled. One that stays is dropped at a start."""
        ...
