"""Looking again: wider each time, a fixed number of times, remembered in the row, and only for who found nothing."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest

from pixivflow.config.validate import validate
from pixivflow.slots.model import CellStatus
from tests.fixtures.documents import a_document
from tests.fixtures.slots import a_slot
from tests.fixtures.walks import FakeSource, Scene, a_target, a_work

C = CellStatus
Make = Callable[..., Scene]


def long_ones(*ids: int) -> FakeSource:
    """Works that are all declined for their length: tried, and never wanted."""
    return FakeSource([a_work(each, page_count=99) for each in ids])


def tries(run: Scene) -> list[int]:
    """How many works each pass looked at."""
    runs = groupby(run.source.asked, lambda request: request.startswith("detail"))
    return [len(list(requests)) for is_detail, requests in runs if is_detail]


@pytest.mark.case("slots", 44)
@pytest.mark.case("download", 46)
async def test_three_empty_passes_look_wider_each_time_and_end_with_the_true_reason(scene: Make) -> None:
    run = scene(targets=(a_target(max_page_count=1),), source=long_ones(*range(1, 41)))
    status = await run.live()
    assert tries(run) == [5, 10, 15]
    cell = run.cell()
    assert (cell.status, cell.fallback_stage, cell.reason_code) == (C.NO_CANDIDATE, 2, "filter_exhausted")
    assert (run.report()["stage"], run.report()["bound"], run.report()["counts"]) == (2, 15, {"filtered": 15})
    assert status == "failed"


@pytest.mark.case("download", 46)
async def test_a_bound_of_forty_grows_to_a_hundred_and_no_further(scene: Make) -> None:
    target = a_target(max_page_count=1, candidate_scan_limit=40, sort="popular_desc")
    run = scene(targets=(target,), source=long_ones(*range(1, 301)))
    await run.live()
    assert tries(run) == [40, 80, 100]


@pytest.mark.case("slots", 45)
@pytest.mark.case("download", 40)
async def test_a_pool_of_nothing_but_known_works_ends_the_cell_in_one_pass(scene: Make) -> None:
    run = scene(targets=(a_target(limit=30),), source=FakeSource([a_work(each) for each in range(1, 31)]))
    await run.live()
    assert len(run.stored()) == 30
    run.source.asked.clear()
    run.targets = (a_target(),)
    run.next_slot()
    await run.live()
    cell = run.cell()
    assert (cell.status, cell.fallback_stage, cell.reason_code) == (C.NO_CANDIDATE, 0, "duplicate_exhausted")
    assert run.source.asked == ["search sky"]
    assert (run.report()["attempted"], run.report()["counts"]) == (0, {"duplicate": 30})


@pytest.mark.case("slots", 46)
@pytest.mark.case("download", 47)
async def test_a_run_that_died_between_two_passes_goes_on_at_its_stage_and_leaves_the_others_alone(
    scene: Make,
) -> None:
    run = scene(targets=(a_target("a", max_page_count=1), a_target("b")), source=long_ones(*range(1, 41)))
    await run.live(die_at="cell.served", nth=2)
    assert (run.cell("a").fallback_stage, run.cell("b").status) == (1, C.SUBMITTED)
    run.source.asked.clear()
    await run.live()
    assert tries(run) == [10, 15]
    assert run.fetcher.requests == ["1"]


async def test_who_finds_something_has_no_further_pass(scene: Make) -> None:
    source = FakeSource([a_work(each, page_count=99 if each < 8 else 1) for each in range(1, 41)])
    run = scene(targets=(a_target(max_page_count=1),), source=source)
    await run.live()
    assert tries(run) == [5, 8]
    assert (run.cell().work_id, run.cell().status) == ("8", C.SUBMITTED)


@pytest.mark.case("slots", 47)
@pytest.mark.parametrize(("configured", "passes"), [(0, 1), (1, 1), (99, 10)])
async def test_a_requester_gets_the_first_answer_and_the_number_of_passes_is_kept_in_bounds(
    scene: Make, configured: int, passes: int
) -> None:
    download: Any = validate(a_document(download={"maxFallbackStages": configured})).used["download"]
    stages = download["maxFallbackStages"]
    waited = scene(targets=(a_target(max_page_count=1),), source=long_ones(1), stages=stages)
    waited_for = scene(
        targets=(a_target(max_page_count=1),), source=long_ones(1), slot=a_slot(manual_request_id="key"), stages=stages
    )
    for run in (waited, waited_for):
        await run.live()
        assert run.cell().status is C.NO_CANDIDATE
    assert (len(tries(waited)), len(tries(waited_for))) == (passes, 1)


@pytest.mark.case("download", 35)
async def test_an_empty_ranking_is_an_empty_day_and_no_failure(scene: Make) -> None:
    run = scene(targets=(a_target(mode="ranking"),), source=FakeSource([]))
    await run.live()
    assert (run.cell().status, run.cell().reason_code) == (C.NO_CANDIDATE, "no_candidate")


@pytest.mark.case("download", 41)
async def test_works_below_the_wanted_bookmarks_exhaust_the_filter(scene: Make) -> None:
    run = scene(targets=(a_target(min_bookmarks=10),), source=FakeSource([a_work(101), a_work(102, bookmarks=9)]))
    await run.live()
    assert (run.cell().status, run.cell().reason_code) == (C.NO_CANDIDATE, "filter_exhausted")
    assert (run.fetcher.requests, run.report()["counts"]) == ([], {"filtered": 2})


async def test_an_empty_list_is_an_empty_day_and_tells_how_much_was_read(scene: Make) -> None:
    run = scene(source=FakeSource([]))
    await run.live()
    cell = run.cell()
    assert (cell.status, cell.reason_code) == (C.NO_CANDIDATE, "no_candidate")
    assert run.report() == {
        "stage": 2,
        "bound": 15,
        "read": 0,
        "attempted": 0,
        "counts": {},
        "outages": [],
        "cause": None,
        "skipped": [],
    }


async def test_an_empty_day_is_told_once_with_its_numbers(scene: Make) -> None:
    run = scene(targets=(a_target(max_page_count=1),), source=long_ones(1, 2))
    await run.live()
    assert run.probe.heard("candidate_exhaustion") == [
        {
            "schedule_id": "p",
            "slot_id": run.slot.id,
            "bot_id": "p",
            "target_id": "a",
            "stage": "candidate_selection",
            "result": "no_candidate",
            "reason": "filter_exhausted",
            "searched": 4,
            "duplicates": 0,
            "filtered": 2,
            "attempted": 2,
        }
    ]


@pytest.mark.case("slots", 14)
async def test_a_target_that_the_settings_no_longer_name_is_not_run_and_one_that_they_name_now_neither(
    scene: Make,
) -> None:
    run = scene(targets=(a_target("a"), a_target("b")), source=FakeSource([a_work(1), a_work(2)]))
    run.targets = (a_target("b"), a_target("c"))
    await run.live()
    assert (run.cell("a").status, run.cell("a").last_error) == (C.FAILED, "target did not complete")
    assert run.cell("b").status is C.SUBMITTED
    assert run.fetcher.requests == ["1"]


async def test_targets_are_served_in_the_order_of_the_settings(scene: Make) -> None:
    targets = (a_target("b", tag="first"), a_target("a", tag="second"))
    run = scene(targets=targets, source=FakeSource([a_work(1), a_work(2)]))
    await run.live()
    assert run.source.lists == ["search first", "search second"]


async def test_a_slot_whose_cells_are_all_submitted_is_a_success_with_one_outcome_row(scene: Make) -> None:
    run = scene(
        targets=(a_target("a"), a_target("b", limit=2)), source=FakeSource([a_work(each) for each in (1, 2, 3)])
    )
    assert await run.live() == "success"
    outcomes = run.db.execute("SELECT COUNT(*) FROM delivery_events WHERE event = 'execution.summary'").fetchall()
    assert outcomes == [(1,)]
    await run.live()
    assert run.db.execute("SELECT COUNT(*) FROM delivery_events WHERE event = 'execution.summary'").fetchall() == [(1,)]
