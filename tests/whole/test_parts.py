"""Killed in the middle of a large page, the program goes on where the disk can be counted on."""

import hashlib
import sqlite3
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.crash.process import ROOT
from tests.crash.waiting import until
from tests.promises.evidence import Row
from tests.whole.settings import TOP, write
from tests.whole.stage import Stage

WORK, OTHER, FIVE = 100_001, 100_002, 101_004
MIB = 1 << 20
PAGE_BYTES = 40 * MIB
STAGED = "SELECT * FROM download_files WHERE state = 'staged' ORDER BY page"
FINAL = "SELECT * FROM download_files WHERE state = 'final' ORDER BY page"
LIMIT_S = 60.0


def prepared(stage: Stage, work: int, page_bytes: int = 40_000) -> None:
    """One target, pinned to the work, whose pages are that large, and delivered by a few words."""
    there = {"storageMode": "cache", "delivery": {"targets": ["channel"]}}
    stage.settings["targets"] = [{"id": TOP, "type": "illustration", "illustId": work, **there}]
    stage.pixiv.tell("works", {"works": [{"id": work, "image_bytes": page_bytes}]})


def killed(stage: Stage, point: str) -> list[Row]:
    """The rows of pages that a daemon leaves which dies there."""
    daemon = stage.daemon(point=point)
    assert stage.trigger(daemon).status == 202
    until(f"death at {point}", lambda: not daemon.alive(), LIMIT_S)
    stage.look()
    return stage.rows(STAGED)


def ended_well(stage: Stage) -> list[Row]:
    """The rows of files once another daemon has done the rest."""
    daemon = stage.daemon()
    stage.until_all_ended()
    assert daemon.stop() == 0
    assert stage.verdict() == []
    assert [row["status"] for row in stage.rows("SELECT status FROM schedule_slots")] == ["success"]
    return stage.rows(FINAL)


def ranges(stage: Stage) -> list[str | None]:
    """From where each request for a picture asked."""
    return [each["headers"].get("range") for each in stage.pixiv.requests("img")]


def is_what_the_host_has(stage: Stage, file: Row) -> bool:
    """Whether the file is the picture, byte by byte, and its row tells so."""
    stage.pixiv.calm()
    path = stage.pixiv.requests("img")[0]["path"]
    with closing(HTTPConnection("127.0.0.1", stage.pixiv.port, timeout=LIMIT_S)) as line:
        line.request("GET", path, headers={"Referer": "https://www.pixiv.net/"})
        content = line.getresponse().read()
    told = (len(content), hashlib.sha256(content).hexdigest())
    return Path(file["file_path"]).read_bytes() == content and (file["size"], file["sha256"]) == told


@pytest.mark.case("download", 123)
@pytest.mark.parametrize("found", ["the same file", "another file", "no row"])
def test_a_page_that_was_killed_in_its_middle_is_gone_on_with_if_it_is_still_the_same(
    found: str, tmp_path: Path
) -> None:
    with Stage(tmp_path) as stage:
        prepared(stage, WORK, PAGE_BYTES)
        [row] = killed(stage, "page.marked:2")
        assert 16 * MIB <= row["bytes_done"] <= Path(row["part_path"]).stat().st_size < PAGE_BYTES
        if found == "another file":
            stage.pixiv.tell("faults", {"fault": "etag_change", "match": {"kind": "img"}})
        if found == "no row":
            with closing(sqlite3.connect(stage.ledger)) as db, db:
                db.execute("DELETE FROM download_files")
        [file] = ended_well(stage)

        assert ranges(stage) == [None, None if found == "no row" else f"bytes={row['bytes_done']}-"]
        said = (tmp_path / "daemon-2.stderr").read_text()
        assert ("download.parts_removed" in said) == (found == "no row")
        assert not Path(row["part_path"]).exists()
        assert is_what_the_host_has(stage, file)


@pytest.mark.case("download", 84)
def test_pages_that_were_whole_when_the_process_was_killed_are_used_and_none_had_a_name(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        prepared(stage, FIVE)
        stage.settings["download"]["concurrency"] = 1
        whole = killed(stage, "page.staged:2")
        assert [(row["page"], row["format"], row["size"]) for row in whole] == [
            (1, "jpeg", 40_000),
            (2, "jpeg", 40_000),
        ]
        assert all(path.name.startswith(".part-") for path in (tmp_path / "files").rglob("*") if path.is_file())
        files = ended_well(stage)

        assert [row["page"] for row in files] == [1, 2, 3, 4, 5]
        assert stage.rows(STAGED) == []
        asked = [each["path"].rpartition("_p")[2] for each in stage.pixiv.requests("img")]
        assert [name.partition(".")[0] for name in asked] == ["0", "1", "2", "3", "4"]


def test_a_stop_in_the_middle_of_a_page_loses_nothing_of_it(tmp_path: Path) -> None:
    with Stage(tmp_path, timings={"shutdown_grace_ms": 4_000}) as stage:
        prepared(stage, WORK, 4 * MIB)
        stalled = {"fault": "stall", "args": {"after_bytes": 3 * MIB}, "match": {"kind": "img"}, "count": 1}
        stage.pixiv.tell("faults", stalled)
        daemon = stage.daemon()
        assert stage.trigger(daemon).status == 202
        until("two mebibytes of the page", lambda: sizes(tmp_path)[:1] >= [2 * MIB])
        assert daemon.stop() == 0
        [row] = stage.rows(STAGED)
        assert row["bytes_done"] >= 2 * MIB
        [file] = ended_well(stage)
        assert ranges(stage) == [None, f"bytes={row['bytes_done']}-"]
        assert is_what_the_host_has(stage, file)


def sizes(folder: Path) -> list[int]:
    """Of the parts."""
    return [path.stat().st_size for path in (folder / "files").rglob(".part-*")]


def by_hand(stage: Stage, work: int) -> dict[str, Any]:
    """`pixivflow download --url` with the daemon's own settings; how it ended, and what it said."""
    write(stage.config, stage.settings)
    command = [sys.executable, "-m", "pixivflow", "download", "--url", f"{work}", "--config", f"{stage.config}"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    return {"code": ended.returncode, "removed": "download.parts_removed" in ended.stderr, "said": ended.stderr}


def test_a_download_by_hand_removes_what_a_dead_daemon_left_and_nothing_of_a_living_one(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        prepared(stage, WORK, 4 * MIB)
        stage.pixiv.tell(
            "faults", {"fault": "stall", "args": {"after_bytes": 2 * MIB}, "match": {"kind": "img", "work": WORK}}
        )
        daemon = stage.daemon()
        assert stage.trigger(daemon).status == 202
        until("a page that no row names yet", lambda: sizes(tmp_path)[:1] >= [MIB])
        beside = by_hand(stage, OTHER)
        assert (beside["code"], beside["removed"]) == (0, False), beside
        assert stage.rows(STAGED) == []
        assert len(sizes(tmp_path)) == 1

        daemon.kill()
        after = by_hand(stage, OTHER)
        assert (after["code"], after["removed"], sizes(tmp_path)) == (0, True, [])
