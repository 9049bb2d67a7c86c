"""Signals to the whole program, from its first line to its last: one begins the stop, and no other spoils it."""

import signal
from pathlib import Path

import pytest

from tests.commands.calling import PATIENCE_S, called, written
from tests.crash.waiting import until

INTERNAL = {"mode": "internal"}
"""Nobody listens then, so no port has to be found."""


def ignores_hangup(pid: int) -> bool:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigIgn:")]
    return bool(int(line.split()[1], 16) & 1 << (signal.SIGHUP - 1))


@pytest.mark.parametrize("also", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_that_come_all_the_way_to_the_end_do_not_spoil_it(tmp_path: Path, also: signal.Signals) -> None:
    config = written(tmp_path, schedulerRuntime=INTERNAL)
    with called("scheduler", "--config", config, cwd=tmp_path) as child:
        until("the ledger to be made", (tmp_path / "ledger.db").exists)
        child.send_signal(signal.SIGTERM)
        while child.poll() is None:
            child.send_signal(also)
        said = child.communicate(timeout=PATIENCE_S)[1]
    assert child.returncode == 0, said
    assert '"exit_code": 0' in said.splitlines()[-1]


def test_a_reload_that_is_asked_for_before_there_is_anything_to_reload_is_no_end(tmp_path: Path) -> None:
    config = written(tmp_path, schedulerRuntime=INTERNAL)
    with called("scheduler", "--config", config, cwd=tmp_path) as child:
        until("the program to begin", lambda: ignores_hangup(child.pid))
        child.send_signal(signal.SIGHUP)
        until("the ledger to be made", (tmp_path / "ledger.db").exists)
        child.send_signal(signal.SIGTERM)
        assert child.wait(PATIENCE_S) == 0
