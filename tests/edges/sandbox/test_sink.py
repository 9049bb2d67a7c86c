"""The receiver: what it takes, what it refuses, and what it remembers of both."""

import hashlib
import hmac
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pixivflow.sandbox.clock import MANUAL_START
from pixivflow.sandbox.message import Reply
from tests.fixtures.sandboxes import MANUAL, Asker

NOW_S = MANUAL_START // 1_000
SECRET = "whispered"


def hook(key: str = "k1", **changed: Any) -> tuple[str, bytes, dict[str, str]]:
    document = {"schemaVersion": 1, "idempotencyKey": key, "work": {"id": "1"}, **changed}
    return "/sink/webhook", msgspec.json.encode(document), {"x-idempotency-key": key}


def parts(key: str = "k1", boundary: str = "b1", file: bytes = b"bytes", caption: str = "c") -> bytes:
    return "\r\n".join(
        (
            f"--{boundary}",
            'Content-Disposition: form-data; name="files"; filename="1.jpg"',
            "Content-Type: application/octet-stream",
            "",
            file.decode("latin-1"),
            f"--{boundary}",
            'Content-Disposition: form-data; name="caption"',
            "",
            caption,
            f"--{boundary}",
            'Content-Disposition: form-data; name="idempotency_key"',
            "",
            key,
            f"--{boundary}--",
            "",
        )
    ).encode("latin-1")


def submission(key: str = "k1", boundary: str = "b1", **changed: Any) -> tuple[str, bytes, dict[str, str]]:
    body = parts(key, boundary, **changed)
    kind = f"multipart/form-data; boundary={boundary}"
    return "/sink/submissions", body, {"content-type": kind, "content-length": str(len(body))}


def notification(key: str = "k1") -> tuple[str, bytes, dict[str, str]]:
    return "/sink/notifications", msgspec.json.encode({"text": "hello", "idempotency_key": key}), {}


def event(key: str = "k1") -> tuple[str, bytes, dict[str, str]]:
    return "/sink/events", msgspec.json.encode({"event_id": key}), {"x-idempotency-key": f"evt-{key}"}


def post(ask: Asker, what: tuple[str, bytes, dict[str, str]], **facts: bool) -> Reply:
    path, body, headers = what
    return ask("POST", path, body, headers, **facts)


def receipts(ask: Asker, query: str = "") -> Any:
    reply = ask("GET", f"/sink/receipts{query}")
    assert reply.status == 200
    return msgspec.json.decode(reply.body)


ROUTES = [
    pytest.param(hook, (200, 200), id="webhook"),
    pytest.param(submission, (201, 200), id="submissions"),
    pytest.param(notification, (200, 200), id="notifications"),
    pytest.param(event, (204, 409), id="events"),
]


@pytest.mark.case("sandbox", 18)
@pytest.mark.parametrize(("make", "statuses"), ROUTES)
def test_a_key_that_comes_twice_has_one_effect_and_two_arrivals(
    ask: Asker, make: Callable[..., tuple[str, bytes, dict[str, str]]], statuses: tuple[int, int]
) -> None:
    assert (post(ask, make()).status, post(ask, make()).status) == statuses
    post(ask, make("k2"))
    told = receipts(ask)
    first, second = told["receipts"]
    assert told["effects"] == 2
    assert (first["effect_id"], second["effect_id"]) == ("e-1", "e-2")
    assert (first["arrivals"], second["arrivals"]) == (2, 1)
    assert [body["count"] for body in first["bodies"]] == [2]
    assert sum(first["statuses"].values()) == 2


def test_the_answers_say_whether_a_key_was_known(ask: Asker) -> None:
    first, again = (msgspec.json.decode(post(ask, hook()).body) for _ in range(2))
    assert first == {"status": "accepted", "id": "e-1"}
    assert again == {"status": "duplicate", "id": "e-1"}
    fresh, reused = (msgspec.json.decode(post(ask, submission()).body)["data"] for _ in range(2))
    assert fresh == {"status": "pending_review", "review_id": 2, "reused": False}
    assert (reused["reused"], reused["reuse_reason"], reused["matched_idempotency_key"]) == (
        True,
        "idempotent_replay",
        "k1",
    )


def test_one_key_on_two_routes_is_two_effects(ask: Asker) -> None:
    for make in (hook, submission, notification, event):
        post(ask, make())
    assert {each["kind"] for each in receipts(ask)["receipts"]} == {"webhook", "submissions", "notifications", "events"}
    assert [each["kind"] for each in receipts(ask, "?kind=webhook&key=k1")["receipts"]] == ["webhook"]
    assert receipts(ask, "?key=other")["receipts"] == []


def test_a_receipt_tells_when_and_with_what(ask: Asker) -> None:
    path, body, headers = hook()
    ask("POST", path, body, headers)
    ask.tell("/clock", {"advance_ms": 5_000})
    ask("POST", path, body + b" ", headers)
    (receipt,) = receipts(ask)["receipts"]
    assert (receipt["first_ms"], receipt["last_ms"]) == (MANUAL_START, MANUAL_START + 5_000)
    digests = [hashlib.sha256(each).hexdigest() for each in (body, body + b" ")]
    assert receipt["bodies"] == [{"sha256": digest, "count": 1} for digest in digests]
    assert receipt["statuses"] == {"200": 2}


@pytest.mark.case("sandbox", 20)
def test_equal_parts_are_one_body_whatever_stands_between_them(ask: Asker) -> None:
    post(ask, submission(boundary="one"))
    post(ask, submission(boundary="another"))
    (receipt,) = receipts(ask)["receipts"]
    assert [body["count"] for body in receipt["bodies"]] == [2]
    post(ask, submission(boundary="one", file=b"bytez"))
    post(ask, bodied(submission(), parts().replace(b"1.jpg", b"2.jpg")))
    (receipt,) = receipts(ask)["receipts"]
    assert [body["count"] for body in receipt["bodies"]] == [2, 1, 1]


@pytest.mark.parametrize("name", ["request_id", "slot_id"])
def test_a_notice_without_a_key_of_its_own_is_known_by_what_it_is_about(ask: Asker, name: str) -> None:
    body = msgspec.json.encode({name: "s-1", "slot_id": "s-1", "text": "x"})
    ask("POST", "/sink/notifications", body)
    assert [each["key"] for each in receipts(ask)["receipts"]] == ["s-1"]


# --- what is refused ---


def without(what: tuple[str, bytes, dict[str, str]], *names: str) -> tuple[str, bytes, dict[str, str]]:
    path, body, headers = what
    return path, body, {name: value for name, value in headers.items() if name not in names}


def bodied(what: tuple[str, bytes, dict[str, str]], body: bytes) -> tuple[str, bytes, dict[str, str]]:
    return what[0], body, what[2]


@pytest.mark.parametrize(
    ("what", "status"),
    [
        pytest.param(bodied(hook(), b"{"), 400, id="a document that is no JSON"),
        pytest.param(bodied(hook(), b"[" * 100_000), 400, id="a document without an end"),
        pytest.param(bodied(hook(), b"[1]"), 400, id="a document that is no object"),
        pytest.param(hook(schemaVersion=2), 400, id="another schema"),
        pytest.param(hook(schemaVersion=True), 400, id="a schema that only equals one"),
        pytest.param(hook(idempotencyKey="k2"), 400, id="two keys that differ"),
        pytest.param(without(submission(), "content-length"), 411, id="parts without a length"),
        pytest.param(without(submission(), "content-type"), 400, id="parts without a type"),
        pytest.param(bodied(submission(), parts()[:-4]), 400, id="parts without an end"),
        pytest.param(bodied(submission(), b"x" + parts()), 400, id="something before the parts"),
        pytest.param(bodied(submission(), parts().replace(b'; filename="1.jpg"', b"")), 400, id="no file"),
        pytest.param(bodied(submission(), parts().replace(b'name="caption"', b"")), 400, id="a part without a name"),
        pytest.param(bodied(notification(), b"3"), 400, id="a notice that is no object"),
        pytest.param(bodied(event(), b'{"event_id":"k2"}'), 400, id="a key that does not end in the event"),
        pytest.param(bodied(event(), b"{}"), 400, id="an event without an id"),
    ],
)
def test_a_request_that_breaks_the_contract_is_refused_and_is_no_arrival(
    ask: Asker, what: tuple[str, bytes, dict[str, str]], status: int
) -> None:
    assert post(ask, what).status == status
    told = receipts(ask)
    assert (told["receipts"], told["effects"], told["keyless"]) == ([], 0, 0)


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(without(hook(), "x-idempotency-key"), id="a webhook"),
        pytest.param(bodied(submission(), parts().replace(b'name="idempotency_key"', b'name="key"')), id="parts"),
        pytest.param(bodied(notification(), b'{"text":"x"}'), id="a notice"),
        pytest.param(without(event(), "x-idempotency-key"), id="an event"),
    ],
)
def test_a_request_without_a_key_is_refused_and_counted(ask: Asker, what: tuple[str, bytes, dict[str, str]]) -> None:
    assert post(ask, what).status == 400
    assert (receipts(ask)["keyless"], receipts(ask)["receipts"]) == (1, [])


@pytest.mark.parametrize("make", [hook, submission, notification, event])
@pytest.mark.parametrize(("fact", "status"), [({"is_whole": False}, 400), ({"is_oversized": True}, 413)])
def test_what_came_in_part_or_too_large_is_no_arrival(
    ask: Asker, make: Callable[[], tuple[str, bytes, dict[str, str]]], fact: dict[str, bool], status: int
) -> None:
    assert post(ask, make(), **fact).status == status
    assert receipts(ask)["receipts"] == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_only_a_post_is_an_arrival(ask: Asker, method: str) -> None:
    path, body, headers = hook()
    assert ask(method, path, body, headers).status == 405
    assert receipts(ask)["receipts"] == []


@pytest.mark.parametrize(("method", "path"), [("POST", "/sink/other"), ("GET", "/sink/webhook"), ("GET", "/sink")])
def test_the_sink_has_no_other_routes(ask: Asker, method: str, path: str) -> None:
    assert ask(method, path).status == 404


def test_the_sink_says_that_it_is_ready(ask: Asker) -> None:
    assert ask("GET", "/sink/ready").status == 200


# --- signatures ---


def signed(stamp: object, secret: str = SECRET) -> tuple[str, bytes, dict[str, str]]:
    path, body, headers = hook()
    digest = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    both = {"x-webhook-timestamp": str(stamp), "x-webhook-signature": f"sha256={digest}"}
    return path, body, {**headers, **both}


@pytest.mark.case("sandbox", 19)
def test_a_signature_must_be_right_and_young(ask: Asker) -> None:
    ask.tell("/options", {"sink": {"secret": SECRET}})
    statuses = [post(ask, what).status for what in (signed(NOW_S, "shouted"), signed(NOW_S - 301), signed(NOW_S - 299))]
    assert statuses == [401, 401, 200]
    told = receipts(ask)
    assert [each["arrivals"] for each in told["receipts"]] == [1]
    assert (told["bad_signature"], told["stale"]) == (1, 1)


@pytest.mark.parametrize(
    ("what", "status"),
    [
        pytest.param(hook(), 401, id="no signature"),
        pytest.param(bodied(signed(NOW_S), hook()[1] + b" "), 401, id="another body than was signed"),
        pytest.param(signed(NOW_S + 299), 200, id="a clock that is ahead"),
        pytest.param(signed(NOW_S + 301), 401, id="a clock that is too far ahead"),
        pytest.param(signed("now"), 401, id="a stamp that is no number"),
        pytest.param(signed("-5"), 401, id="a stamp below zero"),
    ],
)
def test_what_is_signed_is_the_stamp_and_the_very_bytes(
    ask: Asker, what: tuple[str, bytes, dict[str, str]], status: int
) -> None:
    ask.tell("/options", {"sink": {"secret": SECRET}})
    assert post(ask, what).status == status


def test_a_secret_can_be_given_at_the_start_and_taken_away_later() -> None:
    ask = Asker(msgspec.structs.replace(MANUAL, sink_secret=SECRET))
    assert post(ask, hook()).status == 401
    assert post(ask, submission()).status == 201
    ask.tell("/options", {"sink": {"secret": None}})
    assert post(ask, hook()).status == 200


# --- answers ---


@pytest.mark.parametrize(
    ("shape", "status", "document"),
    [
        ("weird", 200, {"status": "weird"}),
        ("failed_200", 200, {"status": "rejected", "reason": "refused by the sandbox"}),
        ("duplicate", 200, {"status": "duplicate_existing"}),
        ("duplicate_other", 200, {"status": "duplicate_existing", "matched_idempotency_key": "somebody-elses-key"}),
        ("conflict", 409, {"error": "conflict"}),
        ("fallback", 200, {"status": "accepted", "id": "e-1"}),
    ],
)
def test_a_webhook_is_answered_in_the_ordered_shape(
    ask: Asker, shape: str, status: int, document: dict[str, str]
) -> None:
    ask.tell("/options", {"sink": {"webhook": shape}})
    reply = post(ask, hook())
    assert (reply.status, msgspec.json.decode(reply.body)) == (status, document)
    assert receipts(ask)["receipts"][0]["statuses"] == {str(status): 1}
    assert post(ask, submission()).status == 201


@pytest.mark.parametrize(
    ("shape", "status", "holds"),
    [
        ("failed_200", 200, {"status": "FAILED", "review_id": 1, "reused": True}),
        ("duplicate", 200, {"reused": True, "reuse_reason": "duplicate_existing"}),
        ("duplicate_other", 200, {"reused": True, "matched_idempotency_key": "somebody-elses-key"}),
        ("fallback", 201, {"reused": False, "media_fallback": True}),
        ("queued", 201, {"status": "pending_review"}),
    ],
)
def test_a_submission_is_answered_in_the_ordered_shape(
    ask: Asker, shape: str, status: int, holds: dict[str, Any]
) -> None:
    ask.tell("/options", {"sink": {"submissions": shape}})
    reply = post(ask, submission())
    data = msgspec.json.decode(reply.body)["data"]
    assert reply.status == status
    assert holds.items() <= data.items()
    assert ("matched_idempotency_key" in data) == (shape == "duplicate_other")
    assert ("media_fallback_reason" in data) == (shape == "fallback")


@pytest.mark.parametrize("make", [hook, submission])
def test_nothing_at_all_can_be_an_answer(ask: Asker, make: Callable[[], tuple[str, bytes, dict[str, str]]]) -> None:
    ask.tell("/options", {"sink": {"webhook": "empty", "submissions": "empty"}})
    reply = post(ask, make())
    assert (reply.status, reply.body) == (204, b"")


def test_a_submission_can_be_thanked_for_in_words(ask: Asker) -> None:
    ask.tell("/options", {"sink": {"submissions": "weird"}})
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(post(ask, submission()).body)


def test_a_queued_delivery_is_published_after_so_many_arrivals(ask: Asker) -> None:
    ask.tell("/options", {"sink": {"webhook": {"shape": "queued", "n": 2}}})
    replies = [post(ask, hook()) for _ in range(3)]
    assert [reply.status for reply in replies] == [202, 202, 200]
    assert [msgspec.json.decode(reply.body)["status"] for reply in replies] == ["queued", "queued", "published"]
    ask.tell("/options", {"sink": {"webhook": "queued"}})
    assert [post(ask, hook("k2")).status for _ in range(4)] == [202, 202, 202, 200]


def test_a_shape_can_be_ordered_for_some_arrivals_only(ask: Asker) -> None:
    ask.tell("/faults", [{"fault": "answer", "args": {"shape": "conflict"}, "match": {"kind": "sink"}, "count": 2}])
    assert [post(ask, hook(key)).status for key in ("a", "b", "c")] == [409, 409, 200]
    assert receipts(ask)["effects"] == 3


# --- faults ---


SINK = {"kind": "sink"}


@pytest.mark.parametrize(
    ("fault", "args", "word"),
    [
        ("status", {"code": 503}, "503"),
        ("rate_429", {}, "429"),
        ("redirect", {"to": "/"}, "302"),
        ("html", {}, "200"),
        ("empty", {}, "200"),
        ("bad_json", {}, "200"),
        ("reset", {}, "dropped"),
        ("stall", {"after_bytes": 3}, "dropped"),
        ("truncate", {"after_bytes": 3}, "dropped"),
        ("refuse", {"ms": 1}, "dropped"),
    ],
)
def test_a_lost_request_and_a_lost_answer_look_alike_to_who_sends_and_not_to_who_reads_the_receipts(
    ask: Asker, fault: str, args: dict[str, Any], word: str
) -> None:
    exchanges = []
    for when in ("before", "after"):
        ask.tell("/faults", [{"fault": fault, "args": args, "match": SINK, "count": 1, "when": when}])
        exchanges.append(ask.exchange("POST", *hook()))
    before, after = exchanges
    assert (before.reply.status, before.wire) == (after.reply.status, after.wire)
    (receipt,) = receipts(ask)["receipts"]
    assert (receipt["arrivals"], receipt["statuses"]) == (1, {word: 1})


@pytest.mark.parametrize(
    "fault", [{"fault": "latency", "args": {"ms": 1}}, {"fault": "slow_body", "args": {"bytes_per_s": 9}}]
)
def test_what_only_takes_longer_is_an_arrival(ask: Asker, fault: dict[str, Any]) -> None:
    ask.tell("/faults", [{**fault, "match": SINK}])
    assert post(ask, hook()).status == 200
    assert receipts(ask)["receipts"][0]["statuses"] == {"200": 1}


@pytest.mark.parametrize("make", [hook, submission, notification])
def test_one_key_can_be_singled_out(ask: Asker, make: Callable[..., tuple[str, bytes, dict[str, str]]]) -> None:
    ask.tell("/faults", [{"fault": "status", "args": {"code": 503}, "match": {"kind": "sink", "key": "k1"}}])
    assert post(ask, make("k2")).status < 300
    assert post(ask, make("k1")).status == 503


def test_to_read_the_receipts_is_neither_traffic_nor_met_by_a_fault(ask: Asker) -> None:
    ask.tell("/faults", [{"fault": "status", "args": {"code": 503}, "match": SINK, "count": 1}])
    assert receipts(ask)["effects"] == 0
    assert ask.tell("/requests?kind=sink", method="GET")["requests"] == []
    assert post(ask, hook()).status == 503


def test_deliveries_stand_among_the_requests_too(ask: Asker) -> None:
    post(ask, hook())
    (record,) = ask.tell("/requests?kind=sink", method="GET")["requests"]
    assert (record["path"], record["status"], record["headers"]["x-idempotency-key"]) == ("/sink/webhook", 200, "k1")
