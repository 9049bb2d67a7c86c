"""What each route answers over the wire, and what everything else does."""

import json
from pathlib import Path
from typing import Any

import pytest

from actors.ports import Busy, Run
from actors.runs import LiveRun
from pixivflow.config.load import load
from pixivflow.control.app import build
from pixivflow.control.refusals import Refusals
from pixivflow.ids import ScheduleId
from pixivflow.ledger.interface import Ledger
from tests.edges.control.doors import RUN, TOKEN, Answer, a_runtime, behind, open_door
from tests.fixtures.documents import a_document
from tests.fixtures.slots import HOUR, SLOT, a_plan, put_slot

OPEN = ["/health", "/version"]
CLOSED = [("POST", RUN), ("GET", "/status"), ("GET", "/internal/schedules")]


def flat(answer: Answer) -> str:
    """The text of an error, which must be in its one shape."""
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json) == {"status", "error"}
    assert answer.json["status"] == "error"
    return str(answer.json["error"])


async def test_the_open_routes_say_that_it_serves_and_what_it_is(ledger: Ledger) -> None:
    async with open_door(behind(ledger)) as door:
        health, version = [await door.get(target) for target in OPEN]
    assert (health.status, version.status) == (200, 200)
    assert health.json == {
        "status": "ok",
        "service": "pixivflow-scheduler-trigger",
        "version": "1.2.3",
        "commit": "abc",
    }
    assert version.json == {"schemaVersion": 1, "name": "pixivflow", "version": "1.2.3", "commit": "abc"}


async def test_the_status_says_how_it_fares_and_what_holds_it_awake(ledger: Ledger) -> None:
    process = behind(ledger)
    await ledger.write(lambda db: put_slot(db) and None)
    process.live = [LiveRun(Busy(SLOT, "p", "l"), run=Run(SLOT, "me", 0)), LiveRun(Busy("q@x", "q", "l"))]
    async with open_door(process) as door:
        answer = await door.get("/status", token=TOKEN)
    found = answer.json
    assert 3_600 <= found.pop("uptimeSec") < 7_200
    assert found == {
        "schemaVersion": 1,
        "state": "ok",
        "pid": 4711,
        "startedAt": "2026-09-08T01:02:00.000Z",
        "version": "1.2.3",
        "mode": "external",
        "counters": {
            "activeSlots": 1,
            "processingOutbox": 0,
            "pendingOutbox": 0,
            "activeExecutions": 1,
            "waitingForResource": 1,
        },
    }


async def test_a_ledger_that_is_damaged_and_a_process_that_leaves_are_seen(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = behind(ledger)
    async with open_door(process) as door:
        monkeypatch.setattr(ledger, "obstacle", lambda now: "ledger_damaged")
        assert (await door.get("/status", token=TOKEN)).json["state"] == "degraded"
        process.is_leaving = True
        assert (await door.get("/status", token=TOKEN)).json["state"] == "stopping"


async def test_every_plan_is_listed_with_the_slot_that_a_trigger_would_name_now(ledger: Ledger) -> None:
    plans = (
        a_plan(timezone="Asia/Shanghai"),
        a_plan(id=ScheduleId("off"), enabled=False, timezone="Asia/Shanghai"),
        a_plan(id=ScheduleId("tonight"), cron="0 22 * * *", timezone="Asia/Shanghai"),
        a_plan(id=ScheduleId("never"), cron=""),
    )
    async with open_door(behind(ledger, *plans)) as door:
        answer = await door.get("/internal/schedules", token=TOKEN)
    assert answer.json == {
        "schedules": [
            {"scheduleId": "p", "mode": "external", "occurrence": SLOT},
            {"scheduleId": "off", "mode": "external", "occurrence": "off@2026-09-08T1000"},
            {"scheduleId": "tonight", "mode": "external", "occurrence": None},
            {"scheduleId": "never", "mode": "external", "occurrence": None},
        ]
    }


@pytest.mark.case("slots", 84)
async def test_without_a_token_every_route_but_the_open_ones_is_closed(ledger: Ledger) -> None:
    process = behind(ledger, runtime=a_runtime(" "))
    async with open_door(process) as door:
        for method, target in CLOSED:
            for token in (None, "x", TOKEN):
                answer = await door.ask(method, target, token=token)
                assert (answer.status, flat(answer)) == (503, "endpoint disabled: token not configured")
        for target in OPEN:
            assert (await door.get(target)).status == 200
    assert await process.slots() == []


async def test_no_route_stands_beside_those_that_are_open_or_closed(ledger: Ledger) -> None:
    app: Any = build(behind(ledger).parts, Refusals(ledger))
    found = {(method, str(rule)) for rule in app.url_map.iter_rules() for method in rule.methods - {"HEAD"}}
    assert found == {(method, target.replace("/p/", "/<schedule_id>/")) for method, target in CLOSED}


async def test_a_wrong_token_is_refused_and_counted_by_route(ledger: Ledger) -> None:
    process = behind(ledger)
    async with open_door(process) as door:
        for method, target in CLOSED:
            answer = await door.ask(method, target, token="wrong", x_schedule_provider="cron.example")
            assert (answer.status, flat(answer)) == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
    rows = await process.rows()
    assert sorted((row["route"], row["disposition"], row["provider"], row["count"]) for row in rows) == [
        ("run", "unauthorized", "cron.example", 1),
        ("schedules", "unauthorized", "cron.example", 1),
        ("status", "unauthorized", "cron.example", 1),
    ]


@pytest.mark.case("slots", 116)
async def test_the_token_of_the_file_alone_opens_and_a_blank_one_there_closes(ledger: Ledger, tmp_path: Path) -> None:
    environ = {"SCHEDULER_TRIGGER_TOKEN": "token-of-the-environment"}

    def from_file(**trigger: str) -> Any:
        document = a_document(schedulerRuntime={"mode": "external", "trigger": trigger})
        (tmp_path / "config.json").write_text(json.dumps(document), "utf-8")
        return load(tmp_path / "config.json", environ).settings.scheduler_runtime

    process = behind(ledger, runtime=from_file(token="token-of-the-file"))
    async with open_door(process) as door:

        async def asked(token: str) -> int:
            return (await door.post(token=token)).status

        assert (await asked("token-of-the-file"), await asked("token-of-the-environment")) == (202, 401)
        process.runtime = from_file(token="  ")
        assert (await asked("token-of-the-file"), await asked("token-of-the-environment")) == (503, 503)
        process.runtime = from_file()
        assert (await asked("token-of-the-file"), await asked("token-of-the-environment")) == (401, 202)


@pytest.mark.case("slots", 120)
async def test_wrong_methods_unknown_paths_and_bodies_that_cannot_be_read_are_flat_errors(ledger: Ledger) -> None:
    async with open_door(behind(ledger)) as door:
        wrong = await door.ask("PUT", RUN, token=TOKEN)
        assert (wrong.status, wrong.headers["allow"], flat(wrong)) == (405, "POST", "method not allowed")
        unknown = await door.get("/nowhere", token=TOKEN)
        assert (unknown.status, flat(unknown)) == (404, "not found")
        deep = await door.post(body=b"[" * 100_000)
        assert (deep.status, flat(deep)) == (400, "the body is not a JSON object that can be read")
        deeper = await door.post(body=b'{"label":' + b"[" * 100_000)
        assert deeper.status == 400


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PRI"])
async def test_another_method_of_the_run_route_is_told_the_right_one(ledger: Ledger, method: str) -> None:
    async with open_door(behind(ledger)) as door:
        answer = await door.ask(method, RUN, token=TOKEN)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(("target", "allow"), [("/health", "GET, HEAD"), ("/status", "GET, HEAD")])
async def test_another_method_of_a_route_that_is_read_is_told_the_right_ones(
    ledger: Ledger, target: str, allow: str
) -> None:
    async with open_door(behind(ledger)) as door:
        answer = await door.ask("POST", target, token=TOKEN)
        assert (answer.status, answer.headers["allow"], flat(answer)) == (405, allow, "method not allowed")


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/internal/schedules/",
        "/internal/schedules/p/run/",
        "/internal/schedules/p/run/x",
        "/internal//schedules/p/run",
        "/internal/schedules/a%2Fb/run",
        "/internal/schedules//run",
        "/static/app.js",
        "/%2e%2e/etc/passwd",
        "/health/",
        "*",
    ],
)
async def test_whatever_is_no_route_is_unknown_and_nothing_leads_elsewhere(ledger: Ledger, target: str) -> None:
    async with open_door(behind(ledger)) as door:
        for method in ("GET", "POST"):
            answer = await door.ask(method, target, token=TOKEN)
            assert (answer.status, flat(answer)) == (404, "not found")


async def test_a_plan_that_is_not_there_is_named_in_the_answer(ledger: Ledger) -> None:
    async with open_door(behind(ledger)) as door:
        answer = await door.post("/internal/schedules/nightly/run")
        assert (answer.status, flat(answer)) == (404, "unknown schedule: nightly")
        strange = await door.post("/internal/schedules/a%0Ab%00%F0%9F%92%A3/run")
        assert (strange.status, flat(strange)) == (404, "unknown schedule: a?b??")


async def test_an_answer_to_head_has_no_body(ledger: Ledger) -> None:
    async with open_door(behind(ledger)) as door, door.caller() as caller:
        await caller.send(f"HEAD /health HTTP/1.1\r\nhost: {door.host}\r\nconnection: close\r\n\r\n".encode())
        heard = b""
        while piece := await caller.stream.receive_some(4_096):
            heard += piece
    assert heard.startswith(b"HTTP/1.1 200 ")
    assert heard.endswith(b"\r\n\r\n")


async def test_the_token_is_nowhere_but_in_the_callers_hand(ledger: Ledger, ledger_path: Path) -> None:
    process = behind(ledger)
    async with open_door(process) as door:
        await door.post(body=b'{"label": "x"}', x_attempt_id=TOKEN, x_schedule_provider=TOKEN)
        await door.post(token=TOKEN + "x")
        await door.get(f"/nowhere?token={TOKEN}")
        process.clock.step(2 * HOUR)
        await door.post()
    assert TOKEN not in repr(process.probe.notes)
    assert TOKEN not in repr(await process.rows())
    assert all(TOKEN.encode() not in path.read_bytes() for path in ledger_path.parent.iterdir())
