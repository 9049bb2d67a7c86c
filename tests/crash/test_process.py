"""What is done to a process is done by its id, is complete when the call returns, and is written down."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.crash.faults import Script
from tests.crash.journal import Journal
from tests.crash.process import Process
from tests.promises.evidence import Stop, gathered, read_lines


@contextmanager
def a_process(tmp_path: Path) -> Iterator[Process]:
    Script().write(tmp_path / "script.json")
    arguments = ["--journal", str(tmp_path / "wire.jsonl"), "--script", str(tmp_path / "script.json")]
    journal = Journal(tmp_path / "hands.jsonl")
    with Process("tests.crash.receiver", arguments, folder=tmp_path, name="receiver", journal=journal) as process:
        yield process


def stops(tmp_path: Path) -> tuple[Stop, ...]:
    found: tuple[Stop, ...] = gathered(read_lines([tmp_path / "hands.jsonl"]))["stops"]
    return found


def test_a_killed_process_is_gone_when_the_call_returns(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        process.kill()
        assert not process.alive()
    assert [(stop.pid, stop.signal, stop.code) for stop in stops(tmp_path)] == [(process.pid, "KILL", -9)]


def test_a_process_left_alone_ends_with_its_block(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        assert process.alive()
    assert not process.alive()


def test_a_stop_tells_the_exit_code(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        assert process.stop() == -15
    assert [(stop.signal, stop.code) for stop in stops(tmp_path)] == [("TERM", -15)]


def test_a_process_that_does_not_stop_in_time_is_killed(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        process.freeze()
        process.stop_or_kill(0.01)
    assert [(stop.signal, stop.code) for stop in stops(tmp_path)] == [("FREEZE", None), ("KILL", -9)]


def test_a_process_that_stops_in_time_is_not_killed(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        process.stop_or_kill(60)
    assert [(stop.signal, stop.code) for stop in stops(tmp_path)] == [("TERM", -15)]


def test_a_frozen_process_stands_still_until_it_is_thawed(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        process.freeze()
        state = Path(f"/proc/{process.pid}/stat")
        assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "T"
        process.thaw()
        process.kill()
    told = stops(tmp_path)
    assert [stop.signal for stop in told] == ["FREEZE", "KILL"]
    assert told[0].at < told[0].until <= told[1].at


def test_a_process_killed_while_frozen_was_frozen_until_then(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        process.freeze()
        process.kill()
    assert [stop.signal for stop in stops(tmp_path)] == ["FREEZE", "KILL"]


def test_a_program_that_fails_to_start_is_told_so(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "hands.jsonl")
    with Process("tests.crash.receiver", [], folder=tmp_path, name="receiver", journal=journal) as process:
        assert process.port is None
    assert [(stop.signal, stop.code) for stop in stops(tmp_path)] == [("EXIT", 2)]
    assert "--journal" in process.outputs["receiver.stderr"].read_text()
