"""The checker of secrets looks into every file and output, and takes off the usual coats."""

from base64 import b64encode
from pathlib import Path

import pytest

from tests.promises import secrets
from tests.promises.ledgers import a_published_slot, with_changes
from tests.promises.transcripts import a_life

SECRET = "planted/credential+7"


def test_a_secret_that_nobody_wrote_down_is_kept(tmp_path: Path) -> None:
    life = a_life(with_changes(tmp_path / "l.db"), secrets=(SECRET,), texts={"stderr": "Bearer ***"})
    assert secrets.judge(life) == []


@pytest.mark.parametrize("coat", [SECRET, "planted%2Fcredential%2B7", b64encode(SECRET.encode()).decode()])
def test_a_secret_in_an_output_is_named_without_being_said(tmp_path: Path, coat: str) -> None:
    life = a_life(with_changes(tmp_path / "l.db"), secrets=(SECRET,), texts={"stderr": f"401 for Bearer {coat}"})
    assert secrets.judge(life) == ["the output stderr holds planted secret number 1"]


def test_a_secret_in_a_row_is_named(tmp_path: Path) -> None:
    life = a_life(with_changes(tmp_path / "l.db", f"UPDATE outbox SET last_error = '{SECRET}'"), secrets=("x9", SECRET))
    assert secrets.judge(life) == ["the file l.db holds planted secret number 2"]


def test_a_secret_in_the_log_beside_the_file_is_named(tmp_path: Path) -> None:
    ledger = tmp_path / "l.db"
    with a_published_slot(ledger) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"UPDATE outbox SET last_error = '{SECRET}'")
        found = secrets.judge(a_life(ledger, secrets=(SECRET,)))
    assert found == ["the file l.db-wal holds planted secret number 1"]
