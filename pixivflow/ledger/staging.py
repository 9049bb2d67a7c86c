"""The marks of pages that are on their way to the disk: the rows of `download_files` that are staged."""

from collections.abc import Sequence
from typing import Any, Final

from actors.kit import Clock
from pixivflow.ids import WorkId
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.slots.staging import StagedPage

COLUMNS: Final = "pixiv_id, type, page, part_path, bytes_done, COALESCE(validator, ''), updated_at"

OF_WORK: Final = f"""
SELECT {COLUMNS} FROM download_files WHERE pixiv_id = ? AND type = ? AND state = 'staged' ORDER BY page
"""  # noqa: S608 - the columns are the constant above

ALL: Final = f"""
SELECT {COLUMNS} FROM download_files WHERE state = 'staged' ORDER BY updated_at, pixiv_id, type, page
"""  # noqa: S608 - the same

MARK: Final = """
INSERT OR REPLACE INTO download_files (pixiv_id, type, page, part_path, validator, bytes_done, state, updated_at)
VALUES (:pixiv_id, :type, :page, :part_path, :validator, :bytes_done, 'staged', :now)
"""

DROP: Final = """
DELETE FROM download_files
WHERE pixiv_id = :pixiv_id AND type = :type AND page = :page AND state = 'staged' AND part_path = :part_path
"""


def staged(db: Db, work: BoundWork) -> tuple[StagedPage, ...]:
    """The marks of one work, by page."""
    return _pages(db.execute(OF_WORK, (work.work_id, work.work_type)).fetchall())


def all_staged(db: Db) -> tuple[StagedPage, ...]:
    """Every mark, oldest first. There are as many as pages that were being fetched when processes died."""
    return _pages(db.execute(ALL).fetchall())


def mark(db: Db, page: StagedPage, now: int) -> None:
    """Remember the page. Whatever was known of it before, a final file too, is not true any more."""
    db.execute(MARK, {**_key(page), "validator": page.validator, "bytes_done": page.bytes_done, "now": now})


def drop(db: Db, pages: Sequence[StagedPage]) -> None:
    """Forget marks that still name the same part file."""
    db.executemany(DROP, [_key(page) for page in pages])


class StagingLedger:
    """`slots.staging.Staging`."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock

    async def staged(self, work: BoundWork) -> tuple[StagedPage, ...]:
        return await self._ledger.read(staged, work)

    async def all_staged(self) -> tuple[StagedPage, ...]:
        return await self._ledger.read(all_staged)

    async def mark(self, page: StagedPage) -> None:
        await self._ledger.write(mark, page, self._clock.now_ms())

    async def drop(self, pages: Sequence[StagedPage]) -> None:
        await self._ledger.settle(drop, tuple(pages))


def _key(page: StagedPage) -> dict[str, object]:
    return {
        "pixiv_id": page.work.work_id,
        "type": page.work.work_type,
        "page": page.page,
        "part_path": page.part_path,
    }


def _pages(rows: Sequence[Any]) -> tuple[StagedPage, ...]:
    return tuple(
        StagedPage(
            work=BoundWork(work_id=WorkId(work_id), work_type=WorkType(work_type)),
            page=page,
            part_path=part_path,
            bytes_done=bytes_done,
            validator=validator,
            marked_at=marked_at,
        )
        for work_id, work_type, page, part_path, bytes_done, validator, marked_at in rows
    )
