"""Told to stop in the middle of a download, the program leaves in time and the next one goes on with the same work."""

import time
from pathlib import Path

from tests.crash.process import Process
from tests.crash.waiting import until
from tests.whole.settings import KEPT, TOP
from tests.whole.stage import Stage

FENCE_S = 30.0
"""Only a fault takes so long."""
STALLED = {"fault": "stall", "args": {"after_bytes": 100}, "match": {"kind": "img"}}
BOUND = "SELECT target_id, work_id FROM schedule_slot_items WHERE target_id = ? AND work_id IS NOT NULL"
SLOT = "SELECT status, lease_owner, lease_until FROM schedule_slots"


def said(daemon: Process) -> list[str]:
    """Every line of the daemon's, on either stream."""
    return [line for path in daemon.outputs.values() for line in path.read_text().splitlines()]


def test_a_stop_in_mid_download_leaves_the_slot_and_the_next_start_finishes_its_work(tmp_path: Path) -> None:
    with Stage(tmp_path, timings={"shutdown_grace_ms": 4_000}) as stage:
        stage.settings["targets"] = [each for each in stage.settings["targets"] if each["id"] == TOP]
        stage.pixiv.tell(
            "faults", {"fault": "stall", "args": {"after_bytes": 100}, "match": {"kind": "img"}, "id": "s"}
        )
        daemon = stage.daemon()
        assert stage.trigger(daemon).status == 202
        until("a picture to be on its way", lambda: stage.pixiv.requests("img"))
        [before] = stage.rows(BOUND, TOP)
        began = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - began < FENCE_S
        assert any("daemon.left" in line and "SIGTERM" in line for line in said(daemon))
        assert stage.rows(SLOT) == [{"status": "running", "lease_owner": None, "lease_until": None}]
        assert (asked := stage.pixiv.lists_asked_for()) > 0
        stage.look()

        stage.pixiv.calm()
        daemon = stage.daemon()
        stage.until_all_ended()
        assert daemon.stop() == 0
        assert stage.rows(BOUND, TOP) == [before]
        assert stage.pixiv.lists_asked_for() == asked
        assert [row["status"] for row in stage.rows(SLOT)] == ["success"]
        assert stage.verdict() == []


def test_a_stop_among_many_works_counts_those_that_are_there(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.pixiv.tell("faults", {**STALLED, "skip": 1})
        daemon = stage.daemon()
        assert stage.trigger(daemon).status == 202
        until("a second picture to be on its way", lambda: len(stage.pixiv.requests("img")) > 1)
        assert daemon.stop() == 0
        assert stage.rows(SLOT) == [{"status": "running", "lease_owner": None, "lease_until": None}]

        stage.pixiv.calm()
        daemon = stage.daemon()
        stage.until_all_ended()
        assert daemon.stop() == 0
        [cell] = stage.rows("SELECT stored_count, status FROM schedule_slot_items WHERE target_id = ?", KEPT)
        assert cell == {"stored_count": 2, "status": "submitted"}
        assert stage.verdict() == []


def test_what_an_earlier_life_left_half_written_is_removed_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "files" / "illustrations"
    folder.mkdir(parents=True)
    half, foreign = folder / ".part-100800-1-0123456789ab", folder / "notes.txt"
    half.write_bytes(b"\xff\xd8")
    foreign.write_text("not ours")
    with Stage(tmp_path) as stage:
        daemon = stage.daemon()
        assert stage.trigger(daemon).status == 202
        stage.until_all_ended()
        assert daemon.stop() == 0
        assert stage.verdict() == []
    assert foreign.read_text() == "not ours"
