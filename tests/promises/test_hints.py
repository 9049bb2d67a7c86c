"""The checker of hints names work that lies due in the file."""

from pathlib import Path

import pytest

from tests.promises import hints
from tests.promises.ledgers import AT, with_changes
from tests.promises.transcripts import a_life

RUNNING = "UPDATE schedule_slots SET status = 'running'"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param((), id="all is done"),
        pytest.param(
            (
                RUNNING,
                "UPDATE schedule_slot_items SET status = 'delivery_pending'",
                f"UPDATE outbox SET status = 'retry_wait', next_attempt_at = {AT + 1}",
            ),
            id="the next attempt is still to come",
        ),
        pytest.param(
            (
                RUNNING,
                "UPDATE schedule_slot_items SET status = 'pending'",
                f"UPDATE schedule_slots SET lease_owner = 'x', lease_until = {AT + 1}",
            ),
            id="a run is at it",
        ),
    ],
)
def test_what_is_not_due_may_wait(tmp_path: Path, changes: tuple[str, ...]) -> None:
    assert hints.judge(a_life(with_changes(tmp_path / "l.db", *changes))) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ((RUNNING, "UPDATE schedule_slot_items SET status = 'pending'"), "no run holds it"),
        ((RUNNING,), "nobody has rolled it up"),
        (("UPDATE outbox SET status = 'pending'",), "nobody has claimed it"),
        ((f"UPDATE outbox SET status = 'processing', lease_owner = 'x', lease_until = {AT}",), "who is gone"),
    ],
)
def test_what_lies_due_is_named(tmp_path: Path, changes: tuple[str, ...], words: str) -> None:
    assert any(words in fault for fault in hints.judge(a_life(with_changes(tmp_path / "l.db", *changes))))
