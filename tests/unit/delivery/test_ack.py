"""Answers that may speak of our own earlier attempt."""

import pytest

from pixivflow.delivery.ack import leaves_answer_unknown, understood
from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
)
from tests.fixtures.deliveries import KEY, ONE_OF_EACH

OURS = [
    pytest.param(DuplicateExisting(), id="a duplicate"),
    pytest.param(DuplicateExisting(matched_key=""), id="a duplicate of nobody in particular"),
    pytest.param(DuplicateExisting(matched_key=KEY), id="a duplicate under our own key"),
    pytest.param(PermanentFailure(error="conflict", http_status=409), id="a conflict"),
    pytest.param(PermanentFailure(error="conflict", http_status=409, matched_key=KEY), id="a conflict with our key"),
]
NOT_OURS = [
    pytest.param(DuplicateExisting(matched_key="pixivflow:a:illustration:1:adhoc"), id="a duplicate under another key"),
    pytest.param(PermanentFailure(error="conflict", http_status=409, matched_key="x"), id="a conflict with another"),
    pytest.param(PermanentFailure(error="bad request", http_status=400), id="a refusal of another kind"),
    pytest.param(PermanentFailure(error="duplicate 409"), id="a refusal that only sounds like a conflict"),
    pytest.param(RetryableFailure(error="conflict", http_status=409), id="no verdict yet"),
    pytest.param(RemoteFailed(remote_status="duplicate", error="duplicate", http_status=409), id="a final no"),
    pytest.param(Accepted(http_status=200), id="an acceptance"),
]


@pytest.mark.parametrize("ack", OURS)
def test_after_a_lost_answer_the_receiver_speaks_of_our_own_attempt(ack: Ack) -> None:
    assert isinstance(understood(ack, own_key=KEY, answer_unknown=True), IdempotentReplay)


@pytest.mark.parametrize("ack", NOT_OURS)
def test_what_names_another_key_or_is_no_conflict_means_what_it_says(ack: Ack) -> None:
    assert understood(ack, own_key=KEY, answer_unknown=True) == ack


@pytest.mark.parametrize("ack", [*OURS, *NOT_OURS])
def test_without_a_lost_answer_every_answer_means_what_it_says(ack: Ack) -> None:
    assert understood(ack, own_key=KEY, answer_unknown=False) == ack


def test_a_replay_keeps_what_the_receiver_said_about_the_publication() -> None:
    ack = DuplicateExisting(remote_id="7", remote_status="published", raw={"data": {}}, http_status=200)

    assert understood(ack, own_key=KEY, answer_unknown=True) == IdempotentReplay(
        remote_id="7", remote_status="published", raw={"data": {}}, http_status=200
    )


def test_a_row_without_a_key_takes_a_named_conflict_for_somebody_elses() -> None:
    ack = DuplicateExisting(matched_key="x")

    assert understood(ack, own_key=None, answer_unknown=True) == ack


@pytest.mark.parametrize("status", [502, 504])
def test_a_gateway_that_answers_for_the_receiver_leaves_its_answer_unknown(status: int) -> None:
    assert leaves_answer_unknown(RetryableFailure(error="", http_status=status))
    assert leaves_answer_unknown(PermanentFailure(error="", http_status=status))


def test_an_attempt_says_itself_when_its_answer_was_lost() -> None:
    assert leaves_answer_unknown(RetryableFailure(error="timed out", answer_unknown=True))
    assert leaves_answer_unknown(PermanentFailure(error="reset", answer_unknown=True))


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
def test_an_answer_that_came_is_known(ack: Ack) -> None:
    assert not leaves_answer_unknown(ack)
