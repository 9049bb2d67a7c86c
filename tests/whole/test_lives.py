"""Whatever kills the whole program, and whenever: what was accepted ends, and receivers hold it once."""

from pathlib import Path

import pytest

from pixivflow.failpoints import POINTS
from tests.campaigns import whole


@pytest.mark.parametrize("seed", range(2001, 2031))
def test_a_daemon_killed_at_random_keeps_every_promise(tmp_path: Path, seed: int) -> None:
    assert whole.live(tmp_path, seed) == []


@pytest.mark.parametrize("point", sorted(POINTS))
def test_a_daemon_that_dies_at_a_named_point_keeps_every_promise(tmp_path: Path, point: str) -> None:
    assert whole.live(tmp_path, 7, point) == []
