"""A run before the sandbox brings all pages of a work or none of them, in its rows as on the disk."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.kit.testing import Probe
from pixivflow.config.model import Download, Network, Storage
from pixivflow.download.fetch import PageFetcher
from pixivflow.download.shelf import Shelf
from pixivflow.sandbox.hosts import local_bases
from pixivflow.slots.model import CellStatus
from tests.edges.download.stage import harm
from tests.edges.pixiv.stage import PORT, Stage
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.staging import FakeStaging
from tests.fixtures.walks import Scene, a_target

THREE, FIVE = 101_002, 101_004
"""Works of so many pages."""


class Desk:
    """One work to be brought to a folder of the test's own, in runs of one process and of the next ones."""

    def __init__(self, make: Callable[..., Scene], folder: Path, work: int) -> None:
        self._make, self.folder, self.work, self.stage = make, folder, work, Stage()
        self.run = self.on_a_new_ledger()

    def on_a_new_ledger(self) -> Scene:
        """A new process that knows of nothing but the folder."""
        fetcher = PageFetcher(
            Storage(illustration_directory=self.folder),
            Download(request_delay_ms=0, concurrency=1),
            Network(retries=1, retry_delay_ms=1),
            self.stage.played,
            user_agent="PixivAndroidApp/5.0.234 (Android 11; Pixel 6)",
            image=local_bases(PORT).img,
            clock=StoppedClock(),
            note=Probe().note,
            shelf=Shelf(FakeStaging(), StoppedClock()),
        )
        target = a_target(illust_id=self.work)
        self.run = self._make(source=self.stage.source, fetcher=fetcher, targets=(target,), tries=2)
        return self.run

    @property
    def files(self) -> list[Path]:
        """Everything below the folder that has a final name."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path for path in found if not path.name.startswith(".part-"))

    @property
    def parts(self) -> list[Path]:
        return list(self.folder.rglob(".part-*"))

    @property
    def rows(self) -> list[str]:
        """The paths of the recorded files, page by page; every recorded page is in `downloads` as well."""
        found = self.run.db.execute("SELECT file_path FROM download_files ORDER BY page").fetchall()
        downloads = self.run.db.execute("SELECT file_path FROM downloads ORDER BY id").fetchall()
        assert sorted(found) == sorted(downloads)
        return [path for (path,) in found]

    @property
    def asked(self) -> list[str]:
        """Which pages were asked for, as the addresses count them."""
        return [path.rpartition("_")[2].partition(".")[0] for path in self.stage.played.paths("/img-original/")]


@pytest.mark.case("download", 82)
@pytest.mark.case("download", 83)
async def test_a_page_that_never_comes_leaves_no_file_and_no_row_and_the_next_run_asks_for_what_is_missing(
    scene: Callable[..., Scene], tmp_path: Path
) -> None:
    desk = Desk(scene, tmp_path / "illustrations", THREE)
    desk.stage.played.fault("status", match={"kind": "img", "page": 1}, code=500)

    await desk.run.live(finishes=False)
    assert (desk.run.cell().status, desk.run.report()["counts"]) == (CellStatus.PENDING, {"unavailable": 1})
    assert (desk.files, desk.rows) == ([], [])

    desk.stage.played.ask.tell("/faults", method="DELETE")
    before = len(desk.asked)
    await desk.run.live()
    assert (desk.run.cell().status, desk.run.cell().work_id) == (CellStatus.SUBMITTED, f"{THREE}")
    assert [f"{path}" for path in desk.files] == desk.rows
    assert (len(desk.rows), desk.asked[before:]) == (3, ["p1", "p2"])


@pytest.mark.case("download", 85)
async def test_a_full_disk_ends_the_search_leaves_no_part_and_keeps_the_cell_for_another_run(
    scene: Callable[..., Scene], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(scene, tmp_path / "illustrations", THREE)

    def full(part: object, attempt: int, pieces: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("pixivflow.download.part.Part.write", full)
        await desk.run.live(finishes=False)
    assert (desk.run.cell().status, desk.run.report()["outages"]) == (CellStatus.SELECTED, ["storage_unavailable"])
    assert desk.run.cell().last_error == f"storage: {desk.folder}: No space left on device"
    assert (desk.asked, desk.files, desk.parts, desk.rows) == (["p0"], [], [], [])

    await desk.run.live()
    assert (desk.run.cell().status, len(desk.rows)) == (CellStatus.SUBMITTED, 3)


@pytest.mark.case("download", 94)
async def test_files_that_an_empty_ledger_does_not_know_are_recorded_without_a_request(
    scene: Callable[..., Scene], tmp_path: Path
) -> None:
    desk = Desk(scene, tmp_path / "illustrations", FIVE)
    await desk.run.live()
    known, asked = desk.rows, len(desk.asked)
    assert (len(known), asked) == (5, 5)

    await desk.on_a_new_ledger().live()
    assert (desk.run.cell().status, desk.rows, len(desk.asked)) == (CellStatus.SUBMITTED, known, asked)
    assert [f"{path}" for path in desk.files] == known


@pytest.mark.case("download", 95)
async def test_of_five_pages_of_which_one_is_there_four_are_asked_for_and_five_recorded(
    scene: Callable[..., Scene], tmp_path: Path
) -> None:
    desk = Desk(scene, tmp_path / "illustrations", FIVE)
    await desk.run.live()
    known, asked = desk.rows, len(desk.asked)
    for path in known[1:]:
        harm(path, "gone")

    await desk.on_a_new_ledger().live()
    assert (desk.rows, desk.asked[asked:]) == (known, ["p1", "p2", "p3", "p4"])
