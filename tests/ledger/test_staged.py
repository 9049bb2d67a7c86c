"""The rows of pages under way, in the ledger and in the fake of it: one a page, until the work is whole."""

from collections.abc import Awaitable, Callable

import pytest

from pixivflow.errors import LedgerLost, StorageFull, Unavailable
from pixivflow.ledger import artifacts, staged
from pixivflow.ledger.artifacts import Filing
from pixivflow.ledger.connection import Db
from pixivflow.ledger.ledger import Ledger
from pixivflow.ledger.staged import StagedRows
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.slots.ports import LedgerBusy
from pixivflow.slots.staging import StagedPage, Staging
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import NOW, OTHER_WORK, WORK
from tests.fixtures.staging import FakeStaging
from tests.fixtures.walks import a_file


def a_page(page: int = 1, **fields: object) -> StagedPage:
    known = {"page": page, "part": f"/pictures/.part-101-{page}", "bytes_done": 8, "validator": '"v"', "at": NOW}
    return StagedPage(**(known | fields))  # type: ignore[arg-type]


WHOLE = a_page(2, bytes_done=9, length=9, sha256="a" * 64, format="jpeg", degraded=True)


@pytest.fixture(params=["ledger", "fake"])
def staging(request: pytest.FixtureRequest, ledger: Ledger) -> Staging:
    return FakeStaging() if request.param == "fake" else StagedRows(ledger)


async def test_what_is_written_of_a_page_comes_back_as_it_was(staging: Staging) -> None:
    begun = a_page(1, length=40, validator="")
    assert await staging.mark(WORK, WHOLE)
    assert await staging.mark(WORK, begun)
    assert await staging.mark(OTHER_WORK, a_page(1, part="/else"))
    assert list(await staging.staged(WORK)) == [begun, WHOLE]
    assert len(await staging.all_staged()) == 3


async def test_a_page_has_one_row_and_the_newest_stands(staging: Staging) -> None:
    await staging.mark(WORK, a_page(1))
    await staging.mark(WORK, a_page(1, part="/another", bytes_done=3))
    assert [(row.part, row.bytes_done) for row in await staging.staged(WORK)] == [("/another", 3)]


async def test_rows_are_dropped_by_the_part_that_they_name(staging: Staging) -> None:
    await staging.mark(WORK, a_page(1))
    await staging.mark(WORK, WHOLE)
    await staging.drop([a_page(1).part, "/nobody's"])
    assert list(await staging.staged(WORK)) == [WHOLE]


def test_a_page_is_old_after_a_day_and_never_before_it_was_written() -> None:
    assert a_page().is_fresh(NOW + 86_399_999)
    assert not a_page().is_fresh(NOW + 86_400_000)
    assert a_page().is_fresh(NOW - 10**9)


def test_a_work_that_is_filed_has_no_page_under_way_any_more(db: Db) -> None:
    novel = BoundWork(work_id=WORK.work_id, work_type=WorkType.NOVEL)
    with transaction(db):
        for work in (WORK, OTHER_WORK, novel):
            for page in (1, 2):
                staged.mark(db, work, a_page(page, part=f"/{work.work_type}/{work.work_id}/{page}"))
        artifacts.file(db, Filing(work=WORK, files=(a_file(page=1),)), NOW)
    assert staged.of_work(db, WORK) == ()
    assert len(staged.of_all(db)) == 4
    assert [file.page for file in artifacts.recorded(db, WORK)] == [1]


def test_what_is_under_way_is_not_recorded_and_what_is_recorded_is_no_leftover(db: Db) -> None:
    with transaction(db):
        artifacts.file(db, Filing(work=WORK, files=(a_file(page=1),)), NOW)
        staged.mark(db, WORK, a_page(2))
        staged.drop(db, [a_file(page=1).path])
    assert [file.page for file in artifacts.recorded(db, WORK)] == [1]
    assert [row.page for row in staged.of_work(db, WORK)] == [2]


def test_a_recorded_page_that_is_fetched_again_is_under_way(db: Db) -> None:
    with transaction(db):
        artifacts.file(db, Filing(work=WORK, files=(a_file(page=1),)), NOW)
        staged.mark(db, WORK, a_page(1))
    assert artifacts.recorded(db, WORK) == ()
    assert [row.page for row in staged.of_work(db, WORK)] == [1]


class Failing:
    """A ledger that says no."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def write(self, *_: object) -> object:
        raise self._error

    read = settle = write


def rows(error: Exception) -> StagedRows:
    return StagedRows(Failing(error))  # type: ignore[arg-type]


READS: list[Callable[[StagedRows], Awaitable[object]]] = [lambda each: each.staged(WORK), StagedRows.all_staged]


CALLS: list[Callable[[StagedRows], Awaitable[object]]] = [
    *READS,
    lambda each: each.mark(WORK, a_page()),
    lambda each: each.drop(["/x"]),
]


async def test_a_busy_ledger_keeps_nobody_from_fetching() -> None:
    busy = rows(Unavailable("busy"))
    assert not await busy.mark(WORK, a_page())
    await busy.drop(["/x"])
    for read in READS:
        with pytest.raises(LedgerBusy):
            await read(busy)


async def test_a_full_disk_is_told_by_who_wants_to_write_more() -> None:
    full = rows(StorageFull("full"))
    with pytest.raises(StorageFull):
        await full.mark(WORK, a_page())
    await full.drop(["/x"])


async def test_a_ledger_that_is_lost_is_lost() -> None:
    lost = rows(LedgerLost("gone"))
    for call in CALLS:
        with pytest.raises(LedgerLost):
            await call(lost)
