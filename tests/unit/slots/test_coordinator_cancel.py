"""A cancelled walk says nothing: no verdict, no empty day, no work given back; what was recorded stays recorded."""

from collections.abc import Callable

import pytest
import trio

from actors.kit import CancelOrigin
from pixivflow.config.model import Target
from pixivflow.errors import Gone, Unavailable
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.ports import Pages
from pixivflow.slots.model import BoundWork, CellStatus
from pixivflow.slots.ports import Fetched, NotOurs
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import OTHER, SLOT, set_lease
from tests.fixtures.walks import FakeFetcher, FakeSource, Scene, a_file, a_target, a_work, routed

C = CellStatus
Make = Callable[..., Scene]


class Hanging:
    """A transport that breaks in its own words when the task that waits on it is cancelled."""

    def __init__(self, breaks_with: Exception) -> None:
        self.waits = trio.Event()
        self.breaks_with = breaks_with

    async def hang(self) -> None:
        self.waits.set()
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            raise self.breaks_with from None


class HangingSource(FakeSource, Hanging):
    """Hangs in every list, or in every look at a work's details."""

    def __init__(self, works: list[WorkDetail], at: str, breaks_with: Exception) -> None:
        FakeSource.__init__(self, works)
        Hanging.__init__(self, breaks_with)
        self.at = at

    async def _list(self, request: str) -> Pages:
        if self.at == "list":
            await self.hang()
        async for page in super()._list(request):
            yield page

    async def detail(self, work: BoundWork) -> WorkDetail:
        if self.at == "detail":
            await self.hang()
        return await super().detail(work)


class HangingFetcher(FakeFetcher, Hanging):
    """Hangs in every download."""

    def __init__(self, breaks_with: Exception) -> None:
        FakeFetcher.__init__(self)
        Hanging.__init__(self, breaks_with)

    async def fetch(self, detail: WorkDetail, target: Target, known: object, threads: trio.CapacityLimiter) -> Fetched:
        await self.hang()
        raise AssertionError("not cancelled")


IN_ITS_OWN_WORDS = pytest.mark.parametrize(
    "error", [Unavailable("connection closed"), RuntimeError("stream is gone")], ids=["translated", "as it came"]
)


async def cancelled(run: Scene, hanging: Hanging) -> None:
    """Let the run come to where it hangs, and cancel it there."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run.live)
        await hanging.waits.wait()
        nursery.cancel_scope.cancel()


@pytest.mark.case("slots", 55)
@IN_ITS_OWN_WORDS
async def test_a_search_whose_transport_breaks_under_a_cancellation_is_no_empty_day(
    scene: Make, error: Exception
) -> None:
    source = HangingSource([a_work(101)], "list", error)
    run = scene(source=source)
    await cancelled(run, source)
    cell = run.cell()
    assert (cell.status, cell.fallback_stage, cell.last_error, cell.reason_code) == (C.PENDING, 0, None, None)
    assert run.probe.notes == []


@IN_ITS_OWN_WORDS
async def test_a_look_at_a_work_that_breaks_under_a_cancellation_passes_nothing_over(
    scene: Make, error: Exception
) -> None:
    source = HangingSource([a_work(101), a_work(102)], "detail", error)
    run = scene(source=source)
    await cancelled(run, source)
    assert (run.cell().status, run.cell().last_error, run.cell().candidate_report) == (C.PENDING, None, None)


@IN_ITS_OWN_WORDS
@pytest.mark.parametrize("tries", [1, 3])
async def test_a_download_that_breaks_under_a_cancellation_keeps_its_work_for_the_next_process(
    scene: Make, error: Exception, tries: int
) -> None:
    fetcher = HangingFetcher(error)
    run = scene(source=FakeSource([a_work(101), a_work(102)]), fetcher=fetcher, tries=tries)
    await cancelled(run, fetcher)
    assert (run.cell().status, run.cell().work_id, run.cell().last_error) == (C.SELECTED, "101", None)
    run.fetcher, run.source.asked = FakeFetcher(), []
    await run.live()
    assert (run.source.asked, run.fetcher.requests, run.cell().work_id) == (["detail 101"], ["101"], "101")


@pytest.mark.case("download", 120)
async def test_a_run_that_is_cancelled_between_two_candidates_asks_for_no_other(scene: Make) -> None:
    run = scene(source=FakeSource([a_work(101), a_work(102)]))
    run.source.fails = {"101": [Gone("101", "pixiv", "answered 404")]}
    run.source.before = lambda request: scope.cancel() if request == "detail 101" else None
    with trio.CancelScope() as scope:
        await run.live()
    assert run.source.asked == ["search sky", "detail 101"]
    assert (run.cell().status, run.cell().work_id, run.cell().candidate_report) == (C.PENDING, None, None)


async def test_files_that_have_their_names_get_their_rows_although_the_run_is_being_cancelled(scene: Make) -> None:
    class Stopping(FakeFetcher):
        async def fetch(
            self, detail: WorkDetail, target: Target, known: object, threads: trio.CapacityLimiter
        ) -> Fetched:
            scope.cancel()
            return Fetched(files=(a_file(detail.id),))

    run = scene(targets=(routed(a_target(), "r1"),), source=FakeSource([a_work(101)]), fetcher=Stopping())
    with trio.CancelScope() as scope:
        await run.live()
    assert scope.cancelled_caught
    assert (run.stored(), run.promised(), run.cell().status) == (["101"], [("101", "r1")], C.DELIVERY_PENDING)


@pytest.mark.parametrize("point", ["work.bound", "work.fetched"])
async def test_a_run_whose_slot_was_taken_over_records_nothing_and_says_so(scene: Make, point: str) -> None:
    run = scene(targets=(routed(a_target(), "r1"),), source=FakeSource([a_work(101)]))
    run.at_point = lambda name: taken_over(run) if name == point else None
    with pytest.raises(NotOurs):
        await run.live()
    assert (run.stored(), run.promised(), run.cell().status) == ([], [], C.SELECTED)
    assert run.probe.notes == []


def taken_over(run: Scene) -> None:
    with transaction(run.db):
        set_lease(run.db, SLOT, OTHER, run.now + 1)


async def test_a_run_that_was_given_up_writes_nothing_when_it_goes_on_after_all(scene: Make) -> None:
    run = scene(targets=(routed(a_target(), "r1"),), source=FakeSource([a_work(101)]))

    def given_up(name: str) -> None:
        if name == "work.fetched":
            assert run.live_run is not None
            run.live_run.scope.end(CancelOrigin.TIMEOUT)
            run.live_run.revoked = True

    run.at_point = given_up
    with pytest.raises(NotOurs, match="given up"):
        await run.live()
    assert (run.stored(), run.promised(), run.cell().status) == ([], [], C.SELECTED)
