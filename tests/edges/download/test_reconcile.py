"""A start removes what nobody goes on with, and touches nothing else."""

import fcntl
import os
from pathlib import Path

import pytest
import trio

from pixivflow.download.reconcile import AT_ONCE, reconcile
from pixivflow.ids import WorkId
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.slots.staging import StagedPage
from tests.fixtures.staging import FakeStaging

NOW = 1_768_446_000_000
HOUR = 3_600_000
WORK = BoundWork(work_id=WorkId("12"), work_type=WorkType.ILLUSTRATION)


class Folder:
    """A base with parts in it, and the rows."""

    def __init__(self, base: Path) -> None:
        self.base, self.staging = base, FakeStaging()
        base.mkdir(parents=True)

    def part(self, page: int, *, age_ms: int | None = None, base: Path | None = None) -> Path:
        """A part; named by a row of that age, if any."""
        path = (base or self.base) / f".part-12-{page}-0123456789ab"
        path.write_bytes(b"x")
        if age_ms is not None:
            self.row(page, path, age_ms)
        return path

    def row(self, page: int, path: Path, age_ms: int = 0) -> None:
        row = StagedPage(page=page, part=f"{path}", bytes_done=1, validator='"v"', at=NOW - age_ms)
        self.staging.rows[WORK, page] = row

    async def reconcile(self, *bases: Path) -> int:
        return await reconcile(bases or [self.base], self.staging, NOW, trio.CapacityLimiter(1))

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in self.base.rglob("*") if path.is_file())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "illustrations")


async def test_parts_that_no_row_names_go_and_unknown_files_stay(folder: Folder) -> None:
    (below := folder.base / "Kai").mkdir()
    kept = ["12_sea_1.jpg", ".part-of-my-own-notes", "12_sea_1.jpg.preview.jpg", ".part-12-1-0123456789ab.old"]
    for name in kept:
        (below / name).write_bytes(b"x")
    folder.part(1, base=below)
    folder.part(2)
    assert await folder.reconcile(folder.base, folder.base, folder.base / "nowhere") == 2
    assert folder.names == sorted(kept)


async def test_a_part_that_a_row_names_stays(folder: Folder) -> None:
    path = folder.part(1, age_ms=24 * HOUR - 1)
    assert await folder.reconcile() == 0
    assert path.exists()
    assert len(folder.staging.rows) == 1


@pytest.mark.case("download", 124)
async def test_a_part_of_yesterday_goes_with_its_row_and_a_row_goes_with_its_part(folder: Folder) -> None:
    old = folder.part(1, age_ms=25 * HOUR)
    lost = folder.part(2, age_ms=0)
    lost.unlink()
    assert await folder.reconcile() == 1
    assert not old.exists()
    assert folder.staging.rows == {}


async def test_an_old_part_in_a_folder_of_earlier_settings_goes_as_well(folder: Folder, tmp_path: Path) -> None:
    (before := tmp_path / "before").mkdir()
    old, fresh = folder.part(1, age_ms=25 * HOUR, base=before), folder.part(2, age_ms=0, base=before)
    (mine := before / "mine.jpg").write_bytes(b"x")
    folder.row(3, mine, 25 * HOUR)
    assert await folder.reconcile() == 1
    assert (old.exists(), fresh.exists(), mine.exists()) == (False, True, True)


async def test_a_part_that_somebody_writes_stays_whatever_the_rows_say(folder: Folder) -> None:
    unnamed, old, left = folder.part(1), folder.part(2, age_ms=25 * HOUR), folder.part(3)
    with unnamed.open("ab") as first, old.open("ab") as second:
        fcntl.flock(first, fcntl.LOCK_EX)
        fcntl.flock(second, fcntl.LOCK_EX)
        assert await folder.reconcile() == 1
    assert (unnamed.exists(), old.exists(), left.exists()) == (True, True, False)
    assert [row.page for row in folder.staging.rows.values()] == [2]
    assert await folder.reconcile() == 2


async def test_a_row_that_is_written_while_a_start_looks_protects_its_part(folder: Folder) -> None:
    class Late(FakeStaging):
        async def all_staged(self) -> list[StagedPage]:
            before = list(self.rows.values())
            folder.row(1, path)
            return before

    path, folder.staging = folder.part(1), Late()
    assert await folder.reconcile() == 0
    assert path.exists()


async def test_a_base_that_is_called_by_another_name_has_the_same_parts(folder: Folder, tmp_path: Path) -> None:
    path = folder.part(1, age_ms=0)
    (other := tmp_path / "other-name").symlink_to(folder.base)
    assert await folder.reconcile(other) == 0
    assert path.exists()


async def test_no_link_is_followed_out_of_the_base(folder: Folder, tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    part = folder.part(1, base=outside)
    (folder.base / "link").symlink_to(outside)
    (folder.base / part.name).symlink_to(part)
    assert await folder.reconcile() == 0
    assert os.listdir(outside) == [part.name]


async def test_any_number_of_parts_goes(folder: Folder) -> None:
    for page in range(2 * AT_ONCE + 1):
        folder.part(page)
    assert await folder.reconcile() == 2 * AT_ONCE + 1
    assert folder.names == []
