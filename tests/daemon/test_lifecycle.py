"""What an operator may rely on when a daemon is asked to stop, or cannot go on."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pixivflow.daemon.lifecycle import WATCHDOG_S
from pixivflow.ledger.threaded import CUT_MS, DRAIN_MS
from pixivflow.times import PRODUCTION

ROOT = Path(__file__).resolve().parents[2]
TIMINGS = {"slot_lease_ms": 60_000, "heartbeat_ms": 500, "drain_window_ms": 30_000, "sweep_ms": 600_000}
"""As in production the drain window is far longer than the grace of a stop."""
SHORT_WINDOW = {"drain_window_ms": 300}
STOP_S = 30.0
"""A fence that only a fault reaches, however loaded this machine is. `PROMISED_S` says what a stop may take."""
PROMISED_S = 7.0


class Daemon:
    """The program under test, its notes, and its ledger."""

    def __init__(self, folder: Path, *arguments: str, **other_timings: int) -> None:
        self.ledger = folder / "ledger.db"
        timings = folder / "timings.json"
        timings.write_text(json.dumps(TIMINGS | other_timings))
        environ = {"PIXIVFLOW_FAILPOINTS": "on", "PIXIVFLOW_TEST_TIMINGS": f"{timings}"}
        self.child = subprocess.Popen(
            [sys.executable, "-m", "tests.daemon.program", "--ledger", f"{self.ledger}", *arguments],
            cwd=ROOT,
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.notes: list[dict[str, Any]] = []

    def until(self, event: str, **fields: object) -> dict[str, Any]:
        """The first note of this kind, read on until it comes."""
        wanted = {"event": event, **fields}.items()
        while not (found := [note for note in self.notes if note.items() >= wanted]):
            line = self.child.stdout.readline() if self.child.stdout else ""
            assert line, f"{event} {fields} never came"
            self.notes.append(json.loads(line))
        return found[0]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, float]:
        """Send the signal. The exit code, standard error, and how long it took."""
        began = time.monotonic()
        self.child.send_signal(number)
        return *self.end(), time.monotonic() - began

    def end(self) -> tuple[int, str]:
        """Wait for the end. The exit code and standard error."""
        out, err = self.child.communicate(timeout=60)
        self.notes += [json.loads(line) for line in out.splitlines()]
        return self.child.returncode, err

    def row(self, sql: str, *values: object) -> Any:
        with sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True) as db:
            row = db.execute(sql, values).fetchone()
        db.close()
        return row

    def slot(self, plan: str) -> tuple[str, str | None, str | None]:
        """Status, last error and lease owner of the plan's slot."""
        found: tuple[str, str | None, str | None] = self.row(
            "SELECT status, last_error, lease_owner FROM schedule_slots WHERE schedule_id = ?", plan
        )
        return found

    def healthy(self) -> bool:
        return bool(self.row("PRAGMA integrity_check") == ("ok",))


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[list[Daemon]]:
    started: list[Daemon] = []
    yield started
    for daemon in started:
        if daemon.child.poll() is None:
            daemon.child.kill()
        daemon.child.communicate()


def start(daemons: list[Daemon], folder: Path, *arguments: str, **other_timings: int) -> Daemon:
    daemons.append(Daemon(folder, *arguments, **other_timings))
    return daemons[-1]


@pytest.mark.case("slots", 49)
@pytest.mark.parametrize("deed", ["shield", "thread"])
def test_a_run_that_cannot_be_ended_frees_its_lane_and_its_slot_ends_and_the_next_run_starts(
    daemons: list[Daemon], tmp_path: Path, deed: str
) -> None:
    daemon = start(daemons, tmp_path, "--timeout-ms", "200", f"a:{deed}", "b:work", **SHORT_WINDOW)
    daemon.until("execution.began", slot=f"a-{deed}@2026-01-15T1000")
    daemon.until("execution.began", slot="b-work@2026-01-15T1000")
    daemon.until("run.finished", slot="b-work@2026-01-15T1000")
    status, error, owner = daemon.slot(f"a-{deed}")
    reason = daemon.row("SELECT status, terminal_reason_code FROM schedule_slot_items WHERE slot_id LIKE 'a-%'")
    code, stderr, took_s = daemon.stop()
    assert (status, owner, reason) == ("failed", None, ("failed", "execution_timeout"))
    assert error is not None
    assert "abandoned" in error
    assert "Execution timeout after 200ms" in error
    assert (code, took_s < STOP_S, daemon.healthy()) == (0, True, True)
    assert "cannot be ended: runs" in stderr


def test_a_thread_that_may_be_abandoned_is_no_reason_to_give_a_run_up(daemons: list[Daemon], tmp_path: Path) -> None:
    daemon = start(daemons, tmp_path, "--timeout-ms", "200", "a:leaves", "b:work")
    daemon.until("run.finished", slot="a-leaves@2026-01-15T1000")
    daemon.until("run.finished", slot="b-work@2026-01-15T1000")
    code, stderr, _ = daemon.stop()
    assert (code, stderr) == (0, "")
    assert not [note for note in daemon.notes if note["event"] == "run.abandoned"]


@pytest.mark.case("slots", 118)
@pytest.mark.parametrize("deed", ["shield", "thread"])
def test_a_stop_leaves_the_slot_of_a_run_that_cannot_be_ended_to_the_next_process(
    daemons: list[Daemon], tmp_path: Path, deed: str
) -> None:
    daemon = start(daemons, tmp_path, f"a:{deed}")
    daemon.until("execution.began")
    code, stderr, took_s = daemon.stop()
    assert (code, took_s < STOP_S, daemon.healthy()) == (0, True, True)
    assert daemon.slot(f"a-{deed}") == ("running", None, None)
    assert daemon.row("SELECT status FROM scheduler_executions") == ("skipped",)
    assert "cannot be ended: runs" in stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_interrupts_a_run_at_once_and_counts_it_for_nothing(
    daemons: list[Daemon], tmp_path: Path, number: signal.Signals
) -> None:
    daemon = start(daemons, tmp_path, "a:wait")
    daemon.until("execution.began")
    code, stderr, _ = daemon.stop(number)
    assert (code, stderr) == (0, "")
    assert daemon.slot("a-wait") == ("running", None, None)
    assert daemon.row("SELECT status FROM scheduler_executions") == ("skipped",)
    assert not [note for note in daemon.notes if note["event"] == "actor.cut"]


def test_a_hangup_has_the_settings_looked_at_and_is_no_stop(daemons: list[Daemon], tmp_path: Path) -> None:
    daemon = start(daemons, tmp_path, "a:wait")
    daemon.until("tree.up")
    for times in (1, 2):
        daemon.child.send_signal(signal.SIGHUP)
        daemon.until("settings.looked_at")
        assert [note["event"] for note in daemon.notes].count("settings.looked_at") == 1
        daemon.notes = [note for note in daemon.notes if note["event"] != "settings.looked_at"]
        assert daemon.child.poll() is None, times
    assert not [note for note in daemon.notes if note["event"] == "actor.stopping"]
    assert daemon.stop()[:2] == (0, "")


def test_a_ledger_that_was_lost_is_not_opened_again_by_the_process_that_lost_it(
    daemons: list[Daemon], tmp_path: Path
) -> None:
    """What its last batch came to is unknown; the next process reads it from the rows."""
    daemon = start(daemons, tmp_path, "--dying", "a:wait")
    code, stderr = daemon.end()
    assert code == 1
    assert "ledger cannot go on" in stderr
    assert "disk I/O error" in stderr
    assert [note["event"] for note in daemon.notes].count("ledger.opened") == 1
    assert not [note for note in daemon.notes if note["event"] == "actor.restarting" and note["actor"] == "ledger"]
    assert daemon.healthy()


def test_an_actor_that_raises_on_every_start_ends_the_daemon_in_order(daemons: list[Daemon], tmp_path: Path) -> None:
    daemon = start(daemons, tmp_path, "a:wait", "--broken")
    code, stderr = daemon.end()
    waits = [n["after_ms"] for n in daemon.notes if n["event"] == "actor.restarting" and n["actor"] == "broken"]
    stopped = [note["actor"] for note in daemon.notes if note["event"] == "actor.stopping"]
    assert code == 1
    assert "broken cannot go on: no start is a good start with token=***" in stderr
    assert "planted-word" not in stderr
    assert waits == [10, 20, 40]
    assert stopped == ["broken", "offering", "outbox_pump", "stall_sweeper", "slot_runner", "runs", "ledger"]
    assert daemon.slot("a-wait")[2] is None
    assert daemon.healthy()


def test_an_actor_that_ignores_its_stop_is_cut_when_the_grace_is_over(daemons: list[Daemon], tmp_path: Path) -> None:
    daemon = start(daemons, tmp_path, "--deaf", "a:wait")
    daemon.until("execution.began")
    daemon.until("tree.up")
    code, stderr, took_s = daemon.stop()
    cut = [note["actor"] for note in daemon.notes if note["event"] == "actor.cut"]
    assert (code, stderr, cut, took_s < STOP_S) == (0, "", ["deaf"], True)
    assert daemon.slot("a-wait") == ("running", None, None)


def test_a_blocked_event_loop_cannot_refuse_the_stop(daemons: list[Daemon], tmp_path: Path) -> None:
    daemon = start(daemons, tmp_path, "--blocked")
    daemon.until("loop.blocked")
    code, stderr, took_s = daemon.stop()
    assert (code, took_s < STOP_S, daemon.healthy()) == (1, True, True)
    assert "in blocked" in stderr


def test_a_stop_ends_within_seven_seconds_whatever_is_wedged() -> None:
    """The grace, the closing of the ledger, and behind both the watchdog; platforms kill after 10 s at the latest."""
    ledger_ms = DRAIN_MS + 3 * CUT_MS
    assert WATCHDOG_S < PROMISED_S
    assert PRODUCTION.shutdown_grace_ms + ledger_ms < PROMISED_S * 1000


def test_a_second_signal_makes_the_watchdog_impatient(daemons: list[Daemon], tmp_path: Path) -> None:
    daemon = start(daemons, tmp_path, "--blocked")
    daemon.until("loop.blocked")
    began = time.monotonic()
    daemon.child.send_signal(signal.SIGTERM)
    while daemon.child.poll() is None and time.monotonic() < began + 1:
        daemon.child.send_signal(signal.SIGINT)
        time.sleep(0.1)
    daemon.end()
    assert time.monotonic() - began < 6.5


def test_a_ledger_that_must_not_be_opened_is_named_and_left_alone(daemons: list[Daemon], tmp_path: Path) -> None:
    foreign = tmp_path / "ledger.db"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE artworks (id INTEGER)")
    db.close()
    before = foreign.read_bytes()
    code, stderr = start(daemons, tmp_path).end()
    assert code == 1
    assert f"{foreign}" in stderr
    assert "pixivflow import" in stderr
    assert foreign.read_bytes() == before
