"""What one answer changes, for every kind of answer."""

import itertools

import pytest

from pixivflow.delivery.audit import AuditEvent
from pixivflow.delivery.backoff import RetryPolicy
from pixivflow.delivery.changes import MOST_ATTEMPTS, IntentChange, Recording, RowChange
from pixivflow.delivery.machine import RowEvent
from pixivflow.delivery.model import (
    CONFIRMED,
    Accepted,
    Ack,
    DuplicateExisting,
    ErrorClass,
    IdempotentReplay,
    Intent,
    IntentStatus,
    OutboxRow,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
    RowKind,
)
from pixivflow.delivery.recording import recording
from tests.fixtures.deliveries import KEY, NOW, ONE_OF_EACH, a_row, an_intent


def recorded(
    ack: Ack, row: OutboxRow | None = None, intent: Intent | None = None, *, cancelled: bool = False, u: float = 0.0
) -> Recording:
    return recording(
        row or a_row(), intent or an_intent(), ack, cancelled=cancelled, policy=RetryPolicy(), now=NOW, u=u
    )


def names(found: Recording) -> list[str]:
    return [event.event for event in (*found.intent_events, *found.events)]


def test_an_acceptance_is_a_publication() -> None:
    found = recorded(Accepted(remote_id="7", remote_status="pending_review"), a_row(attempts=3, last_error="x"))

    assert found == Recording(
        row=RowChange(event=RowEvent.SUCCEEDED, attempts=3, next_attempt_at=NOW),
        events=(AuditEvent(event="outbox.delivered"),),
        intent=IntentChange(status=IntentStatus.DELIVERED, remote_id="7", remote_status="pending_review"),
        is_fact=True,
        settles=True,
    )


def test_a_replay_is_our_own_publication_and_is_told_as_such() -> None:
    found = recorded(IdempotentReplay(remote_id="7"))

    assert found.row.event is RowEvent.SUCCEEDED
    assert found.intent == IntentChange(status=IntentStatus.DELIVERED, remote_id="7", remote_status="idempotent_replay")
    assert found.intent_events == (
        AuditEvent(
            event="delivery.duplicate",
            error_class=ErrorClass.DUPLICATE,
            retryable=False,
            detail={"reason": "idempotent_replay", "remoteId": "7"},
        ),
    )
    assert (found.is_fact, found.settles) == (True, True)


def test_a_duplicate_is_somebody_elses_publication() -> None:
    found = recorded(DuplicateExisting(matched_key="theirs"), intent=an_intent(remote_id="5"))

    assert found.intent == IntentChange(
        status=IntentStatus.DUPLICATE,
        remote_id="5",
        remote_status="duplicate_existing",
        reuse_reason="historical_duplicate",
    )
    assert names(found) == ["delivery.duplicate", "outbox.delivered"]


def test_a_final_no_of_the_receiver_ends_the_row_without_a_publication() -> None:
    found = recorded(RemoteFailed(remote_status="rejected", error="not for us", remote_id="7"))

    assert found == Recording(
        row=RowChange(event=RowEvent.REMOTE_FAILED, attempts=0, next_attempt_at=NOW),
        events=(
            AuditEvent(
                event="delivery.remote_failed",
                retryable=False,
                detail={"reason": "remote_failed", "remoteId": "7", "remoteStatus": "rejected"},
            ),
        ),
        intent=IntentChange(
            status=IntentStatus.FAILED, remote_id="7", remote_status="rejected", last_error="not for us"
        ),
        settles=True,
    )


@pytest.mark.parametrize(("u", "wait"), [(0.0, 15_000), (0.5, 22_500), (0.999_999_999, 30_000)])
def test_a_first_failure_waits_between_fifteen_and_thirty_seconds(u: float, wait: int) -> None:
    found = recorded(RetryableFailure(error="answered HTTP 503", http_status=503), u=u)

    assert found == Recording(
        row=RowChange(
            event=RowEvent.FAILED_WITH_BUDGET,
            attempts=1,
            next_attempt_at=NOW + wait,
            last_error="answered HTTP 503",
        ),
        events=(
            AuditEvent(
                event="outbox.retry_scheduled",
                error_class=ErrorClass.REMOTE_5XX,
                retryable=True,
                counts_as_attempt=True,
                detail={"attempt": 1, "nextInMs": wait, "error": "answered HTTP 503"},
            ),
        ),
    )


def test_a_receiver_that_asks_for_a_longer_wait_gets_it() -> None:
    found = recorded(RetryableFailure(error="", http_status=429, retry_after_ms=90_000))

    assert found.row.next_attempt_at == NOW + 90_000


def test_the_last_failure_ends_the_promise() -> None:
    found = recorded(RetryableFailure(error="answered HTTP 503", http_status=503), a_row(attempts=11))

    assert found == Recording(
        row=RowChange(event=RowEvent.FAILED_FOR_GOOD, attempts=12, next_attempt_at=NOW, last_error="answered HTTP 503"),
        events=(
            AuditEvent(
                event="outbox.dead",
                error_class=ErrorClass.REMOTE_5XX,
                retryable=False,
                counts_as_attempt=True,
                detail={"attempt": 12, "error": "answered HTTP 503"},
            ),
        ),
        intent=IntentChange(status=IntentStatus.FAILED, last_error="answered HTTP 503"),
        settles=True,
    )


@pytest.mark.parametrize(
    ("ack", "attempts"),
    [
        pytest.param(RetryableFailure(error="again", http_status=503), 11, id="its budget is spent"),
        pytest.param(PermanentFailure(error="bad"), 0, id="it is refused for good"),
        pytest.param(RemoteFailed(remote_status="failed", error="no"), 0, id="the receiver gave it up"),
    ],
)
def test_a_row_that_ends_keeps_the_instant_for_which_its_last_attempt_was_due(ack: Ack, attempts: int) -> None:
    found = recorded(ack, a_row(attempts=attempts, next_attempt_at=NOW - 60_000))

    assert found.row.next_attempt_at == NOW - 60_000


def test_a_permanent_failure_is_not_tried_again() -> None:
    found = recorded(PermanentFailure(error="bad"), a_row(max_attempts=3))

    assert (found.row.event, found.row.attempts) == (RowEvent.FAILED_FOR_GOOD, 1)


def test_a_permanent_failure_that_speaks_of_a_timeout_stays_permanent() -> None:
    assert recorded(PermanentFailure(error="timeout")).row.event is RowEvent.FAILED_FOR_GOOD


def test_a_retryable_failure_that_speaks_of_a_duplicate_stays_retryable() -> None:
    found = recorded(RetryableFailure(error="again later, to avoid a duplicate"))

    assert found.row.event is RowEvent.FAILED_WITH_BUDGET


def test_a_mistake_of_the_operator_is_named_on_the_promise() -> None:
    found = recorded(PermanentFailure(error="X is not set", error_class=ErrorClass.CONFIGURATION_ERROR))

    assert found.row.last_error == "X is not set"
    assert found.intent == IntentChange(status=IntentStatus.FAILED, last_error="X is not set (configuration error)")


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
@pytest.mark.parametrize("status", sorted(CONFIRMED))
@pytest.mark.parametrize("cancelled", [False, True])
def test_no_answer_changes_a_confirmed_promise_and_every_answer_ends_its_row(
    ack: Ack, status: IntentStatus, cancelled: bool
) -> None:
    found = recorded(ack, intent=an_intent(status=status, remote_id="5"), cancelled=cancelled)

    assert found.intent is None
    assert found.row.event in (RowEvent.SUCCEEDED, RowEvent.REMOTE_FAILED)


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
@pytest.mark.parametrize("status", [IntentStatus.PENDING, IntentStatus.FAILED])
def test_only_a_publication_confirms_a_promise_and_it_does_so_even_late(ack: Ack, status: IntentStatus) -> None:
    found = recorded(ack, intent=an_intent(status=status))

    published = isinstance(ack, Accepted | IdempotentReplay | DuplicateExisting)
    confirmed = found.intent is not None and found.intent.status in CONFIRMED
    assert confirmed == published
    assert found.is_fact == published


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
def test_a_row_without_a_promise_is_ended_or_put_off_the_same_way(ack: Ack) -> None:
    notice = a_row(kind=RowKind.NOTIFICATION, delivery_id=None)

    found = recording(notice, None, ack, cancelled=False, policy=RetryPolicy(), now=NOW, u=0.0)

    assert found.intent is None
    assert found.row == recorded(ack).row


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
def test_the_verdict_of_a_receiver_about_cancelled_work_is_told_as_late(ack: Ack) -> None:
    late, known = recorded(ack, cancelled=True), recorded(ack)

    has_verdict = not isinstance(ack, RetryableFailure | PermanentFailure)
    assert ("delivery.late_ack" in names(late)) == has_verdict
    assert "delivery.late_ack" not in names(known)
    assert (late.row, late.intent) == (known.row, known.intent)


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(
    ("ack", "unknown"),
    [
        (RetryableFailure(error="timed out", answer_unknown=True), True),
        (RetryableFailure(error="bad gateway", http_status=502), True),
        (RetryableFailure(error="unavailable", http_status=503), False),
        (PermanentFailure(error="reset", answer_unknown=True), True),
        (PermanentFailure(error="bad"), False),
    ],
)
def test_a_lost_answer_is_remembered_for_ever(ack: Ack, unknown: bool, before: bool) -> None:
    assert recorded(ack, a_row(answer_unknown=before)).row.answer_unknown == (unknown or before)


def test_a_conflict_after_a_lost_answer_is_our_own_publication() -> None:
    after = recorded(PermanentFailure(error="conflict", http_status=409), a_row(answer_unknown=True))
    first = recorded(PermanentFailure(error="conflict", http_status=409))

    assert after.intent == IntentChange(status=IntentStatus.DELIVERED, remote_status="idempotent_replay")
    assert first.row.event is RowEvent.FAILED_FOR_GOOD


def test_our_own_key_is_the_promises_and_not_the_rows() -> None:
    ours = DuplicateExisting(matched_key=KEY)
    rows = DuplicateExisting(matched_key=f"outbox:{KEY}")

    assert recorded(ours, a_row(answer_unknown=True)).intent == IntentChange(
        status=IntentStatus.DELIVERED, remote_status="idempotent_replay"
    )
    assert recorded(rows, a_row(answer_unknown=True)).intent == IntentChange(
        status=IntentStatus.DUPLICATE, remote_status="duplicate_existing", reuse_reason="historical_duplicate"
    )


def test_what_a_receiver_says_is_kept_short_and_clean() -> None:
    long = "x" * 5_000_000
    published = recorded(Accepted(remote_id="\ud800" + long, remote_status=long))
    failed = recorded(PermanentFailure(error=f"https://u:p@h/?q {long}"))
    blank = recorded(Accepted(remote_id=" \x00 ", remote_status=""))

    assert published.intent == IntentChange(
        status=IntentStatus.DELIVERED, remote_id="?" + "x" * 499, remote_status="x" * 500
    )
    assert failed.row.last_error is not None
    assert failed.row.last_error.startswith("https://redacted@h/?…")
    assert len(failed.row.last_error) <= 1_000
    assert blank.intent == IntentChange(status=IntentStatus.DELIVERED, remote_status="accepted")


def test_counting_stops_before_a_row_could_overflow() -> None:
    found = recorded(RetryableFailure(error=""), a_row(attempts=2**63 - 1, max_attempts=2**63 - 1))

    assert found.row.attempts == MOST_ATTEMPTS


def test_no_wish_of_a_receiver_puts_a_row_off_beyond_the_longest_wait() -> None:
    found = recorded(RetryableFailure(error="", retry_after_ms=10**30))

    assert found.row.next_attempt_at == NOW + 21_600_000


@pytest.mark.parametrize(
    ("ack", "attempts", "cancelled", "unknown"),
    list(itertools.product(ONE_OF_EACH, [0, 10, 11, 12], [False, True], [False, True])),
)
def test_every_answer_ends_the_row_or_puts_it_off_and_ends_the_promise_with_the_row(
    ack: Ack, attempts: int, cancelled: bool, unknown: bool
) -> None:
    found = recorded(ack, a_row(attempts=attempts, answer_unknown=unknown), cancelled=cancelled)

    ended = found.row.event is not RowEvent.FAILED_WITH_BUDGET
    assert found.settles == ended
    assert (found.intent is not None) == ended
    assert found.row.attempts - attempts == isinstance(ack, RetryableFailure | PermanentFailure)
    assert [event.event for event in found.events if event.counts_as_attempt] == (
        [] if found.row.attempts == attempts else ["outbox.dead" if ended else "outbox.retry_scheduled"]
    )
