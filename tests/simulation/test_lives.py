"""Whole daemons, simulated from a seed: killed, stopped, set to another time, refused and left hanging by receivers.

Every commit is held against the laws of `laws`, `fates` and `agreement`; at the end of a story nothing is unfinished,
and what the receiver saw is what the ledger says (`wire`). `python -m tests.campaign simulation --seeds N` plays more.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from pixivflow.ids import ScheduleId, SlotId, TargetId
from pixivflow.scheduling.model import Plan
from tests.campaigns.simulation import run
from tests.simulation.lives import digest, play
from tests.simulation.look import cells_of
from tests.simulation.story import TIMEOUT_MS, Story, Wish, story

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", range(30))
def test_a_story_breaks_no_law_and_comes_to_its_end(seed: int) -> None:
    result = run(seed)
    assert result.ok, result.line


def test_a_seed_is_one_story_in_every_process(tmp_path: Path) -> None:
    seed = 2
    first = digest(*play(story(seed), tmp_path / "first.db"))
    for hash_seed in ("1", "2"):
        again = subprocess.run(
            [sys.executable, "-m", "tests.simulation.lives", str(seed)],
            cwd=ROOT,
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert again.stdout.strip() == first


def test_another_seed_is_another_story(tmp_path: Path) -> None:
    assert len({digest(*play(story(seed), tmp_path / f"{seed}.db")) for seed in range(5)}) == 5


def test_a_clock_set_ahead_between_heartbeat_and_tick_takes_no_slot_from_its_run(tmp_path: Path) -> None:
    """The run begins at 35 s and beats at 65 s; the sweeper looks at 60 s, when every lease seems long over."""
    plan, slot = ScheduleId("p0"), SlotId("p0@2026-01-15T0300")
    told = Story(
        seed=0,
        plans=(Plan(id=plan, enabled=True, timeout_ms=TIMEOUT_MS, armed_at=0),),
        wishes=(Wish(at_s=35.0, slot=slot, plan=plan, targets=(TargetId("t0"),)),),
        clock_steps=((58.0, 3_600_000),),
        acts={slot: "overrun"},
    )
    chronicle, rows = play(told, tmp_path / "ledger.db")
    assert chronicle.faults == []
    assert [cell["terminal_reason_code"] for cell in cells_of(rows, slot)] == ["execution_timeout"]
