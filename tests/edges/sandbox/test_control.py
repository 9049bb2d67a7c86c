"""What a test can change in a sandbox, and what it can read from it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from pixivflow.errors import ConfigError
from pixivflow.sandbox.control import ROUTES
from pixivflow.sandbox.message import request
from pixivflow.sandbox.serve import Sandbox
from tests.edges.sandbox.wire import Heard, heard, told
from tests.fixtures.sandboxes import FORM, MANUAL, PIXIV, Asker, client_time, form

DETAIL = "/v1/illust/detail"


def requests(ask: Asker, query: str = "") -> Any:
    return ask.tell(f"/requests{query}", method="GET")["requests"]


def stats(ask: Asker) -> Any:
    return ask.tell("/stats", method="GET")


def test_health_says_seed_and_time(ask: Asker) -> None:
    assert ask.tell("/health", method="GET") == {"ok": True, "seed": 1, "now": "2026-01-15T03:00:00.000Z"}


def look(ask: Asker) -> list[Any]:
    """What a visitor sees who logs in, looks around, delivers something and reads the books."""
    visits = [
        ("POST", "/oauth/auth/token", form(refresh_token="rt-rotating"), {**FORM, **client_time()}),
        ("GET", f"/app{DETAIL}?illust_id=100001", b"", {"authorization": "Bearer at-000001"}),
        ("GET", f"/app{DETAIL}?illust_id=999", b"", {"authorization": "Bearer at-000001"}),
        ("GET", "/app/v1/illust/ranking?mode=day", b"", {"authorization": "Bearer at-000001"}),
        ("POST", "/sink/webhook", b'{"schemaVersion":1,"idempotencyKey":"k"}', {"x-idempotency-key": "k"}),
    ]
    seen = [ask(*visit) for visit in visits]
    told = [ask.tell(path, method="GET") for path in ("/health", "/faults", "/options")]
    numbers = [(record["n"], record["path"]) for record in requests(ask)]
    return [*seen, *told, numbers, ask("GET", "/sink/receipts"), ask.service.state.gates.held]


@pytest.mark.case("sandbox", 11)
def test_a_reset_brings_everything_back_to_the_start(ask: Asker) -> None:
    before = look(ask)
    ask.tell("/works", {"works": [{"id": 100_001, "title": "changed"}, {"id": 999, "title": "new"}]})
    ask.tell("/rankings", {"mode": "day", "date": "2026-01-15", "ids": [999]})
    ask.tell("/options", {"premium": "off", "sink": {"webhook": "weird"}})
    ask.tell("/gate", {"route": "/v1/*", "action": "hold"})
    ask.tell("/faults", [{"fault": "latency", "args": {"ms": 1}}])
    ask.tell("/clock", {"advance_ms": 86_400_000})
    changed = look(ask)
    ask.tell("/reset")
    assert [one for one, other in zip(before, changed, strict=True) if one == other] == []
    assert look(ask) == before


# --- items put in by hand ---


def test_a_work_can_be_added_and_changed(ask: Asker) -> None:
    item = {"id": 999, "user_id": 77, "title": "new", "tags": ["new tag"], "page_count": 2, "image_bytes": 50_000}
    ask.tell("/works", {"works": [item], "novels": [], "tags": {"new tag": "translated"}})
    work = ask.data(DETAIL, illust_id=999)["illust"]
    assert work["create_date"] == "2026-01-15T12:00:00+09:00"
    assert work["tags"] == [{"name": "new tag", "translated_name": "translated"}]
    assert work["user"]["name"] == "author-77"
    assert [found["id"] for found in ask.data("/v1/search/illust", word="new tag")["illusts"]] == [999]
    assert len(ask.image(work["meta_pages"][1]["image_urls"]["original"]).body) == 50_000
    ask.tell("/works", {"works": [{"id": 999, "title": "newer"}], "users": [{"id": 77, "name": "somebody"}]})
    work = ask.data(DETAIL, illust_id=999)["illust"]
    assert (work["title"], work["page_count"], work["user"]["name"]) == ("newer", 2, "somebody")


def test_a_work_can_be_deleted_between_two_looks(ask: Asker) -> None:
    assert ask.call(DETAIL, illust_id=100_001).status == 200
    ask.tell("/works", {"works": [{"id": 100_001, "visibility": "deleted"}]})
    assert ask.call(DETAIL, illust_id=100_001).status == 404


@pytest.mark.parametrize(
    ("command", "value", "named"),
    [
        ("/works", {"works": [{"title": "x"}]}, "id"),
        ("/works", {"works": [{"id": 1, "colour": "red"}]}, "colour"),
        ("/works", {"works": [{"id": 1, "width": 0}]}, "width"),
        ("/works", {"works": [{"id": 1, "create_date": "yesterday"}]}, "yesterday"),
        ("/works", {"works": [{"id": 1, "create_date": "9999-12-31T23:59:59Z"}]}, "2100"),
        ("/works", {"rankings": {"hourly": {"2026-01-01": [1]}}}, "mode"),
        ("/works", {"pictures": []}, "pictures"),
        ("/works", {"novels": [{"id": 1}]}, "novels"),
        ("/rankings", {"mode": "hourly", "date": "2026-01-01", "ids": []}, "mode"),
        ("/rankings", {"mode": "day", "date": "today", "ids": []}, "date"),
        ("/clock", {"set": "soon"}, "soon"),
        ("/clock", {"advance_ms": 10**15}, "2100"),
        ("/options", {"colour": "red"}, "colour"),
        ("/options", {"auth_status": 402}, "auth_status"),
        ("/options", {"sink": {"webhook": "odd"}}, "odd"),
        ("/options", {"sink": 3}, "sink"),
        ("/options", [], "object"),
        ("/gate", {"route": "/x", "action": "open"}, "action"),
        ("/gate", {"route": "/x", "action": "release"}, "/x"),
        ("/expect", {"assert": [{"min": 1}]}, "route"),
        ("/expect", {}, "assert"),
    ],
)
def test_a_command_that_says_something_odd_is_refused_by_name(
    ask: Asker, command: str, value: object, named: str
) -> None:
    reply = ask("POST", f"/_ctl{command}", msgspec.json.encode(value))
    assert reply.status == 400
    assert named in msgspec.json.decode(reply.body)["error"]


@pytest.mark.parametrize(("method", "path"), sorted(route for route in ROUTES if route[0] == "POST"))
@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_command_that_is_no_json_is_refused(ask: Asker, method: str, path: str, body: bytes) -> None:
    if path != "/reset":
        assert ask(method, f"/_ctl{path}", body).status == 400


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nothing", 404), ("GET", "/reset", 405), ("PUT", "/faults", 405)]
)
def test_a_control_route_that_there_is_not_is_said_so(ask: Asker, method: str, path: str, status: int) -> None:
    assert ask(method, f"/_ctl{path}").status == status


def test_a_real_clock_cannot_be_moved() -> None:
    ask = Asker(msgspec.structs.replace(MANUAL, clock="real"))
    reply = ask("POST", "/_ctl/clock", b'{"advance_ms":1}')
    assert reply.status == 400
    assert "manual" in msgspec.json.decode(reply.body)["error"]


def test_the_clock_can_be_set_to_an_instant(ask: Asker) -> None:
    assert ask.tell("/clock", {"set": "2026-02-01T00:00:00Z"})["now"] == "2026-02-01T00:00:00.000Z"
    assert (
        ask.tell("/clock", {"set": "2026-02-01T00:00:00+09:00", "advance_ms": 1})["now"] == "2026-01-31T15:00:00.001Z"
    )


# --- a file of items ---


def test_a_fixture_is_there_from_the_start_and_after_a_reset(tmp_path: Path) -> None:
    path = tmp_path / "fixture.json"
    items = {"works": [{"id": 999, "title": "from a file"}], "rankings": {"day": {"2026-01-14": [999]}}}
    path.write_text(json.dumps(items))
    ask = Asker(msgspec.structs.replace(MANUAL, fixture=path))
    for _ in range(2):
        assert ask.data("/v1/illust/ranking", mode="day")["illusts"][0]["title"] == "from a file"
        ask.tell("/works", {"works": [{"id": 999, "title": "changed"}]})
        ask.tell("/reset")
        ask._bearer = {}


@pytest.mark.parametrize("text", ["", "[]", '{"works":[{"id":"x"}]}', "[" * 100_000, '{"works":[{"id":1,"width":-1}]}'])
def test_a_fixture_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "fixture.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"fixture\.json"):
        Asker(msgspec.structs.replace(MANUAL, fixture=path))


def test_a_fixture_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.json"):
        Asker(msgspec.structs.replace(MANUAL, fixture=tmp_path / "nowhere.json"))


def test_a_fixture_with_a_mode_that_there_is_not_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fixture.json"
    path.write_text('{"rankings":{"hourly":{"2026-01-01":[1]}}}')
    with pytest.raises(ConfigError, match="mode"):
        Asker(msgspec.structs.replace(MANUAL, fixture=path))


# --- what happened ---


def test_every_request_is_a_record_and_secrets_are_not(ask: Asker) -> None:
    ask.call(DETAIL, illust_id=100_001)
    ask.tell("/health", method="GET")
    token, detail = requests(ask)
    assert (token["kind"], token["method"], token["path"], token["status"]) == (
        "oauth",
        "POST",
        "/oauth/auth/token",
        200,
    )
    assert (detail["kind"], detail["route"], detail["query"]) == ("api", f"/app{DETAIL}", {"illust_id": "100001"})
    assert (detail["n"], detail["outcome"], detail["fault"], detail["bytes"] > 1_000) == (2, "answered", None, True)
    assert detail["ms"] == 0.5
    assert "at-000001" not in json.dumps(detail)
    assert detail["headers"]["authorization"].startswith("sha256:")


def test_records_can_be_asked_for_from_a_number_of_a_kind_and_of_a_route(ask: Asker) -> None:
    for work in (100_001, 100_002):
        ask.call(DETAIL, illust_id=work)
    ask("GET", "/img/user-profile/5001_170.jpg", headers=PIXIV)
    assert [record["n"] for record in requests(ask, "?since=2")] == [3, 4]
    assert [record["n"] for record in requests(ask, "?kind=img")] == [4]
    assert [record["n"] for record in requests(ask, f"?route={DETAIL}")] == [2, 3]
    assert [record["n"] for record in requests(ask, "?route=/img/*&since=1")] == [4]
    assert ask("GET", "/_ctl/requests?since=x").status == 400


def test_figures_are_kept_by_route(ask: Asker) -> None:
    for work in (100_001, 100_002, 1):
        ask.call(DETAIL, illust_id=work)
    for page in ("5001", "5002"):
        ask("GET", f"/img/user-profile/{page}_170.jpg", headers=PIXIV)
    ask("GET", "/web/ajax/illust/100001")
    ask("GET", "/web/ajax/illust/100002")
    routes = stats(ask)["routes"]
    assert set(routes) == {"/oauth/auth/token", f"/app{DETAIL}", "/img/user-profile/*", "/web/ajax/illust/*"}
    detail = routes[f"/app{DETAIL}"]
    assert (detail["count"], detail["statuses"], detail["max_concurrent"]) == (3, {"200": 2, "404": 1}, 1)
    assert (detail["p50_ms"], detail["p95_ms"], detail["p99_ms"], detail["min_gap_ms"]) == (0.5, 0.5, 0.5, 1.0)
    assert routes["/img/user-profile/*"]["bytes"] == 8_000
    assert stats(ask)["token_requests"] == 1


def test_who_asks_for_ever_new_addresses_cannot_fill_the_figures(ask: Asker) -> None:
    for at in range(700):
        ask("GET", f"/app/v1/none{at}")
    routes = stats(ask)["routes"]
    assert len(routes) <= 501
    assert sum(route["count"] for route in routes.values()) == 700


def test_an_expectation_is_met_or_says_by_how_much_not(ask: Asker) -> None:
    ask.call(DETAIL, illust_id=100_001)
    met = {"assert": [{"route": DETAIL, "min": 1, "max": 1}, {"route": "/img/*", "max": 0}, {"route": "/oauth/*"}]}
    assert ask.tell("/expect", met) == {"ok": True, "differences": []}
    unmet = {"assert": [{"route": DETAIL, "min": 2}, {"route": DETAIL, "max": 0}, {"route": DETAIL, "min": 1}]}
    reply = ask("POST", "/_ctl/expect", msgspec.json.encode(unmet))
    assert reply.status == 409
    differences = msgspec.json.decode(reply.body)["differences"]
    assert [(each["min"], each["max"], each["found"]) for each in differences] == [(2, None, 1), (0, 0, 1)]


def test_a_reset_in_the_middle_of_a_request_leaves_no_figures_behind(ask: Asker) -> None:
    asked = request("GET", "/img/user-profile/5001_170.jpg", PIXIV)
    place, record = ask.service.arrive(asked, 0.0)
    exchange = ask.service.answer(asked, place, record, 0.0)
    ask.tell("/reset")
    ask.service.leave(exchange, 0, 1.0, left=False)
    assert stats(ask)["routes"] == {}


# --- gates ---


async def test_a_held_request_waits_is_seen_and_goes_on_when_released(sandbox: Sandbox) -> None:
    await told(sandbox, "/gate", {"route": "/img/*", "action": "hold"})
    got: list[Heard] = []

    async def fetch() -> None:
        got.append(await heard(sandbox.port, "GET", "/img/user-profile/5001_170.jpg", headers=PIXIV))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fetch)
        with trio.fail_after(30):
            while not (seen := await img_requests(sandbox)):
                pass
        assert (seen[0]["status"], seen[0]["outcome"], got) == (None, None, [])
        assert (await heard(sandbox.port, "GET", "/sink/ready")).status == 200
        await told(sandbox, "/gate", {"route": "/img/*", "action": "release"})
    assert got[0].status == 200
    assert (await img_requests(sandbox))[0]["outcome"] == "answered"


async def img_requests(sandbox: Sandbox) -> Any:
    answer = await heard(sandbox.port, "GET", "/_ctl/requests?kind=img")
    return msgspec.json.decode(answer.body)["requests"]


async def test_a_reset_opens_every_gate(sandbox: Sandbox) -> None:
    await told(sandbox, "/gate", {"route": "/img/*", "action": "hold"})
    await told(sandbox, "/gate", {"route": "/user-profile/*", "action": "hold"})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(heard, sandbox.port, "GET", "/img/user-profile/5001_170.jpg")
        with trio.fail_after(30):
            while not await img_requests(sandbox):
                pass
        await told(sandbox, "/reset", None)
