"""Marks of pages on their way to the disk: hints for the next process, gone once the work is recorded."""

from pathlib import Path

import msgspec

from actors.kit.testing import VirtualClock
from pixivflow.ledger import artifacts, staging
from pixivflow.ledger.artifacts import Filing
from pixivflow.ledger.connection import Db
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.staging import StagingLedger
from pixivflow.slots.staging import StagedPage
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import NOW, OTHER_WORK, WORK
from tests.fixtures.walks import a_file

PAGE = StagedPage(
    work=WORK, page=1, part_path="/pictures/.part-101-1-x", bytes_done=8, validator='"abc"', marked_at=NOW
)


def marked(db: Db, *pages: StagedPage, now: int = NOW) -> None:
    with transaction(db):
        for page in pages:
            staging.mark(db, page, now)


def test_a_mark_comes_back_as_it_was_set_and_the_last_one_of_a_page_stands(db: Db) -> None:
    further = msgspec.structs.replace(PAGE, bytes_done=16)
    marked(db, PAGE, further)
    assert staging.staged(db, WORK) == (further,)
    assert staging.staged(db, OTHER_WORK) == ()


def test_every_mark_is_found_at_a_start_the_oldest_first(db: Db) -> None:
    second = msgspec.structs.replace(PAGE, page=2, marked_at=NOW - 5)
    marked(db, PAGE)
    marked(db, second, now=NOW - 5)
    assert staging.all_staged(db) == (second, PAGE)


def test_recording_a_work_turns_its_marks_into_facts(db: Db) -> None:
    marked(db, PAGE)
    with transaction(db):
        artifacts.file(db, Filing(work=WORK, files=(a_file(),)), NOW)
    assert staging.all_staged(db) == ()
    assert artifacts.recorded(db, WORK) == (a_file(),)


def test_a_file_that_is_fetched_again_is_no_fact_until_it_is_whole(db: Db) -> None:
    with transaction(db):
        artifacts.file(db, Filing(work=WORK, files=(a_file(page=1), a_file(page=2))), NOW)
    marked(db, PAGE)
    assert artifacts.recorded(db, WORK) == (a_file(page=2),)
    assert artifacts.stored(db, WORK.work_type, [WORK.work_id]) == {WORK.work_id}


def test_a_mark_of_another_part_file_and_a_fact_are_not_dropped(db: Db) -> None:
    other = msgspec.structs.replace(PAGE, part_path="/pictures/.p-1-y")
    marked(db, PAGE)
    with transaction(db):
        staging.drop(db, [other])
        assert staging.staged(db, WORK) == (PAGE,)
        staging.drop(db, [PAGE])
        assert staging.staged(db, WORK) == ()
        artifacts.file(db, Filing(work=WORK, files=(a_file(),)), NOW)
        staging.drop(db, [PAGE])
    assert artifacts.recorded(db, WORK) == (a_file(),)


async def test_marks_go_through_the_ledger_with_the_instant_of_their_writing(ledger_path: Path) -> None:
    async with open_inline(ledger_path, clock=VirtualClock()) as ledger:
        marks = StagingLedger(ledger, VirtualClock(NOW))
        await marks.mark(msgspec.structs.replace(PAGE, marked_at=0))
        (found,) = await marks.staged(WORK)
        assert msgspec.structs.replace(found, marked_at=NOW) == PAGE
        assert found.marked_at >= NOW
        assert await marks.all_staged() == (found,)
        await marks.drop([found])
        assert await marks.all_staged() == ()
