"""What of a work is on the disk already and needs no request. Blocking: call it in a thread."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from pixivflow.download import naming, verify
from pixivflow.download.page import Whole
from pixivflow.download.store import sha256_of
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.ports import FetchedFile


def still_there(known: Sequence[FetchedFile]) -> dict[int, FetchedFile]:
    """Those of the recorded files that hold what was recorded, by their page."""
    return {file.page: file for file in known if _holds(Path(file.path), file.size, file.sha256)}


def whole_still(kept: Mapping[int, Whole], folder: Path) -> dict[int, Whole]:
    """Those of the parts of an earlier attempt that are still whole. One in another folder is given up."""
    found = {}
    for page, whole in kept.items():
        if whole.part.parent == folder and _holds(whole.part, whole.picture.size, whole.sha256):
            found[page] = whole
        else:
            whole.part.unlink(missing_ok=True)
    return found


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
