"""The rows of files: which works are on the disk, under which names, and what their bytes must be.

`downloads` says what was downloaded before, one row a file, for ever; `download_files` what a file holds, so that the
next run can prove it whole without a request.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pixivflow.config.texts import well_formed
from pixivflow.ids import WorkId
from pixivflow.ledger.connection import Db
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.slots.ports import FetchedFile
from pixivflow.times import utc_text

FILE: Final = """
INSERT INTO downloads (pixiv_id, type, tag, title, file_path, author, user_id, downloaded_at)
VALUES (:pixiv_id, :type, :tag, :title, :path, :author, :user_id, :at)
ON CONFLICT DO NOTHING
"""

FINAL: Final = """
INSERT OR REPLACE INTO download_files (pixiv_id, type, page, file_path, bytes_done, size, sha256, format, degraded,
                                       state, updated_at)
VALUES (:pixiv_id, :type, :page, :path, :size, :size, :sha256, :format, :degraded, 'final', :now)
"""

UNDER_WAY: Final = """
DELETE FROM download_files WHERE pixiv_id = :pixiv_id AND type = :type AND state = 'staged'
"""

RECORDED: Final = """
SELECT page, file_path, size, sha256, format, degraded FROM download_files
WHERE pixiv_id = ? AND type = ? AND state = 'final' ORDER BY page
"""

STORED: Final = """
SELECT DISTINCT pixiv_id FROM downloads WHERE type = :type AND pixiv_id IN (SELECT value FROM json_each(:works))
"""

WORKS_AT_ONCE: Final = 400

OTHER_MIMES: Final = {"zip": "application/zip", "txt": "text/plain", "md": "text/markdown"}
"""The formats that are no pictures."""


class Filing(msgspec.Struct, frozen=True, kw_only=True):
    """One whole work to be filed. `tag`: the label of the target that wanted it; an unknown author is None."""

    work: BoundWork
    files: tuple[FetchedFile, ...]
    tag: str = ""
    title: str = ""
    author: str | None = None
    user_id: str | None = None


def file(db: Db, filing: Filing, now: int) -> bool:
    """Record all files of a work; False: every one of them was recorded before. Nothing of it is under way then.

    Errors: `ValueError` without a file, since a work of none would count as downloaded.
    """
    if not filing.files:
        raise ValueError(f"work {filing.work.work_id} has no file to be recorded")
    about = {
        "pixiv_id": filing.work.work_id,
        "type": filing.work.work_type,
        "tag": well_formed(filing.tag),
        "title": well_formed(filing.title),
        "author": filing.author and well_formed(filing.author),
        "user_id": filing.user_id,
        "at": utc_text(now),
        "now": now,
    }
    new = 0
    for each in filing.files:
        values = about | msgspec.structs.asdict(each)
        new += db.execute(FILE, values).rowcount
        db.execute(FINAL, values)
    db.execute(UNDER_WAY, about)
    return new > 0


def recorded(db: Db, work: BoundWork) -> tuple[FetchedFile, ...]:
    """The files that are recorded of a work, by page, whether or not they are still there."""
    return tuple(
        FetchedFile(
            page=page,
            path=path,
            size=size,
            sha256=sha256,
            mime=OTHER_MIMES.get(form or "", f"image/{form}"),
            format=form or "",
            degraded=bool(degraded),
        )
        for page, path, size, sha256, form, degraded in db.execute(RECORDED, (work.work_id, work.work_type)).fetchall()
    )


def stored(db: Db, work_type: WorkType, works: Sequence[WorkId]) -> frozenset[WorkId]:
    """Those of `works` that were downloaded before."""
    found: set[WorkId] = set()
    for start in range(0, len(works), WORKS_AT_ONCE):
        asked = {"type": work_type, "works": msgspec.json.encode(works[start : start + WORKS_AT_ONCE]).decode()}
        found.update(WorkId(work_id) for (work_id,) in db.execute(STORED, asked).fetchall())
    return frozenset(found)
