"""What of a work is on the disk already and needs no request. Blocking: call it in a thread."""

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from pixivflow.download import naming, verify
from pixivflow.download.page import Whole, whole_page
from pixivflow.download.store import sha256_of
from pixivflow.selection.model import Page, WorkDetail
from pixivflow.slots.ports import FetchedFile
from pixivflow.slots.staging import StagedPage


def still_there(known: Sequence[FetchedFile]) -> dict[int, FetchedFile]:
    """Those of the recorded files that hold what was recorded, by their page."""
    return {file.page: file for file in known if _holds(Path(file.path), file.size, file.sha256)}


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What earlier attempts left of a work, by page: all there, or begun. `useless`: parts that nobody goes on with."""

    whole: dict[int, Whole]
    begun: dict[int, StagedPage]
    useless: tuple[Path, ...]


def left(rows: Sequence[StagedPage], detail: WorkDetail, have: Collection[int], folder: Path, now: int) -> Left:
    """What of the staged pages serves this attempt: of the last 24 hours, in the folder where the work is to be, and
    with the bytes that its row tells of. `have`: the pages that need none."""
    found = Left(whole={}, begun={}, useless=())
    pages = {page.index: page for page in detail.pages if page.index not in have}
    useless = []
    for row in rows:
        part, page = Path(row.part), pages.get(row.page)
        if page is None or part.parent != folder or not row.is_fresh(now):
            useless.append(part)
        elif (whole := _whole(row, page)) is not None:
            found.whole[row.page] = whole
        elif row.sha256 is None and row.validator and row.bytes_done:
            found.begun[row.page] = row
        else:
            useless.append(part)
    return msgspec.structs.replace(found, useless=tuple(useless))


def _whole(row: StagedPage, page: Page) -> Whole | None:
    url = page.fallback_url if row.degraded else page.original_url
    if url is None or row.sha256 is None or row.format not in verify.MIMES:
        return None
    if not _holds(Path(row.part), row.bytes_done, row.sha256):
        return None
    picture = verify.Picture(format=row.format, size=row.bytes_done)
    return whole_page(row.page, Path(row.part), picture, row.sha256, url, degraded=row.degraded)


def _holds(path: Path, size: int, sha256: str) -> bool:
    return _is_file(path) and path.stat().st_size == size and sha256_of(path) == sha256


def named_before(detail: WorkDetail, folder: Path, have: Collection[int]) -> dict[int, FetchedFile]:
    """Whole pictures under the very names that the work's pages get; a run gave them and died before it said so."""
    found = {}
    for page in detail.pages:
        for extension in naming.EXTENSIONS:
            path = folder / naming.page_name(detail, page.index, extension)
            file = _adopted(page.index, path) if page.index not in have else None
            if file is not None:
                found[page.index] = file
                break
    return found


def _adopted(page: int, path: Path) -> FetchedFile | None:
    if not _is_file(path):
        return None
    try:
        picture = verify.picture(path)
    except verify.Spoiled:
        return None
    return FetchedFile(
        page=page,
        path=str(path),
        size=picture.size,
        sha256=sha256_of(path),
        mime=picture.mime,
        format=picture.format,
    )


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
