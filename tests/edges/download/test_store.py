"""What a disk that refuses means, and where a person has to look."""

import errno
from pathlib import Path

import pytest

from pixivflow.download.store import translated
from pixivflow.errors import Cause, StorageFailed, StorageFull, Unavailable
from tests.edges.download.stage import Desk

BASE = Path("/pictures")


@pytest.mark.parametrize(
    ("number", "family"),
    [
        pytest.param(errno.ENOSPC, StorageFull, id="no room"),
        pytest.param(errno.EDQUOT, StorageFull, id="no room for this user"),
        pytest.param(errno.EACCES, StorageFailed, id="no right"),
        pytest.param(errno.EPERM, StorageFailed, id="not allowed"),
        pytest.param(errno.EROFS, StorageFailed, id="a disk to be read only"),
        pytest.param(errno.EIO, StorageFailed, id="a disk with a fault"),
        pytest.param(errno.ENAMETOOLONG, Unavailable, id="anything else"),
    ],
)
def test_a_call_that_failed_means_one_thing(number: int, family: type[Unavailable]) -> None:
    error = translated(OSError(number, "words of the system"), BASE)
    assert type(error) is family
    assert error.cause is Cause.STORAGE


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        (None, "/pictures"),
        ("/pictures/mika", "/pictures/mika"),
        (Path("/pictures/mika"), "/pictures/mika"),
        ("/pictures/mika/.part-12-1-0a0a", "/pictures/mika"),
        (5, "/pictures"),
    ],
)
def test_the_folder_that_has_to_be_looked_at_is_named(name: object, folder: str) -> None:
    error = OSError(errno.EACCES, "Permission denied", name)
    assert str(translated(error, BASE)) == f"storage: {folder}: Permission denied"


@pytest.mark.parametrize("fault", ["reset", "stall"])
async def test_a_line_to_the_image_host_that_broke_names_the_host(fault: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, retries=0, timeout_ms=50)
    desk.played.fault(fault, match={"kind": "img"})
    with pytest.raises(Unavailable, match=r"the image host \(127\.0\.0\.1:8000\)"):
        await desk.fetch(desk.detail())


async def test_a_folder_that_may_not_be_made_is_named_and_no_picture_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    work = desk.detail()

    def refused(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(StorageFailed, match=f"{desk.base}: Permission denied"):
        await desk.fetch(work)
    assert desk.asked == 0
