"""The rows of files: one a file for ever, what each must hold, and a ledger of the first schema that learns of them."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from pixivflow.ids import WorkId
from pixivflow.ledger import artifacts, slots
from pixivflow.ledger.artifacts import Filing
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.migrate import migrate, shipped, version_of
from pixivflow.slots.model import BoundWork, WorkType
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import NOW, OTHER_WORK, WORK, A, a_slot
from tests.fixtures.walks import FakeSource, Scene, a_file, a_work


def filing(*pages: int, work: BoundWork = WORK) -> Filing:
    files = tuple(a_file(work.work_id, page) for page in pages)
    return Filing(work=work, files=files, tag="sky", title="a title", author="Mika", user_id="7")


def test_every_file_of_a_work_is_one_row_under_the_name_it_was_asked_for(db: Db) -> None:
    with transaction(db):
        assert artifacts.file(db, filing(1, 2), NOW)
    rows = db.execute(
        "SELECT pixiv_id, type, tag, title, file_path, author, user_id, downloaded_at FROM downloads ORDER BY id"
    ).fetchall()
    told = ("101", "illustration", "sky", "a title")
    assert rows == [
        (*told, "/pictures/101_1.jpg", "Mika", "7", "2026-09-08 02:00:00"),
        (*told, "/pictures/101_2.jpg", "Mika", "7", "2026-09-08 02:00:00"),
    ]


def test_what_was_recorded_of_a_work_comes_back_whole_and_in_the_order_of_its_pages(db: Db) -> None:
    files = (a_file(page=2, degraded=True), a_file(page=1), a_file(page=3, format="png", mime="image/png"))
    with transaction(db):
        artifacts.file(db, Filing(work=WORK, files=files), NOW)
    assert artifacts.recorded(db, WORK) == tuple(sorted(files, key=lambda file: file.page))
    assert artifacts.recorded(db, OTHER_WORK) == ()


def test_filing_a_work_again_adds_no_row_and_keeps_the_newest_facts(db: Db) -> None:
    with transaction(db):
        artifacts.file(db, filing(1), NOW)
        again = msgspec.structs.replace(filing(1), files=(a_file(page=1, size=5, sha256="f" * 64),))
        assert not artifacts.file(db, again, NOW)
    assert db.execute("SELECT COUNT(*) FROM downloads").fetchall() == [(1,)]
    assert [(file.size, file.sha256) for file in artifacts.recorded(db, WORK)] == [(5, "f" * 64)]


def test_a_page_that_was_missing_is_a_new_row(db: Db) -> None:
    with transaction(db):
        artifacts.file(db, filing(1), NOW)
        assert artifacts.file(db, filing(1, 2), NOW)
    assert db.execute("SELECT COUNT(*) FROM downloads").fetchall() == [(2,)]


def test_a_work_without_a_file_is_not_recorded_at_all(db: Db) -> None:
    with transaction(db), pytest.raises(ValueError, match="no file"):
        artifacts.file(db, Filing(work=WORK, files=()), NOW)
    assert artifacts.stored(db, WorkType.ILLUSTRATION, [WORK.work_id]) == frozenset()


def test_a_novel_and_an_illustration_of_one_number_are_two_works(db: Db) -> None:
    with transaction(db):
        artifacts.file(db, filing(1), NOW)
    assert artifacts.stored(db, WorkType.NOVEL, [WORK.work_id]) == frozenset()
    assert artifacts.recorded(db, BoundWork(work_id=WORK.work_id, work_type=WorkType.NOVEL)) == ()


def test_any_number_of_works_can_be_asked_about_at_once(db: Db) -> None:
    ids = [WorkId(str(number)) for number in range(1, 1001)]
    with transaction(db):
        for number in (1, 400, 401, 1000):
            work = BoundWork(work_id=WorkId(str(number)), work_type=WorkType.ILLUSTRATION)
            artifacts.file(db, filing(1, work=work), NOW)
    assert artifacts.stored(db, WorkType.ILLUSTRATION, ids) == {"1", "400", "401", "1000"}


def test_half_a_character_in_a_title_does_not_keep_a_work_from_being_recorded(db: Db) -> None:
    broken = msgspec.structs.replace(filing(1), title="a \ud83d title", tag="\udc00", author="\ud800")
    with transaction(db):
        assert artifacts.file(db, broken, NOW)
    assert db.execute("SELECT title, tag, author FROM downloads").fetchall() == [("a ? title", "?", "?")]


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        pytest.param("state, updated_at", "'final', 0", id="a final file without a name"),
        pytest.param("state, file_path, updated_at", "'final', '/x', 0", id="a final file without its bytes' facts"),
        pytest.param("state, updated_at", "'staged', 0", id="a staged file that no part belongs to"),
        pytest.param("state, part_path, file_path, updated_at", "'staged', '/p', '/x', 0", id="staged, and named"),
        pytest.param("state, part_path, updated_at", "'lost', '/p', 0", id="a state that does not exist"),
    ],
)
def test_the_table_itself_refuses_a_file_that_is_neither_here_nor_there(db: Db, columns: str, values: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        db.execute(f"INSERT INTO download_files (pixiv_id, type, page, {columns}) VALUES ('1', 'novel', 1, {values})")


async def test_a_ledger_of_the_first_schema_learns_of_files_and_its_open_slot_is_finished(
    tmp_path: Path, scene: Callable[..., Scene]
) -> None:
    path = tmp_path / "ledger-0.db"
    old = connect_plain(path)
    migrate(old, shipped()[:1])
    with transaction(old):
        slots.open_slot(old, a_slot(target_ids=(A,)), NOW)
    old.close()

    run = scene(source=FakeSource([a_work(101)]))
    assert run.path == path
    assert version_of(run.db) == shipped()[-1].number
    assert await run.live() == "success"
    assert (run.stored(), run.cell().work_id) == (["101"], "101")
    assert (tmp_path / "ledger-0.db.before-v2").exists()
