"""What an answer says, however oddly it says it, and what says nothing that anybody could rely on."""

import json
from typing import Any

import pytest

from pixivflow.config.model import AckFields
from pixivflow.delivery.ack import leaves_answer_unknown
from pixivflow.delivery.model import Accepted, Ack, PermanentFailure, RemoteFailed, RetryableFailure
from pixivflow.providers.exchange import Answer
from pixivflow.providers.hearing import DEPTH, heard
from pixivflow.providers.multipart_ack import multipart_ack
from pixivflow.providers.webhook_ack import webhook_ack
from tests.fixtures.deliveries import NOW

JSON = "application/json; charset=utf-8"
DEEP = b"[" * (DEPTH + 1) + b"]" * (DEPTH + 1)


def an_answer(body: bytes, status: int = 200, kind: str = "", *, is_whole: bool = True) -> Answer:
    return Answer(status=status, headers={"content-type": kind} if kind else {}, body=body, is_whole=is_whole)


def acks(body: bytes, status: int = 200, kind: str = "", **more: Any) -> tuple[Ack, Ack]:
    """What a gateway's answer means, and a receiver's that keeps its record as the whole answer."""
    said = heard(an_answer(body, status, kind, **more))
    return webhook_ack(said, NOW), multipart_ack(said, AckFields(data_path=""), NOW)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"why": "café"}'.encode("latin-1"), {"why": "caf\ufffd"}),
        ('{"why": "café"}'.encode(), {"why": "café"}),
        ("\ufeff{}".encode(), {}),
        ('{"why": "é"}'.encode("utf-16"), {"why": "é"}),
        (b'{"a": "\\ud83d!"}', {"a": "\ufffd!"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b'{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        (b'{"a": 1e999, "b": NaN, "c": -Infinity, "d": 1.5}', {"a": None, "b": None, "c": None, "d": 1.5}),
        (b'{"a": ' + b"9" * 5_000 + b', "b": -7}', {"a": None, "b": -7}),
        (b'{"data": {"review_id": 7, "reused": false}}', {"data": {"review_id": 7, "reused": False}}),
        (b"<html>", None),
        (b"", None),
        (b"\xff\xfe\xfd", None),
    ],
    ids=[
        *("latin-1", "utf-8", "marked", "utf-16", "half", "whole", "line break", "no numbers", "digits", "plain"),
        *("html", "empty", "noise"),
    ],
)
def test_json_is_read_whatever_is_odd_in_it(body: bytes, expected: object) -> None:
    said = heard(an_answer(body))
    assert said.told == expected
    assert not said.is_unclear


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(rb'"error": "no \ud83d"', id="half a surrogate"),
        pytest.param(b'"error": 1e400', id="a number beyond all numbers"),
        pytest.param(b'"error": NaN', id="no number"),
        pytest.param(b'"error": ' + b"9" * 5_000, id="five thousand digits"),
        pytest.param(b'"error": "\xff"', id="bytes that are no text"),
        pytest.param(b'"error": "\x01"', id="a control character"),
    ],
)
def test_a_receiver_that_rejects_is_understood_whatever_else_it_says(odd: bytes) -> None:
    for ack in acks(b'{"status": "rejected", ' + odd + b"}"):
        assert isinstance(ack, RemoteFailed)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b'{"status": "rejected",}', "", id="a comma too many"),
        pytest.param(b'{"status": "rejected"} {}', "", id="two documents"),
        pytest.param(b'{"status": "reject', "", id="a text without an end"),
        pytest.param(b'{"status": "rejected", "a": ' + DEEP + b"}", "", id="too deep"),
        pytest.param(b"[" * 500_000, "", id="nothing but depth"),
        pytest.param(b"rejected", JSON, id="a word that claims to be JSON"),
        pytest.param(b"rejected", "application/problem+json", id="a word that claims to be another JSON"),
    ],
)
@pytest.mark.parametrize("status", [200, 202, 409])
def test_json_that_nobody_can_read_is_no_verdict_and_may_have_been_any(body: bytes, kind: str, status: int) -> None:
    for ack in acks(body, status, kind):
        assert isinstance(ack, RetryableFailure)
        assert leaves_answer_unknown(ack)
        assert "cannot be read" in ack.error


@pytest.mark.parametrize("body", [b"rejected", b"<html>", b""])
@pytest.mark.parametrize("kind", ["", "text/plain", "text/html; charset=json"])
def test_what_never_claimed_to_be_json_is_judged_by_its_status(body: bytes, kind: str) -> None:
    assert all(isinstance(ack, Accepted) for ack in acks(body, 200, kind))


def test_nothing_at_all_is_no_verdict_against_the_status_whatever_it_claims_to_be() -> None:
    assert all(isinstance(ack, Accepted) for ack in acks(b"", 200, JSON))


def test_json_of_which_only_a_part_was_read_is_no_verdict() -> None:
    assert all(isinstance(ack, RetryableFailure) for ack in acks(b"", 200, JSON, is_whole=False))
    assert all(isinstance(ack, Accepted) for ack in acks(b"", 200, "text/html", is_whole=False))


def test_a_refusal_by_its_status_needs_no_word() -> None:
    assert all(isinstance(ack, PermanentFailure) for ack in acks(b'{"status": ', 400))
    assert all(isinstance(ack, RetryableFailure) for ack in acks(b'{"status": ', 500))


def test_text_without_an_end_is_read_once_and_not_once_a_quote() -> None:
    said = heard(an_answer(b'{"' + rb"\"" * 400_000))
    assert said.is_unclear


def test_what_is_told_can_be_written_down() -> None:
    said = heard(an_answer(rb'{"a": ["\udfff", {"b": "\ud800"}]}'))
    assert json.dumps(said.told, ensure_ascii=False).encode()
