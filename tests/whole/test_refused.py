"""What cannot be started is said in a line that names the field or the file, with exit 1, and nothing is touched."""

import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.crash.process import ROOT
from tests.whole.settings import ENDPOINTS, settings, write
from tests.whole.stage import Stage

Change = Callable[[dict[str, Any]], object]

NEWER = 9_999
DIARY = "my diary, do not touch\n" * 100


def started(config: Path) -> tuple[int, str]:
    """The exit code of a daemon that should not start, and what it said on stderr."""
    command = [sys.executable, "-m", "pixivflow", "scheduler", "--config", str(config)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert told.stdout == ""
    return told.returncode, told.stderr


def reason(said: str) -> str:
    """The one line in which the program says why it does not live."""
    [line] = [line for line in said.splitlines() if line.startswith("❌ ")]
    return line


def good(folder: Path) -> dict[str, Any]:
    """A configuration with which nothing is wrong, but that nobody serves its Pixiv."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    told = settings(folder, 1, "a-token", "a-secret")
    told["schedulerRuntime"]["trigger"]["port"] = port
    return told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("{ this is no JSON", "config.json", id="no JSON"),
        pytest.param("[" * 100_000 + "]" * 100_000, "config.json", id="deep junk"),
        pytest.param('{"a":' * 50_000 + "1" + "}" * 50_000, "config.json", id="deep objects"),
        pytest.param("\x00\x01\x02", "config.json", id="bytes"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path: Path, text: str, words: str) -> None:
    code, said = started(write(tmp_path / "config.json", text))
    assert (code, "Traceback" in said) == (1, False), said
    assert words in said


def an_unknown_target(told: dict[str, Any]) -> None:
    told["schedules"][0]["targetIds"] = ["nobody"]


def a_bad_cron(told: dict[str, Any]) -> None:
    told["schedules"][0]["cron"] = "99 * * * *"


def a_negative_number(told: dict[str, Any]) -> None:
    told["targets"][0]["limit"] = -3


def an_unknown_route(told: dict[str, Any]) -> None:
    told["targets"][1]["delivery"]["targets"] = ["nowhere"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (an_unknown_target, "schedules"),
        (a_bad_cron, "cron"),
        (a_negative_number, "limit"),
        (an_unknown_route, "nowhere"),
    ],
)
def test_a_setting_that_cannot_be_is_named(tmp_path: Path, change: Change, field: str) -> None:
    told = good(tmp_path)
    change(told)
    code, said = started(write(tmp_path / "config.json", told))
    assert (code, "Traceback" in said) == (1, False), said
    assert field in said
    assert not (tmp_path / "ledger.db").exists()


def test_a_ledger_that_is_newer_than_the_program_is_left_as_it_is(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with closing(sqlite3.connect(ledger)) as db:
        db.execute("CREATE TABLE kept (x)")
        db.execute("INSERT INTO kept VALUES (1)")
        db.execute(f"PRAGMA user_version = {NEWER}")
        db.commit()
    before = ledger.read_bytes()
    code, said = started(write(tmp_path / "config.json", good(tmp_path)))
    assert (code, "Traceback" in said) == (1, False), said
    assert "ledger.db" in reason(said)
    assert ledger.read_bytes() == before


def test_another_programs_database_in_the_ledgers_place_is_left_as_it_is(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with closing(sqlite3.connect(ledger)) as db:
        db.execute("CREATE TABLE somebodys (x)")
        db.execute("INSERT INTO somebodys VALUES (1)")
        db.commit()
    before = ledger.read_bytes()
    code, said = started(write(tmp_path / "config.json", good(tmp_path)))
    assert (code, "Traceback" in said) == (1, False), said
    assert "ledger.db" in reason(said)
    assert ledger.read_bytes() == before


def test_a_file_that_is_no_database_is_put_aside_whole(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.ledger.write_text(DIARY)
        daemon = stage.daemon()
        assert stage.until_up(daemon)
        assert daemon.stop() == 0
        [aside] = tmp_path.glob("ledger.db.corrupt-*")
        assert aside.read_text() == DIARY
        assert any(aside.name in path.read_text() for path in daemon.outputs.values())


def test_a_pixiv_that_cannot_be_reached_ends_the_slot_and_not_the_program(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        with socket.create_server(("127.0.0.1", 0)) as free:
            nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
        stage.settings["pixiv"]["endpoints"] = {name: f"{nobody}/{name}" for name in ENDPOINTS}
        stage.settings["network"] |= {"retries": 0}
        daemon = stage.daemon()
        assert stage.trigger(daemon).status == 202
        stage.until_all_ended()
        assert daemon.stop() == 0
        assert [row["status"] for row in stage.rows("SELECT status FROM schedule_slots")] == ["failed"]
        cells = stage.rows("SELECT status, terminal_reason_code, last_error FROM schedule_slot_items")
        assert [cell["status"] for cell in cells] == ["failed"] * 2
        assert all(cell["last_error"] for cell in cells), cells
        assert stage.verdict() == []


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        told = good(tmp_path)
        told["schedulerRuntime"]["trigger"] |= {"enabled": True, "port": other.getsockname()[1]}
        code, said = started(write(tmp_path / "config.json", told))
    assert (code, "Traceback" in said) == (1, False), said
    assert "schedulerRuntime.trigger.port" in said
    assert not (tmp_path / "ledger.db").exists()
