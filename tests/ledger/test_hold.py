"""The hold beside a ledger that was begun anew."""

from pathlib import Path

import pytest

from pixivflow.ledger.hold import Hold


@pytest.fixture
def hold(tmp_path: Path) -> Hold:
    return Hold(tmp_path / "ledger.db")


def test_no_hold_holds_nothing(hold: Hold) -> None:
    assert (hold.stands, hold.why) == (False, None)


def test_a_hold_says_when_and_why_and_is_its_owners_alone(hold: Hold) -> None:
    hold.place("file is not a database", 0)
    assert hold.stands
    assert hold.why is not None
    assert hold.why.startswith("1970-01-01T00:00:00.000Z: the ledger could not be used (file is not a database)")
    assert hold.path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in hold.path.parent.iterdir()] == ["ledger.db.hold"]


def test_the_first_reason_stands(hold: Hold) -> None:
    hold.place("the first", 0)
    hold.place("the second", 1)
    assert "the first" in str(hold.why)


def test_a_hold_without_words_holds_all_the_same_and_is_told(hold: Hold) -> None:
    hold.path.touch()
    assert (hold.stands, hold.why) == (True, "it does not say why")


def test_half_a_hold_of_a_life_that_was_killed_is_none_and_in_nobodys_way(hold: Hold) -> None:
    hold.path.with_name("ledger.db.hold.half").write_text("torn")
    assert not hold.stands
    hold.place("the reason", 0)
    assert "the reason" in str(hold.why)
