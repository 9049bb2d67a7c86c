"""The checker of origins tells an end by a timeout from an end by a stop, by rows and by what the runs did."""

from pathlib import Path

import pytest

from tests.promises import origins
from tests.promises.evidence import Run, Stop
from tests.promises.ledgers import with_changes
from tests.promises.transcripts import DAEMON, a_life, a_run, a_stop, looked_at

CUT = a_run(ended_at=21, how="cancelled")
STOPPED = a_stop("TERM", 20, 25)
LEFT_RESUMABLE = (
    "UPDATE schedule_slots SET status = 'running', completed_at = NULL",
    "UPDATE schedule_slot_items SET status = 'pending', completed_at = NULL, work_id = NULL",
    "UPDATE scheduler_executions SET status = 'skipped'",
)
COUNT = "INSERT INTO scheduler_executions (execution_number, schedule_id, status, start_time) VALUES (2, 'p', '{}', '')"
TIMED_OUT = (
    "UPDATE schedule_slots SET status = 'failed'",
    "UPDATE schedule_slot_items SET status = 'failed', work_id = NULL",
    "UPDATE scheduler_executions SET status = 'timeout'",
)


def judged(
    tmp_path: Path, after_the_stop: tuple[str, ...], *, runs: tuple[Run, ...] = (CUT,), stop: Stop = STOPPED
) -> list[str]:
    then = looked_at(with_changes(tmp_path / "then.db", *after_the_stop), 30)
    final = with_changes(
        tmp_path / "l.db", "UPDATE scheduler_executions SET status = 'skipped'", COUNT.format("success")
    )
    return origins.judge(a_life(final, runs=runs, stops=(stop,), snapshots=(then, looked_at(final, 1_000))))


def test_a_slot_that_a_stop_left_to_the_next_process_is_right(tmp_path: Path) -> None:
    assert judged(tmp_path, LEFT_RESUMABLE) == []


@pytest.mark.parametrize(
    ("after_the_stop", "words"),
    [
        pytest.param(TIMED_OUT, "was ended as `failed`", id="the slot was ended"),
        pytest.param(
            (*LEFT_RESUMABLE, "UPDATE schedule_slots SET lease_owner = 'run-100-a', lease_until = 1"),
            "was not given back",
            id="the lease was kept",
        ),
        pytest.param(
            (*LEFT_RESUMABLE, "UPDATE scheduler_executions SET status = 'timeout'"),
            "counted as `timeout`",
            id="the plan was charged with a timeout",
        ),
        pytest.param(
            (*LEFT_RESUMABLE, "DELETE FROM scheduler_executions"), "counted as `nothing`", id="the stop left no trace"
        ),
    ],
)
def test_an_end_by_a_stop_is_named(tmp_path: Path, after_the_stop: tuple[str, ...], words: str) -> None:
    assert any(words in fault for fault in judged(tmp_path, after_the_stop))


def test_a_run_that_came_back_during_the_stop_may_end_its_slot(tmp_path: Path) -> None:
    assert judged(tmp_path, (), runs=(a_run(ended_at=21),)) == []


def test_a_slot_that_another_process_went_on_with_may_have_ended(tmp_path: Path) -> None:
    assert judged(tmp_path, TIMED_OUT, runs=(CUT, a_run("run-200-b", pid=200, at=26))) == []


def test_a_process_that_does_not_stop_in_order_is_named(tmp_path: Path) -> None:
    assert judged(tmp_path, (), stop=a_stop("TERM", 20, 25, code=1)) == [
        f"process {DAEMON} was asked to stop and ended with 1"
    ]


def test_a_process_that_ends_by_itself_is_named(tmp_path: Path) -> None:
    assert judged(tmp_path, (), stop=a_stop("EXIT", 20, 25, code=1)) == [f"process {DAEMON} ended by itself with 1"]


def test_a_run_over_its_time_that_ended_its_slot_once_is_right(tmp_path: Path) -> None:
    life = a_life(with_changes(tmp_path / "l.db", *TIMED_OUT), runs=(a_run(act="overrun", how="cancelled"),))
    assert origins.judge(life) == []


@pytest.mark.parametrize(
    ("changes", "act", "words"),
    [
        pytest.param(LEFT_RESUMABLE, "overrun", "ran over its time and is `running`", id="left to run for ever"),
        pytest.param((*TIMED_OUT, COUNT.format("timeout")), "overrun", "counted so 2 times", id="run twice"),
        pytest.param(TIMED_OUT, "publish", "though its run had time left", id="a timeout out of nothing"),
        pytest.param((), "raise", "counted so 0 times", id="a fault that was not counted"),
    ],
)
def test_a_timeout_that_did_not_end_its_slot_once_is_named(
    tmp_path: Path, changes: tuple[str, ...], act: str, words: str
) -> None:
    life = a_life(with_changes(tmp_path / "l.db", *changes), runs=(a_run(act=act, how="cancelled"),))
    assert any(words in fault for fault in origins.judge(life))
