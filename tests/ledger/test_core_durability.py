"""What was answered is on the disk: watched from outside, at the kernel's door and after kill -9.

`answering.py` is a process of its own that prints an ack once a write has returned.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from pixivflow.ledger.connection import connect_plain
from tests.fixtures.ledgers import kept
from tests.ledger.answering import SYNCHRONOUS

ROOT = Path(__file__).parents[2]

CALLS = "trace=fdatasync,fsync,write,sendto"

SYSTEM_CALL = re.compile(r"(?P<pid>\d+) +(?P<call>\w+)\((?P<first>[^,)]*)(?P<rest>.*)")
RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. (?P<call>\w+) resumed>")


def answering(path: Path, number: int, concurrency: int) -> list[str]:
    return [sys.executable, "-m", "tests.ledger.answering", str(path), str(number), str(concurrency)]


def unsynced_answers(trace: str) -> list[str]:
    """The answers before which, since the one before, no fsync of the write-ahead log was finished."""
    synced, syncing, bad = False, set[str](), list[str]()
    _, _, after_start = trace.partition('"answering')
    for line in after_start.splitlines():
        if resumed := RESUMED.match(line):
            synced |= resumed["pid"] in syncing and "sync" in resumed["call"]
        elif call := SYSTEM_CALL.match(line):
            if "sync" in call["call"] and "-wal" in call["first"]:
                syncing.discard(call["pid"])
                if "unfinished" in call["rest"]:
                    syncing.add(call["pid"])
                else:
                    synced = True
            elif call["call"] in ("write", "sendto") and '"ack ' in call["rest"]:
                if not synced:
                    bad.append(line)
                synced = False
    return bad


def traced(folder: Path, environment: Mapping[str, str]) -> str:
    """The system calls of a program that answers twenty times, one after the other."""
    assert shutil.which("strace"), "this test watches a process with strace, which must be installed"
    trace = folder / "trace"
    subprocess.run(
        ["strace", "-f", "-y", "-e", CALLS, "-o", str(trace), *answering(folder / "ledger.db", 20, 1)],
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        timeout=60,
    )
    text = trace.read_text(errors="replace")
    assert text.count('"ack ') == 20
    return text


def test_the_log_is_synced_to_the_disk_before_each_answer(tmp_path: Path) -> None:
    assert unsynced_answers(traced(tmp_path, {})) == []


def test_and_the_same_look_would_see_it_missing(tmp_path: Path) -> None:
    assert len(unsynced_answers(traced(tmp_path, {SYNCHRONOUS: "OFF"}))) == 20


def acks(process: "subprocess.Popen[str]") -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("ack ") and line.endswith("\n"):  # a torn last line was not heard
            yield line.split()[1]


@pytest.mark.parametrize("after", [1, 30, 400])
@pytest.mark.parametrize("concurrency", [1, 32])
def test_kill_9_loses_nothing_that_was_answered(tmp_path: Path, after: int, concurrency: int) -> None:
    path = tmp_path / "ledger.db"
    heard: list[str] = []
    with subprocess.Popen(
        answering(path, 1_000_000, concurrency), cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        for ack in acks(process):
            heard.append(ack)
            if len(heard) == after:
                process.kill()
    assert process.returncode == -signal.SIGKILL

    with closing(connect_plain(path)) as next_process:
        assert set(heard) <= set(kept(next_process))
        assert next_process.steer("PRAGMA integrity_check") == [("ok",)]
        assert next_process.execute("SELECT count(*) FROM ledger_openings").fetchone() == (1,), "not an orderly end"


@pytest.mark.parametrize("concurrency", [1, 32])
def test_a_stop_in_order_loses_nothing_and_leaves_nothing_behind(tmp_path: Path, concurrency: int) -> None:
    path = tmp_path / "ledger.db"
    heard: list[str] = []
    with subprocess.Popen(
        answering(path, 1_000_000, concurrency), cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        for ack in acks(process):
            heard.append(ack)
            if len(heard) == 100:
                process.terminate()
    assert process.returncode == 0
    assert sorted(left.name for left in tmp_path.iterdir()) == ["ledger.db", "ledger.db.lock"], (
        "no log: all is in the file"
    )

    with closing(connect_plain(path)) as next_process:
        assert set(heard) <= set(kept(next_process))
        assert next_process.execute("SELECT count(*) FROM ledger_openings").fetchone() == (0,)
