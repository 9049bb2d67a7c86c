"""A process that is killed between a slot's commit and the answer: the row tells, the next process runs the slot."""

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.crash.waiting import until
from tests.edges.control.program import TOKEN

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 60.0


class Daemon:
    """The program beside this file, and what it prints."""

    def __init__(self, ledger: Path, point: str = "on") -> None:
        timings = ledger.with_name("timings.json")
        timings.write_text(json.dumps({"sweep_ms": 200}))
        environ = {**os.environ, "PIXIVFLOW_FAILPOINTS": point, "PIXIVFLOW_TEST_TIMINGS": f"{timings}"}
        command = [sys.executable, "-m", "tests.edges.control.program", f"{ledger}"]
        self.child = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True)
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = int(self.printed("PORT"))

    def printed(self, word: str) -> str:
        """What follows the word in the first line that begins with it, whatever was printed before it."""

        def found() -> str:
            return next((line.split()[1] for line in list(self._lines) if line.startswith(f"{word} ")), "")

        return until(f"{word} to be printed", found, PATIENCE_S)

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self._lines.append(line)

    def trigger(self) -> int:
        """The status that came back; 0: none did."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as wire:
            try:
                wire.request("POST", "/internal/schedules/p/run", headers={"authorization": f"Bearer {TOKEN}"})
                return wire.getresponse().status
            except (ConnectionError, http.client.HTTPException):
                return 0

    def stop(self) -> int:
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(PATIENCE_S)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self.child.kill()
        self.child.wait()
        self._reader.join()
        if self.child.stdout is not None:
            self.child.stdout.close()


@pytest.fixture
def daemons() -> Iterator[list[Daemon]]:
    started: list[Daemon] = []
    yield started
    for daemon in started:
        daemon.end()


def told(ledger: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(ledger)) as db:
        return db.execute(query).fetchall()


ROWS = "SELECT disposition, http_status FROM trigger_requests"


@pytest.mark.case("slots", 108)
@pytest.mark.parametrize(
    ("point", "row"), [("trigger.opened:1", ("error", 0)), ("trigger.concluded:1", ("accepted", 202))]
)
def test_a_kill_before_the_answer_leaves_a_row_that_tells_and_a_slot_that_runs(
    daemons: list[Daemon], tmp_path: Path, point: str, row: tuple[str, int]
) -> None:
    ledger = tmp_path / "ledger.db"
    daemons.append(Daemon(ledger, point))
    assert daemons[0].trigger() == 0
    assert daemons[0].child.wait(PATIENCE_S) == -signal.SIGKILL
    [(slot,)] = told(ledger, "SELECT id FROM schedule_slots")
    assert told(ledger, ROWS) == [row]

    daemons.append(Daemon(ledger))
    assert point == "trigger.concluded:1" or daemons[1].printed("RAN") == slot
    assert daemons[1].stop() == 0
    assert told(ledger, ROWS) == [row]
    assert told(ledger, "PRAGMA integrity_check") == [("ok",)]


def test_a_trigger_that_was_answered_has_run_once(daemons: list[Daemon], tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    daemons.append(Daemon(ledger))
    assert daemons[0].trigger() == 202
    assert daemons[0].printed("RAN").startswith("p@")
    assert daemons[0].stop() == 0
    assert len(told(ledger, "SELECT 1 FROM scheduler_executions")) == 1
    assert told(ledger, ROWS) == [("accepted", 202)]
