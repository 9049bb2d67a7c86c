"""Ending and re-arming rows without any answer."""

import pytest

from pixivflow.delivery.changes import IntentChange, RowChange
from pixivflow.delivery.machine import RowEvent
from pixivflow.delivery.model import CONFIRMED, IntentStatus, RowStatus
from pixivflow.delivery.orders import cancel, last_look, rearm
from tests.fixtures.deliveries import NOW, a_row, an_intent

CANCELLABLE = {
    "cli": {RowStatus.PENDING, RowStatus.RETRY_WAIT, RowStatus.DEAD},
    "consumer": {RowStatus.PENDING, RowStatus.RETRY_WAIT},
}


def test_a_claimed_row_that_is_owed_and_wanted_is_sent() -> None:
    assert last_look(a_row(), an_intent(), cancelled=False) is None
    assert last_look(a_row(), None, cancelled=False) is None


@pytest.mark.parametrize("status", [IntentStatus.PENDING, IntentStatus.FAILED])
def test_cancelled_work_is_dead_lettered_at_the_last_look(status: IntentStatus) -> None:
    stopped = last_look(a_row(attempts=2), an_intent(status=status), cancelled=True)

    assert stopped is not None
    assert stopped.row == RowChange(
        event=RowEvent.WORK_CANCELLED, attempts=3, next_attempt_at=NOW, last_error="work cancelled by consumer"
    )
    assert stopped.intent == IntentChange(
        status=IntentStatus.FAILED, remote_status="cancelled", last_error="work cancelled by consumer"
    )
    assert [(event.event, event.actor) for event in stopped.events] == [("outbox.cancelled", "consumer")]


@pytest.mark.parametrize("status", sorted(CONFIRMED))
@pytest.mark.parametrize("cancelled", [False, True])
def test_a_row_whose_work_is_out_by_now_is_finished_unsent(status: IntentStatus, cancelled: bool) -> None:
    stopped = last_look(a_row(attempts=2), an_intent(status=status), cancelled=cancelled)

    assert stopped is not None
    assert stopped.row == RowChange(event=RowEvent.SUCCEEDED, attempts=2, next_attempt_at=NOW)
    assert stopped.intent is None


@pytest.mark.parametrize("status", RowStatus)
@pytest.mark.parametrize(
    ("actor", "why"), [("cli", "cancelled by operator"), ("consumer", "work cancelled by consumer")]
)
def test_a_row_is_cancelled_only_while_nobody_sends_it(status: RowStatus, actor: str, why: str) -> None:
    decided = cancel(a_row(status=status, attempts=2, last_error="x"), an_intent(), actor)

    if status not in CANCELLABLE[actor]:
        assert decided is None
        return
    assert decided is not None
    assert (decided.row.attempts, decided.row.last_error) == (2, "x")
    assert decided.intent == IntentChange(status=IntentStatus.FAILED, remote_status="cancelled", last_error=why)
    assert [(event.event, event.actor) for event in decided.events] == [("outbox.cancelled", actor)]


def test_a_consumers_cancel_leaves_the_cell_to_the_consumer_and_an_operators_settles_it() -> None:
    by_consumer = cancel(a_row(status=RowStatus.PENDING), an_intent(), "consumer")
    by_operator = cancel(a_row(status=RowStatus.PENDING), an_intent(), "cli")

    assert by_consumer is not None
    assert not by_consumer.settles
    assert by_operator is not None
    assert by_operator.settles


@pytest.mark.parametrize("event", [RowEvent.REVIVED, RowEvent.REQUEUED])
@pytest.mark.parametrize("status", [RowStatus.DEAD, RowStatus.CANCELLED])
def test_a_row_that_had_ended_gets_a_full_budget_and_its_promise_back(status: RowStatus, event: RowEvent) -> None:
    row = a_row(status=status, attempts=12, last_error="x", answer_unknown=True)

    decided = rearm(row, an_intent(status=IntentStatus.FAILED, last_error="y"), event, NOW + 5, source="outbox retry")

    assert decided is not None
    assert decided.row == RowChange(event=event, attempts=0, next_attempt_at=NOW + 5, answer_unknown=True)
    assert decided.intent == IntentChange(status=IntentStatus.PENDING, last_error="y")
    [asked] = decided.events
    assert (asked.event, asked.actor) == ("outbox.replay_requested", "cli")
    assert asked.detail == {"source": "outbox retry", "deliveryStatus": "failed"}


def test_a_row_that_is_armed_by_enqueueing_needs_no_word_in_the_audit() -> None:
    decided = rearm(a_row(status=RowStatus.DEAD), an_intent(status=IntentStatus.FAILED), RowEvent.REVIVED, NOW)

    assert decided is not None
    assert decided.events == ()


@pytest.mark.parametrize("status", [RowStatus.PENDING, RowStatus.PROCESSING, RowStatus.RETRY_WAIT, RowStatus.DONE])
@pytest.mark.parametrize("event", [RowEvent.REVIVED, RowEvent.REQUEUED])
def test_a_row_that_is_owed_or_done_is_not_armed_again(status: RowStatus, event: RowEvent) -> None:
    assert rearm(a_row(status=status), an_intent(), event, NOW) is None
