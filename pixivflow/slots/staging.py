"""What a downloader remembers of files that are not whole yet, so that a dead process costs only its last bytes.

A part file that no mark names belongs to nobody and may be deleted; a mark without its file is worth nothing.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from pixivflow.slots.model import BoundWork


class StagedPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page on its way to the disk.

    Shape: `page` counts from 1; `part_path` is absolute; `validator` is what the server named these bytes by, as sent
    back to it (`ETag`, or `Last-Modified` with the length), empty where it named nothing; `bytes_done` are known to be
    fsynced; `marked_at` epoch ms.
    """

    work: BoundWork
    page: int
    part_path: str
    bytes_done: int
    validator: str = ""
    marked_at: int = 0


class Staging(Protocol):
    """The marks, in the ledger. Recording a work turns its marks into facts; until then they are only hints.

    Errors: `StorageFull`; `Unavailable` where the ledger cannot be asked now.
    """

    async def staged(self, work: BoundWork) -> tuple[StagedPage, ...]:
        """The marks of one work, by page."""
        ...

    async def all_staged(self) -> tuple[StagedPage, ...]:
        """Every mark there is, oldest first: for the look at the disk when a process starts."""
        ...

    async def mark(self, page: StagedPage) -> None:
        """Remember that so many bytes of the page are on the disk; a mark of the same page goes."""
        ...

    async def drop(self, pages: Sequence[StagedPage]) -> None:
        """Forget marks, each only where it still names the same part file."""
        ...
