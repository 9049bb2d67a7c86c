"""Every fault as a client meets it on a socket: so often as it was said to come, and then the right answer again."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import trio

from pixivflow.sandbox import faults
from pixivflow.sandbox.serve import Sandbox
from pixivflow.sandbox.spoil import PAGE
from tests.edges.sandbox.wire import Heard, heard, logged_in, told
from tests.fixtures.sandboxes import PIXIV

SEARCH = "/app/v1/search/illust?word=%E7%8C%AB"
CALL = "/app/v1/illust/detail?illust_id=100001"
PROFILE = "/img/user-profile/5001_170.jpg"
HOOK = "/sink/webhook"
Sign = Callable[[Heard, Heard], bool]
"""Whether the first answer shows the fault, the second being the right one."""


def told_json(answer: Heard) -> Any:
    return msgspec.json.decode(answer.body)


def message(answer: Heard) -> str:
    return str(told_json(answer)["error"]["message"])


def cut(size: int, ended: str) -> Sign:
    return lambda bad, good: (bad.status, bad.body, bad.ended) == (200, good.body[:size], ended)


def following(bad: Heard) -> str:
    return str(told_json(bad)["next_url"])


SIGNS: list[tuple[str, dict[str, Any], str, Sign]] = [
    ("status", {"code": 418, "body": "tea", "headers": {"X-Pot": "1"}}, CALL, lambda bad, _: (
        (bad.status, bad.body, bad.headers["x-pot"]) == (418, b"tea", "1"))),
    ("rate_403", {}, CALL, lambda bad, _: (bad.status, message(bad)) == (403, "Rate Limit")),
    ("rate_429", {"retry_after": 3}, CALL, lambda bad, _: (bad.status, bad.headers["retry-after"]) == (429, "3")),
    ("burst", {"limit": 1, "window_ms": 10**9, "status": 403}, CALL, lambda bad, _: bad.status == 403),
    ("oauth_400", {}, CALL, lambda bad, _: bad.status == 400 and message(bad).endswith("invalid_grant")),
    ("latency", {"ms": 40}, CALL, lambda bad, good: bad == good),
    ("slow_body", {"bytes_per_s": 20_000}, CALL, lambda bad, good: bad == good),
    ("stall", {"after_bytes": 100}, PROFILE, cut(100, "stalled")),
    ("stall", {}, PROFILE, lambda bad, _: bad == Heard(ended="stalled")),
    ("truncate", {"after_bytes": 100}, PROFILE, cut(100, "closed")),
    ("truncate", {"after_bytes": 100, "honest_length": True}, PROFILE, cut(100, "open")),
    ("wrong_length", {"delta": 5}, PROFILE, lambda bad, good: (
        int(bad.headers["content-length"]) == len(good.body) + 5 and bad.ended == "closed")),
    ("wrong_length", {"delta": -5}, PROFILE, lambda bad, good: (
        int(bad.headers["content-length"]) == len(good.body) - 5 and bad.body == good.body)),
    ("empty", {}, PROFILE, lambda bad, _: (bad.status, bad.body) == (200, b"")),
    ("html", {}, CALL, lambda bad, _: (bad.body, bad.headers["content-type"][:9]) == (PAGE, "text/html")),
    ("html", {"as_image": True}, PROFILE, lambda bad, _: (
        (bad.body, bad.headers["content-type"]) == (PAGE, "image/jpeg"))),
    ("bad_magic", {}, PROFILE, lambda bad, good: (
        len(bad.body) == len(good.body) and bad.body[:1] != good.body[:1])),
    ("wrong_format", {"format": "png"}, PROFILE, lambda bad, good: (
        bad.body[:4] == b"\x89PNG" and bad.headers["content-type"] == "image/jpeg")),
    ("reset", {}, PROFILE, lambda bad, _: bad == Heard(ended="reset")),
    ("reset", {"after_bytes": 100}, PROFILE, cut(100, "reset")),
    ("etag_change", {}, PROFILE, lambda bad, good: bad.headers["etag"] != good.headers["etag"]),
    ("no_range", {}, PROFILE, lambda bad, good: "accept-ranges" in good.headers and "accept-ranges" not in bad.headers),
    ("redirect", {"to": "http://127.0.0.1:1/x"}, CALL, lambda bad, _: (
        (bad.status, bad.headers["location"]) == (302, "http://127.0.0.1:1/x"))),
    ("error_200", {"message": "no"}, CALL, lambda bad, _: (bad.status, message(bad)) == (200, "no")),
    ("stuck_cursor", {}, SEARCH + "&offset=30", lambda bad, _: following(bad).endswith("&offset=30")),
    ("cursor_cycle", {}, SEARCH + "&offset=30", lambda bad, _: following(bad).endswith("&offset=0")),
    ("foreign_cursor", {}, SEARCH, lambda bad, good: (
        following(bad) == following(good).replace("127.0.0.1", "localhost"))),
    ("empty_page", {}, SEARCH, lambda bad, good: (
        told_json(bad)["illusts"] == [] and following(bad) == following(good))),
    ("drop_fields", {"fields": ["tags", "next_url"]}, SEARCH, lambda bad, good: (
        b'"tags"' in good.body and b'"tags"' not in bad.body and "next_url" not in told_json(bad))),
    ("vanish", {"work": 100_001}, CALL, lambda bad, _: bad.status == 404),
    ("bad_json", {}, CALL, lambda bad, good: bad.body == good.body[: len(good.body) // 2]),
    ("answer", {"shape": "conflict"}, HOOK, lambda bad, _: bad.status == 409),
]  # fmt: skip
DEEDS = {"expire_tokens", "revoke_refresh", "refuse"}
"""Faults that are met once, whatever comes after: they have tests of their own."""


def test_there_is_a_sign_for_every_fault() -> None:
    names = {each.__struct_config__.tag for each in faults.Fault.__args__}
    assert {name for name, *_ in SIGNS} | DEEDS == names


@pytest.mark.case("sandbox", 9)
@pytest.mark.parametrize(("name", "args", "target", "sign"), SIGNS)
async def test_a_fault_is_seen_as_often_as_it_was_ordered(
    sandbox: Sandbox, name: str, args: dict[str, Any], target: str, sign: Sign
) -> None:
    bearer = await logged_in(sandbox)

    async def once(stalls_at: int | None = None) -> Heard:
        if target == HOOK:
            body, headers = b'{"schemaVersion":1,"idempotencyKey":"k"}', {"x-idempotency-key": "k"}
            return await heard(sandbox.port, "POST", HOOK, body, headers)
        headers = PIXIV if target == PROFILE else bearer
        return await heard(sandbox.port, "GET", target, headers=headers, stalls_at=stalls_at)

    await once()  # a burst lets the first call pass, a delivery is answered otherwise the first time
    right = await once()
    await told(sandbox, "/faults", [{"fault": name, "args": args, "count": 2, "id": "it"}])
    if name == "burst":
        await once()
    answers = [await once(args.get("after_bytes", -1) if name == "stall" else None) for _ in range(2)]
    assert [sign(answer, right) for answer in answers] == [True, True]
    assert await once() == right
    rules = told_json(await heard(sandbox.port, "GET", "/_ctl/faults"))["rules"]
    assert rules[0]["hits"] == 2
    records = told_json(await heard(sandbox.port, "GET", "/_ctl/requests"))["requests"]
    assert [record["fault"] for record in records].count("it") == 2


@pytest.mark.case("sandbox", 9)
async def test_a_server_that_refuses_is_away_for_a_while_and_back_on_the_same_port(sandbox: Sandbox) -> None:
    idle = await trio.open_tcp_stream("127.0.0.1", sandbox.port)
    await told(sandbox, "/faults", [{"fault": "refuse", "args": {"ms": 300}, "count": 1}])
    assert (await heard(sandbox.port, "GET", PROFILE, headers=PIXIV)).ended == "reset"
    assert await idle.receive_some() == b""
    await idle.aclose()
    assert (await heard(sandbox.port, "GET", PROFILE, headers=PIXIV)).ended == "refused"
    with trio.fail_after(30):
        while (back := await heard(sandbox.port, "GET", PROFILE, headers=PIXIV)).ended == "refused":
            pass
    assert back.status == 200


@pytest.mark.case("sandbox", 9)
async def test_ended_tokens_and_revoked_ones_are_refused_on_the_wire_once_and_for_all(sandbox: Sandbox) -> None:
    bearer = await logged_in(sandbox)
    await told(sandbox, "/faults", [{"fault": "expire_tokens"}])
    assert (await heard(sandbox.port, "GET", CALL, headers=bearer)).status == 400
    assert (await heard(sandbox.port, "GET", CALL, headers=await logged_in(sandbox))).status == 200
    await told(sandbox, "/faults", [{"fault": "revoke_refresh", "args": {"token": "rt-valid"}}])
    with pytest.raises(KeyError):
        await logged_in(sandbox)


@pytest.mark.parametrize(("fault", "least"), [({"ms": 80}, 0.08), ({"ms": 30, "jitter_ms": 1}, 0.03)])
async def test_a_late_answer_is_no_earlier_than_said(sandbox: Sandbox, fault: dict[str, int], least: float) -> None:
    await told(sandbox, "/faults", [{"fault": "latency", "args": fault}])
    began = trio.current_time()
    await heard(sandbox.port, "GET", PROFILE, headers=PIXIV)
    assert trio.current_time() - began >= least


async def test_a_slow_body_takes_its_time(sandbox: Sandbox) -> None:
    await told(sandbox, "/faults", [{"fault": "slow_body", "args": {"bytes_per_s": 20_000}}])
    began = trio.current_time()
    answer = await heard(sandbox.port, "GET", PROFILE, headers=PIXIV)
    assert len(answer.body) == 4_000
    assert trio.current_time() - began >= 0.15


async def last_record(sandbox: Sandbox) -> Any:
    return told_json(await heard(sandbox.port, "GET", "/_ctl/requests?kind=img"))["requests"][-1]


async def test_who_leaves_a_stalled_answer_is_seen_leaving(sandbox: Sandbox) -> None:
    await told(sandbox, "/faults", [{"fault": "stall", "args": {"after_bytes": 10}}])
    await heard(sandbox.port, "GET", PROFILE, headers=PIXIV, stalls_at=10)
    with trio.fail_after(30):
        while (record := await last_record(sandbox))["outcome"] is None:
            pass
    assert (record["outcome"], record["status"], record["bytes"]) == ("left", 200, 10)


async def test_the_wrong_range_of_a_changed_picture_is_all_of_it(sandbox: Sandbox) -> None:
    whole = await heard(sandbox.port, "GET", PROFILE, headers=PIXIV)
    await told(sandbox, "/faults", [{"fault": "etag_change"}])
    asked = {**PIXIV, "range": "bytes=10-", "if-range": whole.headers["etag"]}
    changed = await heard(sandbox.port, "GET", PROFILE, headers=asked)
    assert (changed.status, changed.body) == (200, whole.body)


async def test_a_server_without_ranges_sends_everything(sandbox: Sandbox) -> None:
    await told(sandbox, "/faults", [{"fault": "no_range"}])
    answer = await heard(sandbox.port, "GET", PROFILE, headers={**PIXIV, "range": "bytes=10-"})
    assert (answer.status, len(answer.body)) == (200, 4_000)


@pytest.mark.case("sandbox", 21)
@pytest.mark.parametrize(("when", "arrivals"), [("before", 0), ("after", 1)])
async def test_a_reset_at_the_receiver_looks_the_same_whether_the_delivery_arrived_or_not(
    sandbox: Sandbox, when: str, arrivals: int
) -> None:
    await told(sandbox, "/faults", [{"fault": "reset", "match": {"kind": "sink"}, "when": when, "count": 1}])
    body, headers = b'{"schemaVersion":1,"idempotencyKey":"k"}', {"x-idempotency-key": "k"}
    assert await heard(sandbox.port, "POST", HOOK, body, headers) == Heard(ended="reset")
    found = told_json(await heard(sandbox.port, "GET", "/sink/receipts"))["receipts"]
    assert sum(each["arrivals"] for each in found) == arrivals
    assert [each["statuses"] for each in found] == [{"dropped": 1}] * arrivals
