"""The checker of leases tells live runs from dead ones by what was done to their processes."""

from pathlib import Path

import pytest

from tests.promises import liveness
from tests.promises.evidence import Run, Stop
from tests.promises.ledgers import with_changes
from tests.promises.transcripts import a_life, a_run, a_stop, looked_at

DEAD = a_run(ended_at=None, how="")
LATER = a_run("run-200-b", pid=200, at=40, ended_at=50, wall_ms=5_000)
LEASED = (
    "UPDATE schedule_slots SET status = 'running', completed_at = NULL, lease_owner = 'run-100-a', lease_until = {}"
)


def judged(tmp_path: Path, runs: tuple[Run, ...], *stops: Stop) -> list[str]:
    return liveness.judge(a_life(with_changes(tmp_path / "l.db"), runs=runs, stops=stops))


@pytest.mark.parametrize(
    ("runs", "stops"),
    [
        pytest.param((a_run(),), (), id="one run"),
        pytest.param((a_run(), LATER), (), id="one after the other"),
        pytest.param((DEAD, LATER), (a_stop("KILL", 10),), id="after a kill"),
        pytest.param((a_run(ended_at=60), LATER), (a_stop("FREEZE", 10, 55),), id="beside one that stands still"),
        pytest.param((a_run(ended_at=None, how=""), LATER), (a_stop("TERM", 10, 20),), id="after an orderly stop"),
    ],
)
def test_a_run_that_nobody_else_could_finish_may_be_followed(
    tmp_path: Path, runs: tuple[Run, ...], stops: tuple[Stop, ...]
) -> None:
    assert judged(tmp_path, runs, *stops) == []


@pytest.mark.parametrize(
    ("runs", "stops"),
    [
        pytest.param((a_run(ended_at=60), LATER), (), id="it came back later"),
        pytest.param((DEAD, LATER), (), id="it never came back and nobody stopped it"),
        pytest.param((DEAD, LATER), (a_stop("KILL", 45),), id="it was killed only afterwards"),
        pytest.param((DEAD, LATER), (a_stop("KILL", 10, pid=999),), id="somebody else was killed"),
    ],
)
def test_two_runs_at_once_are_named(tmp_path: Path, runs: tuple[Run, ...], stops: tuple[Stop, ...]) -> None:
    assert any("while run-100-a was alive" in fault for fault in judged(tmp_path, runs, *stops))


@pytest.mark.parametrize(("lease_until", "kept"), [(4_999, True), (5_000, True), (5_001, False)])
def test_the_lease_of_a_dead_run_stands_until_its_end(tmp_path: Path, lease_until: int, kept: bool) -> None:
    then = looked_at(with_changes(tmp_path / "then.db", LEASED.format(lease_until)), 30)
    final = with_changes(tmp_path / "l.db")
    life = a_life(final, runs=(DEAD, LATER), stops=(a_stop("KILL", 10),), snapshots=(then, looked_at(final, 1_000)))
    assert (liveness.judge(life) == []) is kept


def test_a_live_run_whose_cell_was_swept_is_named(tmp_path: Path) -> None:
    swept = "UPDATE schedule_slot_items SET status = 'failed', terminal_reason_code = 'stalled_no_heartbeat'"
    life = a_life(with_changes(tmp_path / "l.db", swept))
    assert any("swept as `stalled_no_heartbeat`" in fault for fault in liveness.judge(life))


def test_a_dead_run_that_nobody_took_up_is_named(tmp_path: Path) -> None:
    life = a_life(with_changes(tmp_path / "l.db", LEASED.format(1)), runs=(DEAD,), stops=(a_stop("KILL", 10),))
    assert any("nobody took it up" in fault for fault in liveness.judge(life))
