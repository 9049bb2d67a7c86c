"""What the answers of the two kinds of receivers mean; their parsers share no word."""

import json
from typing import Any

import pytest

from pixivflow.config.model import AckFields
from pixivflow.delivery.audit import media_fallback
from pixivflow.delivery.faults import error_class
from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    ErrorClass,
    IdempotentReplay,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
)
from pixivflow.providers.evidence import retry_after_ms
from pixivflow.providers.exchange import Answer
from pixivflow.providers.hearing import Said, heard
from pixivflow.providers.multipart_ack import multipart_ack
from pixivflow.providers.webhook_ack import webhook_ack
from tests.fixtures.deliveries import NOW


def an_answer(status: int, told: object = b"", **headers: str) -> Said:
    """An answer; `told` is its body, as JSON unless it is bytes."""
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    told_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return heard(Answer(status=status, headers=told_headers, body=body))


def from_gateway(status: int, told: object = b"", **headers: str) -> Ack:
    return webhook_ack(an_answer(status, told, **headers), NOW)


def from_receiver(status: int, told: object = b"", names: AckFields | None = None, **headers: str) -> Ack:
    return multipart_ack(an_answer(status, told, **headers), names or AckFields(), NOW)


# --- gateways ---


@pytest.mark.parametrize("word", ["failed", "rejected", "invalid", "expired", "blocked", " REJECTED\n"])
@pytest.mark.parametrize("status", [200, 202, 302, 401, 409, 429, 500])
def test_a_bad_end_in_the_gateway_s_records_outranks_every_status(word: str, status: int) -> None:
    ack = from_gateway(status, {"status": word, "id": "g-1", "reason": "not for us"})
    assert isinstance(ack, RemoteFailed)
    assert (ack.remote_status, ack.remote_id, ack.http_status) == (word.strip().lower(), "g-1", status)
    assert "not for us" in ack.error


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (409, b""),
        (409, {"status": "queued"}),
        (200, {"status": "duplicate"}),
        (200, {"status": "duplicate_existing"}),
        (500, {"status": "already_exists"}),
        (202, {"status": "replayed"}),
    ],
)
def test_a_gateway_that_has_the_work_says_so_by_a_word_or_a_conflict(status: int, told: object) -> None:
    assert isinstance(from_gateway(status, told), DuplicateExisting)


def test_the_key_under_which_a_gateway_has_the_work_is_kept() -> None:
    ack = from_gateway(409, {"matched_idempotency_key": " k-1 ", "id": "g-1"})
    assert ack == DuplicateExisting(remote_id="g-1", matched_key="k-1", http_status=409)


@pytest.mark.parametrize("word", ["pending", "queued", "accepted_pending", "submitted", "processing"])
@pytest.mark.parametrize("status", [200, 202, 302, 400, 404])
def test_a_word_that_is_no_verdict_yet_outranks_the_status(word: str, status: int) -> None:
    assert isinstance(from_gateway(status, {"status": word}), RetryableFailure)


@pytest.mark.case("delivery", 57)
@pytest.mark.parametrize("word", ["weird", "accepted!", "true"])
@pytest.mark.parametrize("status", [200, 202])
def test_a_word_that_nobody_knows_is_no_success(word: str, status: int) -> None:
    ack = from_gateway(status, {"status": word})
    assert isinstance(ack, RetryableFailure)
    assert not ack.answer_unknown


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
@pytest.mark.parametrize("told", [b"", {"status": "ok"}, {"status": "weird"}, b"<html>"])
def test_a_gateway_that_is_busy_or_broken_is_tried_again(status: int, told: object) -> None:
    assert isinstance(from_gateway(status, told), RetryableFailure)


@pytest.mark.parametrize("status", [301, 302, 307, 304, 400, 401, 404, 408, 422])
@pytest.mark.parametrize("told", [b"", {"status": "ok"}, {"status": "weird"}, b"<html>"])
def test_a_gateway_that_refuses_or_sends_us_elsewhere_is_not_tried_again(status: int, told: object) -> None:
    ack = from_gateway(status, told)
    assert isinstance(ack, PermanentFailure)
    assert ack.http_status == status


@pytest.mark.case("delivery", 58)
def test_a_refusal_with_a_word_is_the_gateway_s_verdict_and_one_without_is_ours_to_mend() -> None:
    assert isinstance(from_gateway(401, {"status": "rejected"}), RemoteFailed)
    bare = from_gateway(401, {"reason": "who are you"})
    assert isinstance(bare, PermanentFailure)
    assert error_class(bare) is ErrorClass.REMOTE_4XX


@pytest.mark.case("delivery", 59)
def test_an_empty_answer_of_a_good_status_is_acceptance_without_a_name() -> None:
    assert from_gateway(204) == Accepted(http_status=204)


@pytest.mark.parametrize(
    "told",
    [
        {"status": "accepted"},
        {"status": " Published "},
        {"status": "ok"},
        {"status": "success"},
        {"status": "sent"},
        {"status": "delivered"},
        {"status": None},
        {"status": 5},
        {"status": ["rejected"]},
        {"status": ""},
        {},
        [],
        ["rejected"],
        "rejected",
        None,
        b"rejected",
        b"<html>rejected</html>",
        b"\xff\xfe\x00",
    ],
)
def test_a_good_word_or_none_at_all_is_acceptance(told: object) -> None:
    assert isinstance(from_gateway(200, told), Accepted)


@pytest.mark.parametrize(
    ("told", "remote_id"),
    [
        ({"id": "g-1", "message_id": "m-1"}, "g-1"),
        ({"id": 7, "message_id": "m-1"}, "m-1"),
        ({"id": " ", "message_id": "m-1"}, "m-1"),
        ({"remote_id": "r-1"}, None),
        ({"id": 7}, None),
    ],
)
def test_the_name_of_a_publication_is_a_text_of_one_of_two_names(told: object, remote_id: str | None) -> None:
    ack = from_gateway(200, told)
    assert isinstance(ack, Accepted)
    assert ack.remote_id == remote_id


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"message": "c", "error": "b", "reason": "a"}, "a"),
        ({"message": "c", "error": "b", "reason": ""}, "b"),
        ({"message": "c", "error": {"a": 1}}, "c"),
        (b"no such room", "no such room"),
        (b"x" * 501, "x" * 500),
    ],
)
def test_why_a_gateway_refused_is_its_reason_or_the_beginning_of_what_it_said(told: object, expected: str) -> None:
    ack = from_gateway(400, told)
    assert isinstance(ack, PermanentFailure)
    assert ack.error == f"answered HTTP 400: {expected}"


# --- receivers of submissions ---


@pytest.mark.case("delivery", 51)
def test_a_new_review_is_acceptance_under_its_number() -> None:
    told = {"data": {"status": "pending_review", "review_id": 7, "reused": False}}
    assert from_receiver(201, told) == Accepted(remote_id="7", remote_status="pending_review", http_status=201)


@pytest.mark.case("delivery", 52)
def test_a_reused_record_of_ours_is_a_replay() -> None:
    told = {"data": {"reused": True, "reuse_reason": "idempotent_replay", "message_id": 123}}
    assert from_receiver(200, told) == IdempotentReplay(remote_id="123", http_status=200)


@pytest.mark.case("delivery", 53)
@pytest.mark.parametrize("reason", ["duplicate_existing", "historical", "historical_duplicate", " Historical "])
@pytest.mark.parametrize("name", ["reuse_reason", "reuse_kind"])
def test_a_reused_record_that_was_there_before_names_its_key(reason: str, name: str) -> None:
    told = {"data": {"reused": True, name: reason, "matched_idempotency_key": "k-1", "review_id": "r"}}
    assert from_receiver(200, told) == DuplicateExisting(remote_id="r", matched_key="k-1", http_status=200)


@pytest.mark.parametrize("word", ["FAILED", "rejected", "invalid", " Expired "])
@pytest.mark.parametrize("reused", [True, False])
def test_a_record_that_ended_badly_is_no_publication_also_where_it_was_reused(word: str, reused: bool) -> None:
    ack = from_receiver(200, {"data": {"status": word, "reused": reused, "review_id": 1}})
    assert isinstance(ack, RemoteFailed)
    assert (ack.remote_status, ack.remote_id) == (word.strip().lower(), "1")


@pytest.mark.case("delivery", 55)
@pytest.mark.parametrize(
    "told", [b"thanks", b"", [], "failed", {"data": "failed"}, {"data": None}, {"status": "failed"}]
)
def test_an_answer_without_a_record_is_acceptance_by_its_status(told: object) -> None:
    assert from_receiver(200, told) == Accepted(http_status=200)


@pytest.mark.parametrize("reused", ["true", 1, None, False, "yes"])
def test_only_a_plain_true_is_a_reuse(reused: object) -> None:
    told = {"data": {"reused": reused, "reuse_reason": "duplicate_existing"}}
    assert isinstance(from_receiver(200, told), Accepted)


@pytest.mark.parametrize("told", [{"data": {"reused": True}}, {"data": {"reused": True, "reuse_reason": "anything"}}])
def test_a_reuse_for_any_other_reason_is_a_replay(told: object) -> None:
    assert isinstance(from_receiver(200, told), IdempotentReplay)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_receiver_that_is_busy_or_broken_is_tried_again(status: int) -> None:
    told = {"data": {"status": "failed", "reused": True}}
    assert isinstance(from_receiver(status, told), RetryableFailure)


@pytest.mark.case("delivery", 35)
def test_a_request_that_the_receiver_found_too_slow_is_a_timeout_and_tried_again() -> None:
    ack = from_receiver(408)
    assert isinstance(ack, RetryableFailure)
    assert error_class(ack) is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.parametrize("status", [100, 301, 304, 400, 401, 404, 409, 413, 422])
def test_any_other_status_is_final_and_quotes_the_receiver(status: int) -> None:
    ack = from_receiver(status, b"no " * 200)
    assert isinstance(ack, PermanentFailure)
    assert ack.error.startswith(f"answered HTTP {status}: no no")
    assert len(ack.error) <= 20 + 200


def test_a_receiver_may_keep_its_record_elsewhere_under_other_names() -> None:
    names = AckFields(
        data_path="result.review", id_field="n", status_field="s", reused_field="r", reason_field="w", key_field="k"
    )
    told: dict[str, Any] = {"n": 5, "s": "open", "r": True, "w": "historical", "k": "k-1", "status": "failed"}
    expected = DuplicateExisting(remote_id="5", remote_status="open", matched_key="k-1", http_status=200)
    assert from_receiver(200, {"result": {"review": told}}, names) == expected
    assert from_receiver(200, {"result": "no"}, names) == Accepted(http_status=200)
    assert from_receiver(200, {"data": told}, names) == Accepted(http_status=200)


def test_a_record_may_be_the_whole_answer() -> None:
    ack = from_receiver(200, {"review_id": "r"}, AckFields(data_path=""))
    assert ack == Accepted(remote_id="r", http_status=200)


@pytest.mark.parametrize(
    ("told", "remote_id"),
    [
        ({"review_id": 7}, "7"),
        ({"review_id": " r "}, "r"),
        ({"review_id": "  ", "message_id": 9}, "9"),
        ({"review_id": True, "message_id": "m"}, "m"),
        ({"review_id": {"a": 1}}, None),
        ({"review_id": 0}, "0"),
    ],
)
def test_the_number_of_a_review_is_text(told: object, remote_id: str | None) -> None:
    ack = from_receiver(200, {"data": told})
    assert isinstance(ack, Accepted)
    assert ack.remote_id == remote_id


def test_what_a_receiver_published_instead_reaches_the_audit() -> None:
    told = {"data": {"media_fallback": True, "media_fallback_reason": "too tall " * 100, "more": {"a": [1]}}}
    event = media_fallback(from_receiver(201, told))
    assert event is not None
    assert str((event.detail or {})["reason"]).startswith("too tall")


# --- when to come back ---


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("90", 90_000),
        (" 5 ", 5_000),
        ("0", 0),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60_000),
        ("Fri, 15 Jan 2027 08:01:00 -0000", 60_000),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
        ("9" * 400, 604_800_000),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("٣", None),
        ("Fri, 99 Jan 99999 08:01:00 GMT", None),
    ],
)
def test_a_wish_to_be_asked_later_is_read_as_seconds_or_as_a_date(wish: str, expected: int | None) -> None:
    assert retry_after_ms(an_answer(429, retry_after=wish), NOW) == expected


@pytest.mark.parametrize("status", [429, 503])
def test_the_wish_reaches_the_retry(status: int) -> None:
    for ack in (from_gateway(status, retry_after="90"), from_receiver(status, retry_after="90")):
        assert isinstance(ack, RetryableFailure)
        assert ack.retry_after_ms == 90_000
