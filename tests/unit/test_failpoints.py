"""Crash points: what the environment may ask for, and that production pays nothing for them."""

import dis
import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest

from pixivflow.errors import ConfigError
from pixivflow.failpoints import DISABLED, POINTS, SWITCH, TEST_TIMINGS, Failpoints, load, load_timings
from pixivflow.times import PRODUCTION

ON = load({SWITCH: "on"})


@pytest.mark.parametrize("environ", [{}, {SWITCH: ""}], ids=["unset", "empty"])
def test_an_environment_that_asks_for_nothing_gets_nothing(environ: dict[str, str]) -> None:
    assert load(environ) is DISABLED
    assert not DISABLED.enabled


def test_a_disabled_point_reads_nothing_and_calls_nothing() -> None:
    instructions = {each.opname for each in dis.get_instructions(DISABLED.point)}
    assert instructions <= {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}


def test_a_disabled_point_takes_any_name() -> None:
    DISABLED.point("nobody.knows_this")


@pytest.mark.parametrize("name", POINTS)
def test_switched_on_without_a_wish_every_listed_point_is_passed_alive(name: str) -> None:
    assert ON.enabled
    ON.point(name)


@pytest.mark.parametrize("wish", ["on", "run.claimed:1"])
def test_a_point_that_is_not_listed_is_refused_wherever_points_are_enabled(wish: str) -> None:
    with pytest.raises(LookupError, match=r"run\.clamed"):
        load({SWITCH: wish}).point("run.clamed")


@pytest.mark.parametrize(
    "wish",
    [
        pytest.param("run.clamed:1", id="a name that is not listed"),
        pytest.param("run.claimed", id="no number"),
        pytest.param("run.claimed:", id="an empty number"),
        pytest.param("run.claimed:0", id="no hit at all"),
        pytest.param("run.claimed:-1", id="less than none"),
        pytest.param("run.claimed:1.5", id="half a hit"),
        pytest.param("run.claimed:²", id="a digit that is not one of ten"),
        pytest.param("run.claimed:" + "9" * 5000, id="a number too long to be read"),
        pytest.param("off", id="another word"),
        pytest.param("run.claimed:1,run.settled:1", id="two wishes"),
    ],
)
def test_a_wish_that_cannot_be_granted_is_refused_by_key_before_anything_runs(wish: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load({SWITCH: wish})
    assert refused.value.key == "PIXIVFLOW_FAILPOINTS"


VICTIM = """
import os, sys
from pixivflow.failpoints import load
point = load(os.environ).point
for turn in range(1, 6):
    print("before", turn, flush=True)
    point("outbox.sent")
    point("outbox.recorded")
print("alive", flush=True)
"""


def _run_victim(wish: str, program: str = VICTIM) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env={SWITCH: wish}, cwd=_root(), capture_output=True, text=True, check=False)


def _root() -> Path:
    return Path(__file__).parents[2]


@pytest.mark.parametrize("nth", [1, 3, 5])
def test_a_real_process_dies_by_sigkill_at_the_nth_hit_and_not_before(nth: int) -> None:
    ended = _run_victim(f"outbox.recorded:{nth}")
    assert ended.returncode == -signal.SIGKILL
    assert ended.stdout.splitlines() == [f"before {turn}" for turn in range(1, nth + 1)]


@pytest.mark.parametrize(
    "wish",
    [
        pytest.param("outbox.recorded:6", id="fewer hits than asked"),
        pytest.param("outbox.claimed:1", id="another point"),
        pytest.param("on", id="no point"),
    ],
)
def test_a_process_that_does_not_come_to_its_hit_lives_on(wish: str) -> None:
    ended = _run_victim(wish)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.endswith("alive\n")


def test_a_dying_process_runs_no_clean_up() -> None:
    ended = _run_victim(
        "run.claimed:1",
        "import atexit, os\n"
        "from pixivflow.failpoints import load\n"
        "atexit.register(print, 'cleaned')\n"
        "try: load(os.environ).point('run.claimed')\n"
        "finally: print('unwound', flush=True)\n",
    )
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "")


def _yielding(frame: FrameType, _event: str, _argument: Any) -> Any:
    """A trace function that lets the other threads go on between any two instructions."""
    frame.f_trace_opcodes = True
    time.sleep(0)
    return _yielding


def test_hits_of_several_threads_are_counted_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr("os.kill", lambda _pid, number: killed.append(number))
    point = load({SWITCH: "run.claimed:200"}).point
    threading.settrace(_yielding)
    try:
        threads = [threading.Thread(target=lambda: [point("run.claimed") for _ in range(50)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        threading.settrace(None)
    assert killed == [signal.SIGKILL]


def test_the_list_can_be_printed_and_each_point_says_what_it_means() -> None:
    command = [sys.executable, "-m", "pixivflow.failpoints"]
    printed = subprocess.run(command, cwd=_root(), capture_output=True, text=True, check=True).stdout
    assert [tuple(line.split(maxsplit=1)) for line in printed.splitlines()] == list(POINTS.items())


def test_every_point_that_the_program_passes_is_listed_and_every_listed_one_is_passed() -> None:
    sources = [path for package in ("actors", "pixivflow") for path in (_root() / package).rglob("*.py")]
    passed = {name for path in sources for name in re.findall(r'point\(\s*"([^"]+)"', path.read_text("utf-8"))}
    assert passed == set(POINTS)


def _file(tmp_path: Path, content: object) -> dict[str, str]:
    path = tmp_path / "timings.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return {TEST_TIMINGS: str(path)}


@pytest.mark.parametrize("environ", [{}, {TEST_TIMINGS: ""}], ids=["unset", "empty"])
@pytest.mark.parametrize("failpoints", [ON, DISABLED], ids=["on", "off"])
def test_without_a_file_the_durations_are_those_of_production(environ: dict[str, str], failpoints: Failpoints) -> None:
    assert load_timings(environ, failpoints) == PRODUCTION


def test_where_points_are_enabled_a_file_replaces_the_fields_it_names_and_no_others(tmp_path: Path) -> None:
    environ = _file(tmp_path, {"sweep_ms": 200, "outbox_poll_ms": 50})
    expected = msgspec.structs.replace(PRODUCTION, sweep_ms=200, outbox_poll_ms=50)
    assert load_timings(environ, ON) == expected


def test_in_production_the_file_is_refused_and_not_silently_ignored(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="PIXIVFLOW_FAILPOINTS is set") as refused:
        load_timings(_file(tmp_path, {"sweep_ms": 200}), DISABLED)
    assert refused.value.key == "PIXIVFLOW_TEST_TIMINGS"


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        pytest.param({"heartbeat_ms": 45_001}, "a quarter", id="a heartbeat too slow for its lease"),
        pytest.param({"row_lease_ms": 119_999}, "a third", id="a renewal too slow for its lease"),
        pytest.param({"settle_ms": 0}, "positive", id="no time at all"),
        pytest.param({"sleep_ms": 5}, "sleep_ms", id="a field that does not exist"),
        pytest.param({"sweep_ms": 1.5}, "int", id="a duration that is not whole"),
        pytest.param([1], "object", id="not an object"),
        pytest.param(b"{", "truncated", id="not JSON"),
        pytest.param(b'{"\xff": 1}', "UTF-8", id="not text"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_by_key(tmp_path: Path, content: object, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint) as refused:
        load_timings(_file(tmp_path, content), ON)
    assert refused.value.key == "PIXIVFLOW_TEST_TIMINGS"


def test_a_file_that_is_not_there_is_refused_by_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="PIXIVFLOW_TEST_TIMINGS"):
        load_timings({TEST_TIMINGS: str(tmp_path / "absent.json")}, ON)
