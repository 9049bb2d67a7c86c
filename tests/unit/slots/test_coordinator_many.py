"""A cell of many works: bound to none, as many new ones as it wants, and what is missing after an interruption."""

from collections.abc import Callable

import pytest

from pixivflow.errors import Outage, Unavailable
from pixivflow.slots.model import CellStatus
from tests.fixtures.walks import FakeFetcher, FakeSource, Scene, a_target, a_work, routed

C = CellStatus
Make = Callable[..., Scene]


def works(first: int, last: int) -> FakeSource:
    return FakeSource([a_work(each) for each in range(first, last + 1)])


@pytest.mark.case("download", 73)
async def test_as_many_new_works_as_wanted_are_stored_and_the_cell_names_none(scene: Make) -> None:
    run = scene(targets=(a_target(limit=3),), source=works(1, 9))
    status = await run.live()
    assert run.stored() == ["1", "2", "3"]
    assert (run.cell().status, run.cell().work_id, run.cell().attempt_count) == (C.SUBMITTED, None, 0)
    assert status == "success"


async def test_the_next_run_of_the_same_list_brings_the_next_works_and_never_stands_still(scene: Make) -> None:
    brought = []
    source, fetcher = works(1, 100), FakeFetcher()
    run = scene(targets=(a_target(limit=10),), source=source, fetcher=fetcher)
    for _ in range(10):
        run.next_slot()
        await run.live()
        brought.append(len(run.stored()))
    assert brought == [10 * day for day in range(1, 11)]
    assert len(set(fetcher.requests)) == len(fetcher.requests) == 100


async def test_a_cell_with_routes_promises_each_work_and_waits_for_all(scene: Make) -> None:
    run = scene(targets=(routed(a_target(limit=2), "r1"),), source=works(1, 5))
    await run.live()
    assert run.promised() == [("1", "r1"), ("2", "r1")]
    assert (run.cell().status, run.cell().work_id) == (C.DELIVERY_PENDING, None)


async def test_one_bad_work_among_good_ones_is_reported_and_costs_nothing_else(scene: Make) -> None:
    run = scene(targets=(a_target(limit=3),), source=works(1, 9))
    run.fetcher.fails = {"2": [Unavailable("connection reset")] * 3}
    await run.live()
    assert (run.stored(), run.cell().status) == (["1", "3", "4"], C.SUBMITTED)
    assert run.report()["skipped"] == [{"code": "unavailable", "workId": "2", "reason": "connection reset"}]


async def test_a_bug_ends_a_target_of_many_and_no_work_that_comes_after_it_hides_it(scene: Make) -> None:
    run = scene(targets=(a_target(limit=3),), source=works(1, 9))
    run.fetcher.fails = {"1": [ZeroDivisionError("a bug")] * 3}
    await run.live()
    assert (run.stored(), run.cell().status, run.cell().reason_code) == ([], C.FAILED, "internal_error")
    assert run.report()["skipped"] == [{"code": "unavailable", "workId": "1", "reason": "ZeroDivisionError: a bug"}]


async def test_what_was_stored_before_a_bug_counts_and_the_bug_is_told(scene: Make) -> None:
    run = scene(targets=(a_target(limit=3),), source=works(1, 9))
    run.fetcher.fails = {"2": [ZeroDivisionError("a bug")] * 3}
    await run.live()
    assert (run.stored(), run.cell().status) == (["1"], C.SUBMITTED)
    assert run.report()["skipped"] == [{"code": "unavailable", "workId": "2", "reason": "ZeroDivisionError: a bug"}]
    assert [note["target"] for note in run.probe.heard("target.crashed")] == ["a"]


async def test_a_bug_while_a_work_of_many_is_recorded_ends_its_target(scene: Make) -> None:
    run = scene(targets=(routed(a_target(limit=3), "r1"),), source=works(1, 9), pledge_fails=[KeyError("a bug")])
    await run.live()
    assert (run.promised(), run.cell().status, run.cell().reason_code) == ([], C.FAILED, "internal_error")


async def test_what_was_stored_before_an_outage_counts_and_the_outage_is_told(scene: Make) -> None:
    run = scene(targets=(a_target(limit=3),), source=works(1, 9))
    run.fetcher.fails = {"3": [Outage("pixiv answers 503")]}
    await run.live()
    assert (run.stored(), run.cell().status, run.report()["outages"]) == (["1", "2"], C.SUBMITTED, ["network_outage"])


async def test_an_outage_before_the_first_work_leaves_the_cell_to_another_run(scene: Make) -> None:
    run = scene(targets=(a_target(limit=3),), source=works(1, 9))
    run.fetcher.fails = {"1": [Outage("pixiv answers 503")]}
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().last_error) == (C.PENDING, "pixiv answers 503")


async def test_a_run_that_died_after_two_of_three_brings_one_more(scene: Make) -> None:
    run = scene(targets=(a_target(limit=3),), source=works(1, 9))
    await run.live(die_at="work.recorded", nth=2)
    assert (run.cell().status, run.cell().stored_count) == (C.PENDING, 2)
    await run.live()
    assert (run.stored(), run.cell().status) == (["1", "2", "3"], C.SUBMITTED)


async def test_a_run_that_died_after_the_last_one_asks_for_nothing_more(scene: Make) -> None:
    run = scene(targets=(a_target(limit=2),), source=works(1, 9))
    await run.live(die_at="work.recorded", nth=2)
    run.source.asked.clear()
    await run.live()
    assert (run.source.asked, run.cell().status) == ([], C.SUBMITTED)


async def test_a_work_that_may_pass_does_not_hide_that_the_others_were_nothing_new(scene: Make) -> None:
    run = scene(targets=(a_target(limit=2),), source=works(1, 2))
    run.fetcher.fails = {"1": [Unavailable("reset")] * 9, "2": [Unavailable("reset")] * 9}
    await run.live(finishes=False)
    assert run.cell().status is C.PENDING
    assert run.cell().fallback_stage == 0
