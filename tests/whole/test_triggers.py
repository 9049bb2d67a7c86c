"""The table of a trigger's answers, on the running program, and the row that each of them leaves in the journal."""

import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.crash.process import Process
from tests.crash.waiting import until
from tests.whole.client import Answer
from tests.whole.stage import Stage

JOURNAL = "SELECT disposition, http_status, count FROM trigger_requests ORDER BY id"
RUNNING = "SELECT 1 FROM schedule_slots WHERE status = 'running'"


def daily(ago: timedelta) -> str:
    """A plan whose last fire was so long ago, to the minute."""
    then = datetime.now(UTC) - ago
    return f"{then.minute} {then.hour} * * *"


def fired(stage: Stage, ago: timedelta) -> None:
    """Let the one plan of the stage have its fire then; the slot that a trigger names stays the same meanwhile."""
    stage.settings["schedules"][0]["cron"] = daily(ago)


def judged(stage: Stage, *expected: tuple[str, int]) -> None:
    """The journal holds these answers, each once, in this order."""
    until("the journal to be whole", lambda: len(stage.rows(JOURNAL)) >= len(expected))
    rows = stage.rows(JOURNAL)
    assert [(row["disposition"], row["http_status"]) for row in rows] == list(expected)
    assert {row["count"] for row in rows} == {1}


def test_without_a_token_the_door_is_shut(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.settings["schedulerRuntime"]["trigger"]["token"] = ""
        answer = stage.trigger(stage.daemon())
        assert (answer.status, answer.body["error"]) == (503, "endpoint disabled: token not configured")
        judged(stage, ("disabled", 503))


@pytest.mark.parametrize("token", ["wrong", None])
def test_a_wrong_token_is_401_and_opens_nothing(tmp_path: Path, token: str | None) -> None:
    with Stage(tmp_path) as stage:
        assert stage.trigger(stage.daemon(), token=token).status == 401
        judged(stage, ("unauthorized", 401))
        assert stage.rows("SELECT 1 FROM schedule_slots") == []


def test_an_unknown_plan_is_404_and_one_that_fired_long_ago_410(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        fired(stage, timedelta(hours=6))
        daemon = stage.daemon()
        assert stage.trigger(daemon, "nobody").status == 404
        late = stage.trigger(daemon)
        assert (late.status, late.body["error"][:14]) == (410, "too late for p")
        judged(stage, ("not_found", 404), ("too_late", 410))
        assert stage.rows("SELECT 1 FROM schedule_slots") == []


def test_a_second_trigger_finds_the_first_run_and_a_third_its_end(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        fired(stage, timedelta(minutes=20))
        stage.pixiv.hold("*/search/*")
        daemon = stage.daemon()
        first = stage.trigger(daemon)
        assert (first.status, first.body["note"]) == (202, "queued")
        stage.until_rows("the run to begin", RUNNING)
        second = stage.trigger(daemon)
        assert (second.status, second.body["note"], second.slot) == (202, "already_running", first.slot)
        stage.pixiv.release("*/search/*")
        stage.until_all_ended()
        third = stage.trigger(daemon)
        assert (third.status, third.body["note"], third.slot) == (200, "already_completed", first.slot)
        assert third.body["schedule"]["alreadyCompleted"] is True
        judged(stage, ("accepted", 202), ("already_running", 202), ("already_completed", 200))
        daemon.stop()
        assert stage.verdict() == []


def test_a_trigger_that_comes_while_the_program_leaves_is_told_to_come_back(tmp_path: Path) -> None:
    with Stage(tmp_path, timings={"idle_poll_ms": 100}) as stage:
        stage.settings["schedulerRuntime"] |= {"exitWhenIdle": True, "idleGraceMs": 1_000}
        daemon = stage.daemon()
        answer = finished_after(stage, daemon, "idle.leaving")
        assert (answer.status, answer.body["note"], answer.retry_after) == (503, "stopping", "5")
        until("the end of the program", lambda: not daemon.alive())
        judged(stage, ("stopping", 503))
        assert stage.rows("SELECT 1 FROM schedule_slots") == []


def finished_after(stage: Stage, daemon: Process, event: str) -> Answer:
    """Begin a trigger, and send the rest of its body when the daemon has said `event`."""
    assert daemon.port is not None
    head = [
        "POST /internal/schedules/p0/run HTTP/1.1",
        f"Host: 127.0.0.1:{daemon.port}",
        f"Authorization: Bearer {stage.token}",
        "Content-Length: 2",
    ]
    with socket.create_connection(("127.0.0.1", daemon.port), 60) as caller:
        caller.sendall("\r\n".join([*head, "", "{"]).encode())
        log = next(path for name, path in daemon.outputs.items() if name.endswith("stderr"))
        until(f"the daemon to say {event}", lambda: event in log.read_text())
        caller.sendall(b"}")
        with caller.makefile("rb") as answers:
            told = answers.read()
    top, _, body = told.partition(b"\r\n\r\n")
    status, *fields = top.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    return Answer(int(status.split()[1]), json.loads(body), headers.get("retry-after"))
