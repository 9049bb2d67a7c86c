"""From a list to the window that is tried: what is left out is counted, and a limit counts new works alone."""

from random import Random
from typing import Any

import pytest

from pixivflow.config.model import Download, Target
from pixivflow.config.validate import validate
from pixivflow.ids import WorkId
from pixivflow.selection.planner import plan, scan_limit
from pixivflow.slots.ports import Choice, Seen
from tests.fixtures.documents import a_document
from tests.fixtures.documents import a_target as written
from tests.fixtures.walks import a_target, a_work


def planned(
    target: Target,
    *ids: int,
    stored: tuple[int, ...] = (),
    served: tuple[int, ...] = (),
    wanted: int = 1,
    scans: int = 5,
) -> Choice:
    seen = Seen(stored=_ids(stored), served=_ids(served))
    return plan([a_work(each) for each in ids], seen, target, None, wanted=wanted, scans=scans, chance=Random(7))


def _ids(numbers: tuple[int, ...]) -> frozenset[WorkId]:
    return frozenset(WorkId(str(number)) for number in numbers)


def queue(choice: Choice) -> list[str]:
    return [work.work_id for work in choice.queue]


@pytest.mark.case("download", 39)
def test_known_works_are_counted_and_the_first_new_one_is_tried() -> None:
    choice = planned(a_target(), 1, 2, 3, 4, 5, stored=(1, 2), served=(3, 4))
    assert queue(choice) == ["5"]
    assert [(skip.code.value, skip.work_id) for skip in choice.skips] == [
        ("duplicate", str(each)) for each in range(1, 5)
    ]


def test_at_most_so_many_works_are_tried_as_the_scan_or_the_wish_allows() -> None:
    assert queue(planned(a_target(), *range(1, 31))) == ["1", "2", "3", "4", "5"]
    assert len(planned(a_target(limit=8), *range(1, 31), wanted=8).queue) == 8


def test_a_work_that_stands_in_a_list_twice_is_tried_once_and_not_counted_again() -> None:
    choice = planned(a_target(min_bookmarks=0), 1, 2, 1, 3, 2, stored=(2,))
    assert (queue(choice), len(choice.skips)) == (["1", "3"], 1)


def test_a_rule_of_the_target_outranks_what_is_known() -> None:
    choice = planned(a_target(min_bookmarks=5), 1, stored=(1,))
    assert [skip.code.value for skip in choice.skips] == ["filtered"]


@pytest.mark.case("download", 48)
def test_a_random_target_tries_fifty_of_two_hundred_or_as_many_as_it_says() -> None:
    by_chance = planned(a_target(random=True), *range(1, 201))
    assert (len(by_chance.queue), by_chance.bound) == (50, 50)
    assert queue(by_chance) != [str(each) for each in range(1, 51)]
    assert len(planned(a_target(random=True, candidate_scan_limit=7), *range(1, 201), scans=7).queue) == 7


@pytest.mark.case("download", 44)
@pytest.mark.parametrize(("configured", "tries"), [(0, 1), (500, 100), (None, 5), (-3, 1), (7, 7)])
def test_a_scan_limit_is_kept_within_one_and_a_hundred(configured: int | None, tries: int) -> None:
    of_all: Any = validate(a_document(download={"candidateScanLimit": configured})).used["download"]
    default = of_all.get("candidateScanLimit", Download().candidate_scan_limit)
    assert scan_limit(a_target(), default, 0) == tries
    of_one: Any = validate(a_document(targets=[written(candidateScanLimit=configured)])).used["targets"]
    assert scan_limit(a_target(candidate_scan_limit=of_one[0].get("candidateScanLimit")), 5, 0) == tries


@pytest.mark.parametrize(("stage", "tries"), [(0, 5), (1, 10), (2, 15), (30, 100)])
def test_each_stage_tries_more(stage: int, tries: int) -> None:
    assert scan_limit(a_target(), 5, stage) == tries
