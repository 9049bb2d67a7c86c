"""The checker of acceptances finds what a client was promised and the ledger does not hold."""

from pathlib import Path

from tests.promises import accepted
from tests.promises.evidence import Acceptance
from tests.promises.ledgers import SLOT, with_changes
from tests.promises.transcripts import a_life, looked_at


def test_an_accepted_slot_with_its_cells_is_kept(tmp_path: Path) -> None:
    assert accepted.judge(a_life(with_changes(tmp_path / "l.db"))) == []


def test_an_accepted_slot_without_a_row_is_named(tmp_path: Path) -> None:
    life = a_life(with_changes(tmp_path / "l.db", "DELETE FROM schedule_slots"))
    assert accepted.judge(life) == [f"slot {SLOT} was accepted and has no row"]


def test_an_accepted_slot_without_one_of_its_cells_is_named(tmp_path: Path) -> None:
    life = a_life(with_changes(tmp_path / "l.db", """UPDATE schedule_slots SET target_ids = '["t", "u"]'"""))
    assert accepted.judge(life) == [f"slot {SLOT} was accepted with target u and has no cell for it"]


def test_a_slot_that_was_lost_and_opened_again_later_is_named_all_the_same(tmp_path: Path) -> None:
    lost = looked_at(with_changes(tmp_path / "after-the-kill.db", "DELETE FROM schedule_slots"), 50)
    final = with_changes(tmp_path / "l.db")
    life = a_life(final, snapshots=(lost, looked_at(final, 1_000)))
    assert accepted.judge(life) == [f"slot {SLOT} was accepted and has no row"]


def test_a_slot_that_nobody_saw_accepted_yet_may_be_missing(tmp_path: Path) -> None:
    early = looked_at(with_changes(tmp_path / "early.db", "DELETE FROM schedule_slots"), 50)
    final = with_changes(tmp_path / "l.db")
    life = a_life(final, acceptances=(Acceptance(SLOT, 60),), snapshots=(early, looked_at(final, 1_000)))
    assert accepted.judge(life) == []
