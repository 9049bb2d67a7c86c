"""A cell that holds a work: the same work goes on, with no list asked for and nothing left out as seen before."""

from collections.abc import Callable

import pytest

from pixivflow.errors import AuthNeeded, Gone, Outage, Rejected, StorageFull, Unavailable
from pixivflow.slots.model import CellStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import SLOT, put_intent, set_cell
from tests.fixtures.walks import FakeSource, Scene, a_target, a_work, routed

C = CellStatus
Make = Callable[..., Scene]
LOCKED = "LOCKED_WORK_UNAVAILABLE"


async def held(scene: Make, **fields: object) -> Scene:
    """A scene whose first process died with 101 bound; 102 is what a search would find by now."""
    run = scene(targets=(a_target(), a_target("z")), source=FakeSource([a_work(101)]), **fields)
    await run.live(die_at="work.bound")
    run.source.works = [a_work(102), a_work(101)]
    run.source.asked.clear()
    run.targets = (a_target(),)
    return run


@pytest.mark.case("slots", 27)
@pytest.mark.case("download", 62)
async def test_a_run_that_died_before_the_first_byte_goes_on_with_the_same_work_and_searches_nothing(
    scene: Make,
) -> None:
    run = await held(scene)
    await run.live()
    assert run.source.asked == ["detail 101"]
    assert (run.fetcher.requests, run.cell().status, run.cell().work_id) == (["101"], C.SUBMITTED, "101")


@pytest.mark.case("slots", 28)
async def test_a_held_work_that_is_gone_fails_its_cell_and_one_that_did_not_answer_is_kept(scene: Make) -> None:
    run = await held(scene)
    run.source.fails = {"101": [Unavailable("answered HTTP 500")] * 3}
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id) == (C.SELECTED, "101")
    assert run.cell().last_error == "work 101 could not be brought now and stays the one to bring: answered HTTP 500"

    run.source.fails = {"101": [Gone("101", "pixiv", "answered 404")]}
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id) == (C.FAILED, "101")
    assert (run.cell().last_error or "").startswith(LOCKED)
    assert run.source.lists == []


@pytest.mark.case("download", 67)
@pytest.mark.parametrize(
    "error", [Gone("101", "pixiv", "answered 404"), Rejected("101", "pixiv", "answered 403")], ids=["404", "403"]
)
async def test_a_held_work_that_pixiv_will_never_serve_is_not_replaced(scene: Make, error: Exception) -> None:
    run = await held(scene)
    run.source.fails = {"101": [error]}
    await run.live()
    assert (run.cell().status, run.cell().work_id, run.source.lists) == (C.FAILED, "101", [])
    assert (run.cell().last_error or "").startswith(LOCKED)
    assert run.cell().reason_code == "metadata_failed"


async def test_a_held_work_that_pixiv_shows_as_a_placeholder_is_not_replaced(scene: Make) -> None:
    run = await held(scene)
    run.source.works = [a_work(102), a_work(101, is_visible=False)]
    await run.live()
    assert (run.cell().last_error or "").startswith(LOCKED)
    assert run.fetcher.requests == []


@pytest.mark.case("download", 68)
async def test_a_held_work_survives_a_service_that_is_down(scene: Make) -> None:
    run = await held(scene)
    run.source.fails = {"101": [Outage("answered HTTP 503")]}
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id) == (C.SELECTED, "101")
    await run.live()
    assert (run.cell().status, run.cell().work_id) == (C.SUBMITTED, "101")


async def test_a_held_work_that_breaks_the_program_fails_its_cell_and_is_not_tried_for_ever(scene: Make) -> None:
    run = await held(scene)
    run.source.fails = {"101": [ZeroDivisionError("a bug")] * 3}
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id, run.cell().reason_code) == (C.FAILED, "101", "internal_error")
    assert run.cell().last_error == "work 101: ZeroDivisionError: a bug"
    assert run.source.lists == []


@pytest.mark.case("download", 69)
async def test_a_dead_login_is_no_verdict_about_the_held_work(scene: Make) -> None:
    run = await held(scene)
    run.source.fails = {"101": [AuthNeeded("default")]}
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id, run.report()["outages"]) == (
        C.SELECTED,
        "101",
        ["pixiv_auth_failure"],
    )
    assert LOCKED not in (run.cell().last_error or "")

    run.source.fails = {"101": [AuthNeeded("default")]}
    await run.live()
    assert (run.cell().status, run.cell().work_id, run.cell().reason_code) == (C.FAILED, "101", "auth_failed")
    assert (run.cell().last_error or "").startswith("work 101 could not be brought now and stays the one to bring")
    assert (run.source.lists, run.fetcher.requests) == ([], [])


async def test_a_run_that_ends_with_an_outage_says_which_one_in_its_reason(scene: Make) -> None:
    run = await held(scene)
    run.source.fails = {"101": [AuthNeeded("default")]}
    await run.live()
    assert (run.cell().status, run.cell().reason_code) == (C.FAILED, "auth_failed")


@pytest.mark.case("download", 70)
async def test_a_held_id_that_is_no_number_ends_its_cell_instead_of_being_tried_for_ever(scene: Make) -> None:
    run = await held(scene)
    set_cell(run.db, SLOT, "a", work_id="abc")
    await run.live()
    assert run.cell().status is C.FAILED
    assert (run.cell().last_error or "").startswith(f"{LOCKED}: work abc")
    assert run.source.asked == []


@pytest.mark.case("download", 71)
async def test_a_held_work_that_was_downloaded_before_is_delivered_and_not_left_out(scene: Make) -> None:
    run = scene(source=FakeSource([a_work(101)]))
    await run.live()
    assert run.stored() == ["101"]
    run.targets = (routed(a_target(), "r1"),)
    run.next_slot()
    set_cell(run.db, run.slot.id, "a", work_id="101", work_type="illustration", status="selected")
    await run.live()
    assert run.promised() == [("101", "r1")]
    assert run.fetcher.known[-1] == ("101", 1)
    assert run.fetcher.requests == ["101"]


async def test_a_held_work_that_every_route_has_ends_as_a_duplicate_without_a_request(scene: Make) -> None:
    run = scene(targets=(routed(a_target(), "r1"),), source=FakeSource([a_work(101)]))
    await run.live(die_at="work.bound")
    run.source.asked.clear()
    with transaction(run.db):
        put_intent(run.db, "x", "delivered", "done")
    await run.live()
    assert (run.cell().status, run.cell().work_id, run.cell().reason_code) == (
        C.DUPLICATE,
        "101",
        "duplicate_exhausted",
    )
    assert run.source.asked == []


async def test_a_held_work_with_too_many_pages_by_now_ends_its_cell_and_names_the_rule(scene: Make) -> None:
    run = await held(scene)
    run.targets = (a_target(max_page_count=1),)
    run.source.works = [a_work(101, page_count=2)]
    await run.live()
    assert run.cell().status is C.FAILED
    assert "maxPageCount 1" in (run.cell().last_error or "")


async def test_a_full_disk_keeps_the_work_for_a_run_that_finds_room(scene: Make) -> None:
    run = await held(scene)
    run.fetcher.fails = {"101": [StorageFull("no space left")]}
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id) == (C.SELECTED, "101")


@pytest.mark.case("download", 66)
async def test_a_work_that_cannot_be_promised_stays_bound_and_is_promised_by_the_next_run(scene: Make) -> None:
    run = scene(targets=(routed(a_target(), "r1"),), source=FakeSource([a_work(101), a_work(102)]))
    run.pledge_fails = [RuntimeError("no template")]
    await run.live(finishes=False)
    assert (run.cell().status, run.cell().work_id, run.stored(), run.promised()) == (C.SELECTED, "101", [], [])
    await run.live()
    assert (run.cell().work_id, run.promised(), run.fetcher.requests) == ("101", [("101", "r1")], ["101"])


async def test_a_target_that_wants_many_by_now_still_goes_on_with_the_work_that_its_cell_holds(scene: Make) -> None:
    run = await held(scene)
    run.targets = (a_target(limit=5),)
    await run.live()
    assert (run.stored(), run.cell().work_id, run.source.lists) == (["101"], "101", [])
    assert run.cell().status is C.SUBMITTED
