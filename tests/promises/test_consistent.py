"""The checker of the file names each rule that a row breaks."""

from pathlib import Path

import pytest

from tests.promises import consistent
from tests.promises.evidence import Evidence
from tests.promises.ledgers import a_published_slot, add, with_changes

OPEN_SLOT = "UPDATE schedule_slots SET status = 'running', completed_at = NULL"
OPEN_CELL = "UPDATE schedule_slot_items SET status = 'delivery_pending', completed_at = NULL"
NO_OUTCOME = "DELETE FROM delivery_events WHERE event = 'execution.summary'"
OWED_INTENT = "UPDATE deliveries SET status = 'pending', delivered_at = NULL"
OWED_ROW = "UPDATE outbox SET status = 'pending', completed_at = NULL"


def judged(tmp_path: Path, *changes: str) -> list[str]:
    return consistent.judge(Evidence(ledger=with_changes(tmp_path / "l.db", *changes)))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param((), id="a published slot"),
        pytest.param(
            (OPEN_SLOT, OPEN_CELL, NO_OUTCOME, OWED_INTENT, OWED_ROW), id="a slot that waits for its delivery"
        ),
        pytest.param(
            (
                "UPDATE schedule_slots SET status = 'pending', started_at = NULL, completed_at = NULL",
                "UPDATE schedule_slot_items SET status = 'pending', work_id = NULL, completed_at = NULL",
                "DELETE FROM delivery_events",
                "DELETE FROM outbox",
                "DELETE FROM deliveries",
                "DELETE FROM scheduler_executions",
            ),
            id="a slot that was only accepted",
        ),
        pytest.param(
            ("UPDATE schedule_slots SET lease_owner = 'x', lease_until = heartbeat_at",),
            id="a slot that was rolled up by others after its run had died",
        ),
        pytest.param(
            ("UPDATE schedule_slots SET status = 'failed'", OPEN_CELL, OWED_INTENT, OWED_ROW),
            id="a slot that was forced to fail over an open delivery",
        ),
    ],
)
def test_rows_that_agree_are_right(tmp_path: Path, changes: tuple[str, ...]) -> None:
    assert judged(tmp_path, *changes) == []


BROKEN: list[tuple[tuple[str, ...], str]] = [
    (("UPDATE schedule_slots SET lease_owner = 'x'",), "half a lease"),
    (("UPDATE schedule_slots SET lease_owner = 'x', lease_until = heartbeat_at + 1",), "a lease that was alive then"),
    (("UPDATE schedule_slots SET status = 'pending'",), "`pending` and was started"),
    ((OPEN_SLOT, "UPDATE schedule_slots SET started_at = NULL"), "never started"),
    (("UPDATE schedule_slots SET completed_at = NULL",), "has ended without an instant"),
    (("UPDATE schedule_slots SET status = 'running'", NO_OUTCOME), "bears the instant of its end"),
    (
        (OPEN_SLOT, "UPDATE schedule_slots SET lease_owner = 'x', lease_until = heartbeat_at + 180001"),
        "a lease that ends too late",
    ),
    (("UPDATE schedule_slots SET manual_request_id = ''",), "a legal name"),
    ((NO_OUTCOME, "UPDATE schedule_slots SET reported_at = 1"), "reported without an outcome"),
    (
        ("INSERT INTO delivery_events (ts, slot_id, event) SELECT ts, slot_id, event FROM delivery_events",),
        "more than one outcome",
    ),
    (
        ("UPDATE schedule_slots SET status = 'pending', started_at = NULL, completed_at = NULL",),
        "never run and has an outcome",
    ),
    (("UPDATE schedule_slots SET status = 'failed'", OPEN_CELL.replace("delivery_", "")), "nobody decided"),
    (("UPDATE schedule_slot_items SET status = 'failed'",), "is `success` over other cells"),
    (("UPDATE schedule_slots SET status = 'partial'",), "is `partial` over other cells"),
    (("UPDATE schedule_slots SET status = 'failed'",), "is `failed` over published cells alone"),
    (("UPDATE schedule_slot_items SET completed_at = NULL",), "is final without an instant"),
    (("UPDATE schedule_slot_items SET status = 'selected'",), "is open and bears the instant"),
    (("UPDATE schedule_slot_items SET work_id = NULL",), "without a work"),
    (("UPDATE schedule_slot_items SET terminal_reason_code = 'x'",), "a reason for failing"),
    (("DELETE FROM schedule_slots",), "is without a slot"),
    ((OPEN_SLOT, OPEN_CELL), "waits for a delivery that nobody owes"),
    (("UPDATE schedule_slot_items SET work_id = 'w2'",), "intents for another work"),
    ((OWED_INTENT,), "nobody will send it"),
    (("UPDATE deliveries SET status = 'failed'", OWED_ROW), "would still be sent"),
    (("UPDATE deliveries SET delivered_at = NULL",), "confirmed without an instant"),
    (("DELETE FROM outbox",), "exactly one outbox row"),
    (("UPDATE outbox SET idempotency_key = 'new'",), "another key than its row"),
    ((OWED_ROW, "UPDATE outbox SET status = 'processing'"), "without a whole lease"),
    (("UPDATE outbox SET lease_owner = 'x'",), "holds a lease and is not `processing`"),
    ((OWED_ROW, "UPDATE outbox SET status = 'retry_wait', next_attempt_at = 1 << 60"), "put off for too long"),
    (("UPDATE outbox SET completed_at = NULL",), "is `done` without an instant"),
    (("UPDATE outbox SET status = 'pending'",), "is owed and bears the instant of its end"),
    ((OWED_ROW, "UPDATE outbox SET attempts = 12"), "its attempts are spent"),
    (
        ("INSERT INTO delivery_events (ts, outbox_id, event) VALUES (1, 'o1', 'outbox.delivered')",),
        "`done` twice",
    ),
    (("UPDATE deliveries SET status = 'pending'",), "`done` over an intent"),
    ((OWED_INTENT, "UPDATE outbox SET status = 'dead'"), "`dead` over an intent"),
    (
        (
            """INSERT INTO scheduler_executions (execution_number, schedule_id, status, start_time)
                   VALUES (1, 'p', 'failed', '')""",
        ),
        "repeats a number",
    ),
    (("UPDATE scheduler_executions SET execution_number = 3",), "skips a number"),
    (("PRAGMA foreign_keys = OFF", "UPDATE outbox SET delivery_id = 'gone'"), "points at no row"),
]


@pytest.mark.parametrize(("changes", "words"), BROKEN)
def test_each_broken_rule_is_named(tmp_path: Path, changes: tuple[str, ...], words: str) -> None:
    assert any(words in fault for fault in judged(tmp_path, *changes))


def test_every_rule_of_the_checker_is_shown_to_bite() -> None:
    rules = [sentence for _, _, questions in consistent.TABLES.values() for sentence in questions]
    assert [rule for rule in rules if not any(words in rule for _, words in BROKEN)] == []


def test_a_damaged_page_is_named(tmp_path: Path) -> None:
    ledger = tmp_path / "l.db"
    with a_published_slot(ledger) as db:
        for n in range(2, 400):
            add(db, "delivery_events", detail="x" * 200, event=f"e{n}")
    content = bytearray(ledger.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 4096] = b"\xff" * 4096
    ledger.write_bytes(content)
    assert any("damaged" in fault for fault in consistent.judge(Evidence(ledger=ledger)))
