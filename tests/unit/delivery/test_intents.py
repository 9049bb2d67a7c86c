"""Routes, keys, frozen payloads and what enqueueing means."""

import json

import pytest

from pixivflow.delivery.intents import (
    EnqueueStep,
    FanOut,
    RouteResult,
    enqueue_step,
    frozen_payload,
    intent_key,
    outbox_key,
    promises,
)
from pixivflow.delivery.model import IntentStatus
from pixivflow.ids import RouteName
from tests.fixtures.deliveries import KEY, an_order

A, B = RouteName("a"), RouteName("b")


@pytest.mark.case("delivery", 1)
def test_a_promise_is_named_after_its_route_work_and_cell_and_its_row_after_the_promise() -> None:
    assert intent_key(A, an_order("1", "S", "T")) == "pixivflow:a:illustration:1:S:T"
    assert outbox_key("pixivflow:a:illustration:1:S:T") == "outbox:pixivflow:a:illustration:1:S:T"


@pytest.mark.case("delivery", 2)
@pytest.mark.parametrize(("slot", "target"), [(None, None), (None, "T"), ("S", None)])
def test_without_a_whole_cell_the_key_says_adhoc(slot: str | None, target: str | None) -> None:
    assert intent_key(A, an_order("1", slot, target)) == "pixivflow:a:illustration:1:adhoc"


@pytest.mark.parametrize(("work", "slot", "target"), [("", "S", "T"), ("1", "", "T"), ("1", "S", "")])
def test_an_empty_id_names_nothing(work: str, slot: str, target: str) -> None:
    with pytest.raises(ValueError, match="empty id"):
        intent_key(A, an_order(work, slot, target))


def test_the_key_inside_the_payload_is_the_ledgers_whatever_the_caller_puts_there() -> None:
    payload = {"files": ["1.png"], "context": {"idempotencyKey": "mine", "deliveryTarget": "z", "title": "t"}}

    frozen = json.loads(frozen_payload({**payload, "version": 99}, A, KEY))

    assert frozen["context"] == {"idempotencyKey": KEY, "deliveryTarget": "a", "title": "t"}
    assert frozen["files"] == ["1.png"]
    assert frozen["version"] == 1


@pytest.mark.parametrize("context", [None, "text", 5])
def test_a_context_that_is_none_becomes_one(context: object) -> None:
    assert json.loads(frozen_payload({"context": context}, A, KEY))["context"]["idempotencyKey"] == KEY


def test_a_title_of_broken_characters_is_frozen_as_text_that_can_be_stored() -> None:
    frozen = frozen_payload({"context": {"title": "\ud83d\x00 «ё»"}}, A, KEY)

    assert json.loads(frozen.encode())["context"]["title"] == "?\x00 «ё»"
    assert "\x00" not in frozen


def test_a_number_that_no_receiver_can_read_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        frozen_payload({"fields": {"x": float("nan")}}, A, KEY)


def test_every_route_is_promised_with_ids_and_a_key_of_its_own() -> None:
    numbers = iter("1234")

    first, second = promises(an_order(), [A, B], {}, lambda: next(numbers), {B: "mine"})

    assert (first.delivery_id, first.outbox_id, first.idempotency_key) == ("1", "2", KEY)
    assert (second.delivery_id, second.outbox_id, second.idempotency_key) == ("3", "4", "mine")
    assert json.loads(second.payload_json)["context"] == {"deliveryTarget": "b", "idempotencyKey": "mine"}


def test_a_work_for_no_route_is_refused_since_it_would_look_like_a_duplicate() -> None:
    with pytest.raises(ValueError, match="no route"):
        promises(an_order(), [], {}, lambda: "x")


@pytest.mark.parametrize(
    ("served", "intent", "expected"),
    [
        (True, None, EnqueueStep.NOTHING),
        (True, IntentStatus.FAILED, EnqueueStep.NOTHING),
        (False, None, EnqueueStep.PROMISE),
        (False, IntentStatus.PENDING, EnqueueStep.PROMISE_AGAIN),
        (False, IntentStatus.FAILED, EnqueueStep.PROMISE_AGAIN),
        (False, IntentStatus.DELIVERED, EnqueueStep.NOTHING),
        (False, IntentStatus.DUPLICATE, EnqueueStep.NOTHING),
    ],
)
def test_a_route_is_promised_what_it_does_not_have(
    served: bool, intent: IntentStatus | None, expected: EnqueueStep
) -> None:
    assert enqueue_step(served=served, intent=intent) is expected


def test_a_work_is_a_duplicate_only_where_every_route_has_it_and_new_where_any_route_is_promised() -> None:
    def result(*, duplicate: bool, created: bool) -> RouteResult:
        return RouteResult(route=A, delivery_id="", idempotency_key="", duplicate=duplicate, created=created)

    mixed = FanOut(routes=(result(duplicate=True, created=False), result(duplicate=False, created=True)))
    owed = FanOut(routes=(result(duplicate=False, created=False),))
    known = FanOut(routes=(result(duplicate=True, created=False),) * 2)

    assert (mixed.duplicate, mixed.created) == (False, True)
    assert (owed.duplicate, owed.created) == (False, False)
    assert (known.duplicate, known.created) == (True, False)
