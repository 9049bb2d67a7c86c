"""A run before the sandbox brings all pages of a work or none of them, in its rows as on the disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

from actors.kit.testing import Probe
from pixivflow.config.model import Download, Network, Storage
from pixivflow.download.fetch import PageFetcher
from pixivflow.sandbox.hosts import local_bases
from pixivflow.slots.model import CellStatus
from tests.edges.pixiv.stage import PORT, Stage
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.walks import Scene, a_target

THREE = 101_002
"""A work of three pages."""


def files(folder: Path) -> list[str]:
    """Everything below the folder that has a final name."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".part-"))


@pytest.mark.case("download", 82)
@pytest.mark.case("download", 83)
async def test_a_page_that_never_comes_leaves_no_file_and_no_row_and_the_next_run_asks_for_what_is_missing(
    scene: Callable[..., Scene], tmp_path: Path
) -> None:
    stage, folder = Stage(), tmp_path / "illustrations"
    fetcher = PageFetcher(
        Storage(illustration_directory=folder),
        Download(request_delay_ms=0, concurrency=1),
        Network(retries=1, retry_delay_ms=1),
        stage.played,
        user_agent="PixivAndroidApp/5.0.234 (Android 11; Pixel 6)",
        image=local_bases(PORT).img,
        clock=StoppedClock(),
        note=Probe().note,
    )
    run = scene(source=stage.source, fetcher=fetcher, targets=(a_target(illust_id=THREE),), tries=2)
    stage.played.fault("status", match={"kind": "img", "page": 1}, code=500)

    await run.live(finishes=False)
    assert (run.cell().status, run.report()["counts"]) == (CellStatus.PENDING, {"unavailable": 1})
    assert (files(folder), run.stored()) == ([], [])
    assert run.db.execute("SELECT count(*) FROM download_files").fetchone() == (0,)

    stage.played.ask.tell("/faults", method="DELETE")
    asked = len(stage.played.paths("/img-original/"))
    await run.live()
    assert (run.cell().status, run.cell().work_id) == (CellStatus.SUBMITTED, f"{THREE}")
    assert len(files(folder)) == 3
    assert [path.rpartition("_")[2][:2] for path in stage.played.paths("/img-original/")[asked:]] == ["p1", "p2"]
