"""Which cells belong to one work, and how many new works a target wants."""

import pytest

from pixivflow.config.model import Target
from pixivflow.selection.identity import is_single, limit_of, pinned
from tests.fixtures.walks import a_target


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(a_target(limit=1), (True, 1), id="one is asked for"),
        pytest.param(a_target(limit=2), (False, 2), id="two are asked for"),
        pytest.param(a_target(limit=None), (False, 10), id="a search that asks for no number"),
        pytest.param(a_target(limit=None, mode="ranking"), (False, 10), id="a ranking that asks for no number"),
        pytest.param(a_target(limit=None, illust_id=5), (True, 1), id="pinned"),
        pytest.param(a_target(limit=3, illust_id=5), (False, 3), id="pinned, but three are asked for"),
        pytest.param(a_target(limit=None, mode="topic"), (True, 1), id="a topic that asks for no number"),
        pytest.param(a_target(limit=None, mode="topic", user_id="7"), (False, 10), id="a topic of a user"),
        pytest.param(a_target(limit=None, mode="topic", series_id=7), (False, 10), id="a topic of a series"),
    ],
)
def test_one_work_owns_the_cell_of_a_target_that_can_only_want_one(target: Target, expected: tuple[bool, int]) -> None:
    assert (is_single(target), limit_of(target)) == expected


def test_a_number_of_the_other_type_pins_nothing() -> None:
    assert pinned(a_target(novel_id=5)) is None
    found = pinned(a_target(illust_id=5))
    assert found is not None
    assert (found.work_id, found.work_type) == ("5", "illustration")
