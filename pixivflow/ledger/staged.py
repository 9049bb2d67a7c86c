"""The rows of pages that have no final name yet: where their parts lie, and how much of them is on the disk.

A row becomes final with its work (`artifacts.file`); until then it is what the next attempt, or the next process, goes
on from.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from pixivflow.errors import StorageFull, Unavailable
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.run_store import busy_told
from pixivflow.slots.model import BoundWork
from pixivflow.slots.staging import StagedPage

MARK: Final = """
INSERT OR REPLACE INTO download_files (pixiv_id, type, page, part_path, validator, bytes_done, size, sha256, format,
                                       degraded, state, updated_at)
VALUES (:work_id, :work_type, :page, :part, :validator, :bytes_done, :length, :sha256, :format,
        :degraded, 'staged', :at)
"""

COLUMNS: Final = "page, part_path, bytes_done, size, validator, degraded, sha256, format, updated_at"

OF_ONE: Final = f"""
SELECT {COLUMNS} FROM download_files WHERE pixiv_id = ? AND type = ? AND state = 'staged' ORDER BY page
"""  # noqa: S608 -- nothing but the columns above

OF_ALL: Final = f"""
SELECT {COLUMNS} FROM download_files WHERE state = 'staged' ORDER BY updated_at
"""  # noqa: S608 -- nothing but the columns above

DROP: Final = """
DELETE FROM download_files WHERE state = 'staged' AND part_path IN (SELECT value FROM json_each(?))
"""


def mark(db: Db, work: BoundWork, page: StagedPage) -> None:
    """Write how far a page has come. A final row gives way: whoever fetches a page found its file wanting."""
    of = {"work_id": work.work_id, "work_type": work.work_type}
    db.execute(MARK, of | msgspec.structs.asdict(page))


def of_work(db: Db, work: BoundWork) -> tuple[StagedPage, ...]:
    """The pages of a work that are under way, in order."""
    return tuple(_page(*row) for row in db.execute(OF_ONE, (work.work_id, work.work_type)).fetchall())


def of_all(db: Db) -> tuple[StagedPage, ...]:
    """Every page that is under way, the oldest first; as many as a day's failures leave, so there is no limit."""
    return tuple(_page(*row) for row in db.execute(OF_ALL).fetchall())


def drop(db: Db, parts: Sequence[str]) -> None:
    """Forget the pages that are kept in these parts."""
    db.execute(DROP, (msgspec.json.encode(parts).decode(),))


def _page(
    page: int, part: str, done: int, length: int | None, validator: str | None, degraded: int, sha256: str | None,
    form: str | None, at: int,
) -> StagedPage:  # fmt: skip
    return StagedPage(
        page=page,
        part=part,
        bytes_done=done,
        length=length,
        validator=validator or "",
        degraded=bool(degraded),
        sha256=sha256,
        format=form,
        at=at,
    )


class StagedRows:
    """`slots.staging.Staging`, over a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def staged(self, work: BoundWork) -> tuple[StagedPage, ...]:
        with busy_told():
            return await self._ledger.read(of_work, work)

    async def all_staged(self) -> tuple[StagedPage, ...]:
        with busy_told():
            return await self._ledger.read(of_all)

    async def mark(self, work: BoundWork, page: StagedPage) -> bool:
        try:
            await self._ledger.write(mark, work, page)
        except StorageFull:
            raise
        except Unavailable:
            return False  # it costs some bytes after a crash, and no download
        return True

    async def drop(self, parts: Sequence[str]) -> None:
        with suppress(Unavailable):
            await self._ledger.settle(drop, tuple(parts))
