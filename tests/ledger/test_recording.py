"""Recording an answer: the row, its promise, the audit and the cell, together; retries, budgets, hostile answers."""

import pytest

from pixivflow.delivery.machine import RowEvent, row_after
from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
    RowStatus,
)
from pixivflow.ids import OutboxId
from pixivflow.ledger import outbox, recording
from pixivflow.ledger.connection import Db
from pixivflow.times import utc_text
from tests.fixtures.deliveries import ME, NOW, ONE_OF_EACH, SLOT
from tests.fixtures.ledgers import transaction
from tests.ledger.promising import answered, claimed, cleared, owed, put, recorded, sole, states, told

UNAVAILABLE = RetryableFailure(error="answered HTTP 503", http_status=503)


@pytest.mark.parametrize(
    ("ack", "expected"),
    [
        (ONE_OF_EACH[0], ("done", "delivered", "submitted")),
        (ONE_OF_EACH[1], ("done", "delivered", "submitted")),
        (ONE_OF_EACH[2], ("done", "duplicate", "duplicate")),
        (ONE_OF_EACH[3], ("done", "failed", "failed")),
        (ONE_OF_EACH[4], ("retry_wait", "pending", "delivery_pending")),
        (ONE_OF_EACH[5], ("dead", "failed", "failed")),
    ],
    ids=[type(ack).__name__ for ack in ONE_OF_EACH],
)
def test_an_answer_moves_row_promise_and_cell_together(db: Db, ack: Ack, expected: tuple[str, str, str]) -> None:
    owed(db, "a")

    answered(db, ack)

    assert states(db) == expected


def test_an_acceptance_is_written_whole(db: Db) -> None:
    owed(db, "a")
    put(db, attempts=2, last_error="x")

    answered(db, Accepted(remote_id="7", remote_status="pending_review"), now=NOW + 5_000)

    row, intent = sole(db, "outbox"), sole(db, "deliveries")
    at = utc_text(NOW + 5_000)
    assert (row["attempts"], row["last_error"], row["completed_at"]) == (2, None, NOW + 5_000)
    assert (row["lease_owner"], row["lease_until"]) == (None, None)
    assert (intent["remote_id"], intent["remote_status"], intent["attempts"]) == ("7", "pending_review", 1)
    assert (intent["delivered_at"], intent["updated_at"], intent["last_error"]) == (at, at, None)
    event = sole(db, "delivery_events")
    assert (event["event"], event["ts"], event["outbox_id"], event["delivery_id"]) == (
        "outbox.delivered",
        NOW + 5_000,
        row["id"],
        intent["id"],
    )
    assert (event["execution_id"], event["slot_id"], event["pixiv_id"], event["delivery_target"]) == (
        "run-1",
        SLOT,
        "1",
        "a",
    )


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
@pytest.mark.parametrize("status", RowStatus)
def test_an_answer_changes_a_row_only_where_the_table_allows_it(db: Db, ack: Ack, status: RowStatus) -> None:
    owed(db, "a")
    row = claimed(db)
    if status is not RowStatus.PROCESSING:
        put(db, status=status, lease_owner=None, lease_until=None)
    before = sole(db, "outbox")

    assert recorded(db, row, ack) == (status is RowStatus.PROCESSING)

    event = {
        Accepted: RowEvent.SUCCEEDED,
        IdempotentReplay: RowEvent.SUCCEEDED,
        DuplicateExisting: RowEvent.SUCCEEDED,
        RemoteFailed: RowEvent.REMOTE_FAILED,
        RetryableFailure: RowEvent.FAILED_WITH_BUDGET,
        PermanentFailure: RowEvent.FAILED_FOR_GOOD,
    }[type(ack)]
    after = sole(db, "outbox")
    if row_after(status, event) is None:
        assert after == before
    else:
        assert after["status"] == row_after(status, event)


@pytest.mark.case("delivery", 29)
@pytest.mark.parametrize(("u", "wait"), [(0.0, 15_000), (0.999_999, 30_000)])
def test_a_first_failure_waits_between_fifteen_and_thirty_seconds(db: Db, u: float, wait: int) -> None:
    owed(db, "a")

    recorded(db, claimed(db), UNAVAILABLE, u=u)

    row = sole(db, "outbox")
    assert (row["status"], row["attempts"], row["next_attempt_at"]) == ("retry_wait", 1, NOW + wait)
    assert row["last_error"] == "answered HTTP 503"


@pytest.mark.case("delivery", 30)
def test_the_twelfth_failure_ends_row_promise_and_cell_once(db: Db) -> None:
    owed(db, "a")
    put(db, attempts=11)

    answered(db, UNAVAILABLE)

    assert states(db) == ("dead", "failed", "failed")
    assert sole(db, "outbox")["attempts"] == 12
    assert told(db) == ["outbox.dead"]
    cell = sole(db, "schedule_slot_items")
    assert cell["terminal_reason_code"] == "delivery_failed"
    assert "confirmed on 0 of 1 routes, lost on a: answered HTTP 503" in cell["last_error"]


@pytest.mark.case("delivery", 31)
def test_a_receiver_that_asks_for_ninety_seconds_is_left_alone_so_long(db: Db) -> None:
    owed(db, "a")

    answered(db, RetryableFailure(error="slow down", http_status=429, retry_after_ms=90_000))

    assert sole(db, "outbox")["next_attempt_at"] >= NOW + 90_000


@pytest.mark.case("delivery", 32)
def test_a_permanent_failure_is_dead_after_one_call(db: Db) -> None:
    owed(db, "a")
    put(db, max_attempts=3)

    answered(db, PermanentFailure(error="bad"))

    assert (sole(db, "outbox")["status"], sole(db, "outbox")["attempts"]) == ("dead", 1)
    assert outbox.due(db, 2**62).routes == ()


@pytest.mark.case("delivery", 33)
def test_a_permanent_failure_that_speaks_of_a_timeout_is_dead_at_once(db: Db) -> None:
    owed(db, "a")

    answered(db, PermanentFailure(error="upstream timeout", http_status=400))

    assert (sole(db, "outbox")["status"], sole(db, "outbox")["attempts"]) == ("dead", 1)


@pytest.mark.case("delivery", 34)
def test_a_retryable_failure_that_speaks_of_a_duplicate_is_tried_again(db: Db) -> None:
    owed(db, "a")

    answered(db, RetryableFailure(error="try later, to avoid a duplicate"))

    assert sole(db, "outbox")["status"] == "retry_wait"


@pytest.mark.case("delivery", 28)
def test_a_work_promised_three_times_under_one_key_is_sent_once(db: Db) -> None:
    for _ in range(3):
        owed(db, "a")

    row = claimed(db)
    assert cleared(db, row)
    recorded(db, row, Accepted())

    assert outbox.due(db, 2**62).routes == ()
    assert told(db).count("outbox.claimed") == 1


def test_an_error_of_megabytes_and_broken_characters_is_kept_short(db: Db) -> None:
    owed(db, "a")

    answered(db, RetryableFailure(error="\x00\ud800 https://u:p@h/?secret " + "x y " * 1_250_000))

    error = sole(db, "outbox")["last_error"]
    assert error.startswith("? https://redacted@h/?…")
    assert len(error) <= 1_000


def test_a_remote_id_that_breaks_other_programs_is_kept_as_it_can_be(db: Db) -> None:
    owed(db, "a")

    answered(db, Accepted(remote_id="\ud800\x00" + "7" * 5_000_000, remote_status="\udfff"))

    intent = sole(db, "deliveries")
    assert intent["remote_id"] == "? " + "7" * 498
    assert intent["remote_status"] == "?"


@pytest.mark.parametrize("wish", [10**30, -(10**30), 0])
def test_no_wish_of_a_receiver_can_lose_a_row(db: Db, wish: int) -> None:
    owed(db, "a")

    answered(db, RetryableFailure(error="", retry_after_ms=wish))

    assert NOW + 15_000 <= sole(db, "outbox")["next_attempt_at"] <= NOW + 21_600_000


def test_a_row_that_was_tried_more_often_than_can_be_counted_still_ends(db: Db) -> None:
    owed(db, "a")
    put(db, attempts=2**63 - 1)

    answered(db, UNAVAILABLE)

    assert sole(db, "outbox")["status"] == "dead"


def test_an_answer_to_a_row_that_is_not_there_changes_nothing(db: Db) -> None:
    with transaction(db):
        assert not recording.record(db, OutboxId("gone"), Accepted(), ME, NOW, 0.0)
        assert not recording.cleared(db, OutboxId("gone"), ME, NOW)
