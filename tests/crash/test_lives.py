"""Whatever kills a daemon, and whenever: what was accepted ends, once, and nothing is told otherwise than it was."""

from pathlib import Path

import pytest

from tests.campaigns import claims, crash


@pytest.mark.parametrize("seed", [101, 102, 103])
def test_a_daemon_killed_at_random_keeps_every_promise(tmp_path: Path, seed: int) -> None:
    assert crash.live(tmp_path, seed) == []


@pytest.mark.parametrize("point", crash.points())
def test_a_daemon_that_dies_at_a_named_point_keeps_every_promise(tmp_path: Path, point: str) -> None:
    assert crash.live(tmp_path, 7, point) == []


def test_without_any_hint_everything_still_happens_by_looking(tmp_path: Path) -> None:
    assert crash.live(tmp_path, 104, deaf=True) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_of_two_daemons_one_owns_and_the_one_that_slept_writes_nothing(tmp_path: Path, seed: int) -> None:
    assert claims.race(tmp_path, seed) == []
