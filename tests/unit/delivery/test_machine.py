"""The two tables, square by square: what is not in the tables below cannot happen."""

import pytest

from pixivflow.delivery.machine import IntentEvent, RowEvent, failure_event, intent_after, row_after, row_leads_to
from pixivflow.delivery.model import CONFIRMED, IntentStatus, RowStatus

PENDING, FAILED = IntentStatus.PENDING, IntentStatus.FAILED

INTENT = {
    IntentEvent.ACCEPTED: IntentStatus.DELIVERED,
    IntentEvent.REPLAYED: IntentStatus.DELIVERED,
    IntentEvent.FOUND_DUPLICATE: IntentStatus.DUPLICATE,
    IntentEvent.REMOTE_FAILED: FAILED,
    IntentEvent.ROW_DEAD: FAILED,
    IntentEvent.CANCELLED: FAILED,
    IntentEvent.REARMED: PENDING,
}

ROW = {
    ("pending", RowEvent.CLAIMED): "processing",
    ("retry_wait", RowEvent.CLAIMED): "processing",
    ("processing", RowEvent.LEASE_RAN_OUT): "processing",
    ("processing", RowEvent.SUCCEEDED): "done",
    ("processing", RowEvent.REMOTE_FAILED): "done",
    ("processing", RowEvent.FAILED_WITH_BUDGET): "retry_wait",
    ("processing", RowEvent.FAILED_FOR_GOOD): "dead",
    ("processing", RowEvent.WORK_CANCELLED): "dead",
    ("processing", RowEvent.RELEASED): "pending",
    ("processing", RowEvent.CUT_SHORT): "processing",
    ("pending", RowEvent.OPERATOR_CANCELLED): "cancelled",
    ("retry_wait", RowEvent.OPERATOR_CANCELLED): "cancelled",
    ("dead", RowEvent.OPERATOR_CANCELLED): "cancelled",
    ("pending", RowEvent.CONSUMER_CANCELLED): "cancelled",
    ("retry_wait", RowEvent.CONSUMER_CANCELLED): "cancelled",
    ("dead", RowEvent.REVIVED): "pending",
    ("cancelled", RowEvent.REVIVED): "pending",
    ("dead", RowEvent.REQUEUED): "retry_wait",
    ("cancelled", RowEvent.REQUEUED): "retry_wait",
}


@pytest.mark.parametrize("event", IntentEvent)
@pytest.mark.parametrize("status", [PENDING, FAILED])
def test_a_promise_that_is_not_confirmed_goes_where_the_event_leads(status: IntentStatus, event: IntentEvent) -> None:
    assert intent_after(status, event) is INTENT[event]


@pytest.mark.parametrize("event", IntentEvent)
@pytest.mark.parametrize("status", sorted(CONFIRMED))
def test_nothing_takes_a_publication_back(status: IntentStatus, event: IntentEvent) -> None:
    assert intent_after(status, event) is status


@pytest.mark.parametrize("event", RowEvent)
@pytest.mark.parametrize("status", RowStatus)
def test_a_row_goes_where_the_table_says_and_nowhere_else(status: RowStatus, event: RowEvent) -> None:
    assert row_after(status, event, PENDING) == ROW.get((status.value, event))


@pytest.mark.parametrize("event", RowEvent)
def test_every_event_leads_to_one_state_only(event: RowEvent) -> None:
    assert {to for (_, known), to in ROW.items() if known is event} == {row_leads_to(event)}


@pytest.mark.parametrize("status", RowStatus)
@pytest.mark.parametrize("event", [RowEvent.REVIVED, RowEvent.REQUEUED])
@pytest.mark.parametrize("intent", sorted(CONFIRMED))
def test_a_row_whose_work_is_published_is_never_armed_again(
    status: RowStatus, event: RowEvent, intent: IntentStatus
) -> None:
    assert row_after(status, event, intent) is None


def test_a_finished_row_is_sent_again_only_where_the_receiver_ended_the_work_badly() -> None:
    assert row_after(RowStatus.DONE, RowEvent.REQUEUED, FAILED) is RowStatus.RETRY_WAIT
    assert row_after(RowStatus.DONE, RowEvent.REVIVED, FAILED) is None
    assert row_after(RowStatus.DONE, RowEvent.REQUEUED, None) is None


def test_a_notice_without_a_promise_can_be_armed_again_once_it_is_dead() -> None:
    assert row_after(RowStatus.DEAD, RowEvent.REQUEUED, None) is RowStatus.RETRY_WAIT


@pytest.mark.parametrize(
    ("attempts", "retryable", "expected"),
    [
        pytest.param(11, True, RowEvent.FAILED_WITH_BUDGET, id="one chance is left"),
        pytest.param(12, True, RowEvent.FAILED_FOR_GOOD, id="the last chance is spent"),
        pytest.param(13, True, RowEvent.FAILED_FOR_GOOD, id="a row that came with too many is not tried for ever"),
        pytest.param(1, False, RowEvent.FAILED_FOR_GOOD, id="what would fail again is not tried again"),
    ],
)
def test_a_failure_is_the_last_one_when_no_chance_is_left(attempts: int, retryable: bool, expected: RowEvent) -> None:
    assert failure_event(attempts, 12, retryable=retryable) is expected
