"""`pixivflow status` on ledgers that are none, are somebody else's, or cannot be read: it tells and touches nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pixivflow.ledger.connection import connect_plain
from pixivflow.ledger.migrate import migrate, shipped
from tests.commands.calling import pixivflow, written


def asked(folder: Path, *arguments: str) -> tuple[int, str, str]:
    ended = pixivflow("status", "--config", written(folder), *arguments, cwd=folder)
    return ended.returncode, ended.stdout, ended.stderr


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mine (a)")


def of_a_later_version(path: Path) -> None:
    with closing(connect_plain(path)) as db:
        migrate(db)
        db.steer("PRAGMA user_version = 9999")


def of_an_earlier_version(path: Path) -> None:
    with closing(connect_plain(path)) as db:
        migrate(db, shipped()[:1])


def torn(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (foreign, "another program's file"),
        (of_a_later_version, "this program knows up to"),
        (of_an_earlier_version, "the next start of the daemon"),
        (torn, "cannot be read"),
        (Path.touch, "there is no ledger yet"),
        (Path.mkdir, "this is not a file"),
        (lambda path: None, "there is no ledger yet"),
    ],
)
def test_a_file_that_is_no_ledger_of_ours_is_named_and_not_touched(make: object, word: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    make(path)  # type: ignore[operator]
    before = [(each.name, each.read_bytes()) for each in sorted(tmp_path.iterdir()) if each.is_file()]
    code, answer, said = asked(tmp_path)
    assert (code, answer, said.count("\n")) == (1, "", 1)
    assert said.startswith("❌ ")
    assert word in said
    after = [(each.name, each.read_bytes()) for each in sorted(tmp_path.iterdir()) if each.is_file()]
    assert [each for each in after if each[0] != "config.json"] == before


def test_a_ledger_that_is_gone_is_not_told_as_one_that_is_still_to_be_made(tmp_path: Path) -> None:
    (tmp_path / "ledger.db.lock").write_text("a ledger was made here")
    code, answer, said = asked(tmp_path)
    assert (code, answer) == (1, "")
    assert "it is gone or empty: put it back" in said


def test_a_program_is_told_a_failure_as_one_document_on_standard_error(tmp_path: Path) -> None:
    foreign(tmp_path / "ledger.db")
    code, answer, said = asked(tmp_path, "--json")
    assert (code, answer) == (1, "")
    assert json.loads(said).keys() == {"success", "error"}
    assert json.loads(said)["success"] is False


def test_a_ledger_at_rest_is_read_without_a_trace(tmp_path: Path) -> None:
    with closing(connect_plain(tmp_path / "ledger.db")) as db:
        migrate(db)
    before = (tmp_path / "ledger.db").read_bytes()
    code, answer, said = asked(tmp_path)
    assert (code, said) == (0, "")
    assert answer.endswith(": 0 slots and 0 deliveries are owed\n")
    assert {each.name for each in tmp_path.iterdir()} == {"config.json", "ledger.db"}
    assert (tmp_path / "ledger.db").read_bytes() == before


def test_what_was_not_checkpointed_yet_is_told_too(tmp_path: Path) -> None:
    with closing(connect_plain(tmp_path / "ledger.db")) as db:
        migrate(db)
        db.execute("INSERT INTO schedule_slots (id, schedule_id) VALUES ('in the log', 'nightly')")
        code, answer, _ = asked(tmp_path)
    assert code == 0
    assert "slot in the log: pending (outcome not known yet)" in answer
