"""The checker of moves compares two looks at the ledger: what is final stays final, what is written stays written."""

from pathlib import Path

import pytest

from tests.promises import moves
from tests.promises.evidence import Evidence
from tests.promises.ledgers import with_changes
from tests.promises.transcripts import looked_at

WAITING = (
    "UPDATE schedule_slots SET status = 'running', completed_at = NULL",
    "UPDATE schedule_slot_items SET status = 'delivery_pending', completed_at = NULL",
    "UPDATE deliveries SET status = 'pending', delivered_at = NULL",
    "UPDATE outbox SET status = 'retry_wait', attempts = 2, completed_at = NULL",
)


def judged(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> list[str]:
    first = looked_at(with_changes(tmp_path / "before.db", *before), 1)
    second = looked_at(with_changes(tmp_path / "after.db", *after), 2)
    return moves.judge(Evidence(ledger=tmp_path / "after.db", snapshots=(first, second)))


def test_a_waiting_delivery_may_be_published(tmp_path: Path) -> None:
    assert judged(tmp_path, WAITING, ("UPDATE outbox SET attempts = 2",)) == []


def test_a_ledger_that_stands_still_is_right(tmp_path: Path) -> None:
    assert judged(tmp_path, (), ()) == []


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ("UPDATE schedule_slots SET status = 'running'", "from `success` to `running`"),
        ("UPDATE schedule_slot_items SET status = 'failed'", "from `submitted` to `failed`"),
        ("UPDATE schedule_slot_items SET work_id = 'w2'", "held work w1"),
        ("UPDATE deliveries SET status = 'pending'", "from `delivered` to `pending`"),
        ("UPDATE outbox SET status = 'retry_wait'", "from `done` to `retry_wait`"),
        ("UPDATE outbox SET payload_json = '[]'", "had payload_json"),
        ("UPDATE deliveries SET idempotency_key = 'new'", "had idempotency_key"),
        ("UPDATE scheduler_executions SET status = 'failed'", "from `success` to `failed`"),
        ("UPDATE delivery_events SET detail = 'x'", "had detail"),
        ("UPDATE schedule_slots SET completed_at = '2026-01-15 04:00:00'", "had its completed_at stamped"),
        ("UPDATE outbox SET last_error = 'late', updated_at = 1", "was over and last_error became 'late'"),
        ("UPDATE schedule_slot_items SET last_error = 'late'", "was over and last_error became 'late'"),
        ("DELETE FROM delivery_events", "was there and is gone"),
        ("DELETE FROM outbox", "was there and is gone"),
    ],
)
def test_a_move_that_no_table_knows_is_named(tmp_path: Path, after: str, words: str) -> None:
    assert any(words in fault for fault in judged(tmp_path, (), (after,)))


def test_a_failed_slot_that_is_taken_up_again_has_no_end_yet(tmp_path: Path) -> None:
    failed = "UPDATE schedule_slots SET status = 'failed'"
    again = "UPDATE schedule_slots SET status = 'running', completed_at = NULL"
    assert judged(tmp_path, (failed,), (again,)) == []


def test_an_attempt_that_was_counted_stays_counted(tmp_path: Path) -> None:
    faults = judged(tmp_path, WAITING, (*WAITING, "UPDATE outbox SET attempts = 1"))
    assert faults == ["outbox o1 went back in attempts from 2 to 1"]


def test_a_provisional_binding_may_be_given_back(tmp_path: Path) -> None:
    bound = "UPDATE schedule_slot_items SET status = 'selected', completed_at = NULL"
    free = "UPDATE schedule_slot_items SET status = 'pending', work_id = NULL, completed_at = NULL"
    assert judged(tmp_path, (bound,), (free,)) == []


def test_every_state_of_a_table_leads_only_to_states_of_that_table() -> None:
    for table in moves.STATES.values():
        assert {to for ways in table.values() for to in ways} <= set(table)
