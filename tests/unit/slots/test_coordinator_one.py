"""A cell of one work: bound before its first file, given back when nothing came of it, ended by one record."""

from collections.abc import Callable

import pytest
from trio.testing import MockClock

from pixivflow.errors import Gone, Outage, Rejected, StorageFull, Unavailable
from pixivflow.ids import WorkId
from pixivflow.slots.model import CellStatus
from pixivflow.slots.ports import SkipCode, Unfit
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import SLOT, put_intent, set_cell
from tests.fixtures.walks import FakeFetcher, FakeSource, Scene, a_target, a_work, routed

C = CellStatus
Make = Callable[..., Scene]


def works(*ids: int) -> FakeSource:
    return FakeSource([a_work(each) for each in ids])


async def test_a_target_without_a_route_ends_submitted_with_its_work_and_its_rows(scene: Make) -> None:
    run = scene(source=works(101))
    status = await run.live()
    assert (run.cell().status, run.cell().work_id, run.stored(), run.promised()) == (C.SUBMITTED, "101", ["101"], [])
    assert status == "success"


async def test_a_target_with_two_routes_waits_for_both_of_its_promises(scene: Make) -> None:
    run = scene(targets=(routed(a_target(), "r1", "r2"),), source=works(101))
    status = await run.live()
    assert (run.cell().status, run.cell().work_id) == (C.DELIVERY_PENDING, "101")
    assert run.promised() == [("101", "r1"), ("101", "r2")]
    assert status == "running"


async def test_the_work_is_bound_before_the_first_byte_of_it_is_asked_for(scene: Make) -> None:
    run = scene(source=works(101))
    await run.live(die_at="work.bound")
    assert (run.cell().status, run.cell().work_id) == (C.SELECTED, "101")
    assert run.fetcher.requests == []


async def test_one_work_is_one_search_one_look_at_its_details_and_one_download(scene: Make) -> None:
    run = scene(source=works(101, 102, 103))
    await run.live()
    assert run.source.asked == ["search sky", "detail 101"]
    assert run.fetcher.requests == ["101"]


@pytest.mark.case("download", 42)
async def test_works_that_are_gone_or_closed_are_passed_over_with_their_reason(scene: Make) -> None:
    run = scene(source=works(101, 102, 103))
    run.source.fails = {"101": [Gone("101", "pixiv", "404")], "102": [Rejected("102", "pixiv", "403")]}
    await run.live()
    assert run.cell().work_id == "103"
    assert run.report()["counts"] == {"deleted": 1, "access_denied": 1}


@pytest.mark.case("download", 65)
async def test_a_candidate_that_cannot_be_downloaded_is_given_back_and_the_next_one_is_delivered(scene: Make) -> None:
    fetcher = FakeFetcher(fails={"101": [Unavailable("truncated")] * 3})
    run = scene(targets=(routed(a_target(), "r1"),), source=works(101, 102), fetcher=fetcher)
    await run.live()
    assert (run.cell().work_id, run.promised(), run.stored()) == ("102", [("102", "r1")], ["102"])
    assert fetcher.requests == ["101", "101", "101", "102"]


async def test_a_work_that_cannot_be_used_is_not_tried_again(scene: Make) -> None:
    fetcher = FakeFetcher(fails={"101": [Unfit(WorkId("101"), SkipCode.UNSUPPORTED_MEDIA, "no writer for it")]})
    run = scene(source=works(101, 102), fetcher=fetcher)
    await run.live()
    assert (fetcher.requests, run.report()["counts"]) == (["101", "102"], {"unsupported_media": 1})


async def test_what_may_pass_is_tried_as_often_as_configured_and_takes_one_place(scene: Make) -> None:
    run = scene(source=works(101), fetcher=FakeFetcher(fails={"101": [Unavailable("reset")] * 2}))
    await run.live()
    assert (run.cell().status, run.fetcher.requests) == (C.SUBMITTED, ["101"] * 3)
    assert run.report()["attempted"] == 1


async def test_a_wait_that_the_other_side_asks_for_is_kept_before_the_work_is_tried_again(
    scene: Make, autojump_clock: MockClock
) -> None:
    fetcher = FakeFetcher(fails={"101": [Unavailable("limit", retry_after_s=90), Unavailable("reset")]})
    run = scene(source=works(101), fetcher=fetcher, retry_ms=2_000)
    await run.live()
    assert (run.cell().status, fetcher.requests) == (C.SUBMITTED, ["101"] * 3)
    assert autojump_clock.current_time() == pytest.approx(90 + 4)


@pytest.mark.case("download", 43)
async def test_a_window_full_of_what_may_pass_is_no_empty_day(scene: Make) -> None:
    fetcher = FakeFetcher(fails={str(each): [Unavailable("connection reset")] * 3 for each in (101, 102)})
    run = scene(source=works(101, 102), fetcher=fetcher)
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id) == (C.PENDING, None)
    assert run.cell().last_error == "connection reset"


@pytest.mark.parametrize(
    ("error", "outage"),
    [
        pytest.param(Outage("pixiv answers 503"), "network_outage", id="Pixiv serves nobody"),
        pytest.param(StorageFull("no space left"), "storage_unavailable", id="the disk is full"),
    ],
)
async def test_an_outage_ends_the_search_at_once_and_leaves_the_cell_to_another_run(
    scene: Make, error: Exception, outage: str
) -> None:
    run = scene(source=works(101, 102), fetcher=FakeFetcher(fails={"101": [error]}))
    await run.live(finishes=False)
    assert run.fetcher.requests == ["101"]
    assert (run.cell().status, run.cell().work_id) == (C.SELECTED, "101")
    assert run.report()["outages"] == [outage]


async def test_a_work_that_breaks_the_program_at_every_attempt_fails_its_target_instead_of_being_passed_over(
    scene: Make,
) -> None:
    run = scene(source=works(101, 102), fetcher=FakeFetcher(fails={"101": [ZeroDivisionError("a bug")] * 3}))
    await run.live()
    cell = run.cell()
    assert (cell.status, cell.reason_code, cell.work_id) == (C.FAILED, "internal_error", "101")
    assert cell.last_error == "work 101: ZeroDivisionError: a bug"
    assert run.fetcher.requests == ["101"] * 3
    assert [note["bug"] for note in run.probe.heard("work.failed")] == [True] * 3
    assert len(run.probe.heard("target.crashed")) == 1


async def test_a_bug_that_one_attempt_met_and_the_next_did_not_costs_nothing(scene: Make) -> None:
    run = scene(source=works(101, 102), fetcher=FakeFetcher(fails={"101": [ZeroDivisionError("a bug")] * 2}))
    await run.live()
    assert (run.cell().status, run.cell().work_id) == (C.SUBMITTED, "101")
    assert run.probe.heard("target.crashed") == []


async def test_two_cells_of_one_slot_never_bring_the_same_work(scene: Make) -> None:
    run = scene(targets=(routed(a_target("a"), "r1"), routed(a_target("b"), "r2")), source=works(101, 102))
    await run.live()
    assert (run.cell("a").work_id, run.cell("b").work_id) == ("101", "102")


async def test_a_work_that_a_sibling_took_while_it_was_looked_at_is_left_to_the_sibling(scene: Make) -> None:
    run = scene(targets=(a_target("a"), a_target("b")), source=works(101, 102))

    def sibling_takes_it(request: str) -> None:
        if request == "detail 101":
            set_cell(run.db, SLOT, "b", work_id="101", work_type="illustration", status="selected")

    run.source.before = sibling_takes_it
    await run.live(die_at="cell.served")
    assert (run.cell("a").work_id, run.fetcher.requests) == ("102", ["102"])


@pytest.mark.case("download", 64)
async def test_the_loser_of_a_cell_downloads_nothing_and_says_who_has_it(scene: Make) -> None:
    run = scene(source=works(101, 102))

    def somebody_takes_the_cell(request: str) -> None:
        set_cell(run.db, SLOT, "a", work_id="777", work_type="illustration", status="selected")

    run.source.before = somebody_takes_the_cell
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id, run.fetcher.requests) == (C.SELECTED, "777", [])
    assert run.probe.heard("cell.taken") == [{"slot": SLOT, "target": "a", "work": "777"}]


async def test_a_work_that_every_route_got_meanwhile_frees_the_cell_for_the_next_one(scene: Make) -> None:
    run = scene(targets=(routed(a_target(), "r1"),), source=works(101, 102))

    def delivered_elsewhere(request: str) -> None:
        if request == "detail 101":
            with transaction(run.db):
                put_intent(run.db, "x", "delivered", "done", slot_id=SLOT)

    run.source.before = delivered_elsewhere
    await run.live()
    assert run.cell().work_id == "102"
    assert [route for work, route in run.promised() if work == "102"] == ["r1"]
    assert run.report()["counts"] == {"duplicate": 1}


async def test_a_work_with_too_many_pages_is_declined_before_any_picture_is_asked_for(scene: Make) -> None:
    source = FakeSource([a_work(101, page_count=11), a_work(102)])
    run = scene(targets=(a_target(max_page_count=10),), source=source)
    await run.live()
    assert (run.cell().work_id, run.fetcher.requests) == ("102", ["102"])
    assert run.report()["counts"] == {"filtered": 1}


async def test_a_target_that_nobody_can_serve_fails_alone_and_says_which_setting(scene: Make) -> None:
    run = scene(targets=(a_target("a", type="novel"), a_target("b")), source=works(101))
    status = await run.live()
    cell = run.cell("a")
    assert (cell.status, cell.reason_code) == (C.FAILED, "configuration_error")
    assert "unsupported target type novel" in (cell.last_error or "")
    assert (run.cell("b").status, status) == (C.SUBMITTED, "partial")


async def test_a_search_that_breaks_the_program_fails_its_cell_and_no_other(scene: Make) -> None:
    run = scene(targets=(a_target("a"), a_target("b")), source=works(101))
    run.source.list_fails = [ZeroDivisionError("a bug")]
    await run.live()
    assert (run.cell("a").status, run.cell("a").reason_code) == (C.FAILED, "internal_error")
    assert run.cell("b").status is C.SUBMITTED
    assert len(run.probe.heard("target.crashed")) == 1
