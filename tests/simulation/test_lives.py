"""Whole daemons, simulated from a seed: killed, stopped, set to another time, refused and left hanging by receivers.

Every commit is held against the laws of `laws`, `fates` and `agreement`; at the end of a story nothing is unfinished,
and what the receiver saw is what the ledger says (`wire`). `python -m tests.campaign simulation --seeds N` plays more.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaigns.simulation import run
from tests.simulation.lives import digest, play

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", range(30))
def test_a_story_breaks_no_law_and_comes_to_its_end(seed: int) -> None:
    result = run(seed)
    assert result.ok, result.line


def test_a_seed_is_one_story_in_every_process(tmp_path: Path) -> None:
    seed = 2
    first = digest(*play(seed, tmp_path / "first.db"))
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
    assert len({digest(*play(seed, tmp_path / f"{seed}.db")) for seed in range(5)}) == 5
