"""How often the plans ran and how that went."""

import pytest

from pixivflow.ids import ScheduleId
from pixivflow.ledger import executions
from pixivflow.ledger.connection import Db
from pixivflow.slots.machine import ExecutionStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import HOUR, MINUTE, NOW, PLAN, a_plan

S = ExecutionStatus


def ran(db: Db, *statuses: ExecutionStatus, plan: ScheduleId = PLAN, since: int = NOW) -> None:
    """One run a minute from `since` on, each of ten seconds."""
    with transaction(db):
        for n, status in enumerate(statuses):
            executions.record(db, plan, status, since + n * MINUTE, since + n * MINUTE + 10_000)


def test_the_runs_of_each_plan_are_numbered_by_themselves(db: Db) -> None:
    with transaction(db):
        numbers = [
            executions.record(db, ScheduleId(plan), S.SUCCESS, NOW, NOW + 1500) for plan in ("p", "p", "q", "p", "q")
        ]
    assert numbers == [1, 2, 1, 3, 2]


def test_a_row_tells_when_a_run_began_and_ended_and_why_it_failed(db: Db) -> None:
    with transaction(db):
        executions.record(db, PLAN, S.TIMEOUT, NOW, NOW + 1500, error="Execution timeout after 1500ms")
    columns = "status, start_time, end_time, duration_ms, error_message, items_downloaded"
    assert db.execute(f"SELECT {columns} FROM scheduler_executions").fetchall() == [
        (
            "timeout",
            "2026-09-08T02:00:00.000Z",
            "2026-09-08T02:00:01.500Z",
            1500,
            "Execution timeout after 1500ms",
            0,
        )
    ]


@pytest.mark.parametrize(
    ("statuses", "streak"),
    [
        ([], 0),
        ([S.SUCCESS], 0),
        ([S.FAILED, S.TIMEOUT], 2),
        ([S.FAILED, S.SUCCESS, S.TIMEOUT], 1),
        ([S.FAILED, S.SKIPPED, S.FAILED, S.SKIPPED], 2),
        ([S.SUCCESS, S.SKIPPED], 0),
        ([S.FAILED] * 120, 100),
    ],
    ids=str,
)
def test_failures_in_a_row_are_counted_past_the_skipped_ones(
    db: Db, statuses: list[ExecutionStatus], streak: int
) -> None:
    ran(db, *statuses)
    assert executions.facts(db, a_plan(armed_at=NOW)).failures == streak


def test_a_plan_that_is_armed_again_starts_its_count_of_failures_and_runs_anew(db: Db) -> None:
    ran(db, S.FAILED, S.FAILED, since=NOW)
    ran(db, S.TIMEOUT, since=NOW + HOUR)
    facts = executions.facts(db, a_plan(armed_at=NOW + HOUR, max_executions=5))
    assert (facts.failures, facts.failures_since_armed, facts.executions) == (3, 1, 1)


def test_runs_are_counted_no_further_than_the_plan_s_own_limit(db: Db) -> None:
    ran(db, *[S.SUCCESS] * 5)
    assert executions.facts(db, a_plan(armed_at=NOW, max_executions=3)).executions == 3
    assert executions.facts(db, a_plan(armed_at=NOW, max_executions=9)).executions == 5


def test_a_skipped_run_moves_neither_the_last_start_nor_the_last_end(db: Db) -> None:
    assert executions.facts(db, a_plan()).last_start_at is None
    assert executions.last_end(db, PLAN) is None
    ran(db, S.SUCCESS, S.SKIPPED)
    assert executions.facts(db, a_plan()).last_start_at == NOW
    assert executions.last_end(db, PLAN) == NOW + 10_000


def test_another_plan_s_runs_are_none_of_this_one_s(db: Db) -> None:
    ran(db, S.FAILED, plan=ScheduleId("q"))
    facts = executions.facts(db, a_plan(armed_at=NOW, max_executions=3))
    assert (facts.failures, facts.executions, facts.last_start_at) == (0, 0, None)


def test_a_start_that_is_no_instant_is_read_as_unknown(db: Db) -> None:
    ran(db, S.SUCCESS)
    db.execute("UPDATE scheduler_executions SET start_time = 'yesterday', end_time = 'today'")
    assert executions.facts(db, a_plan()).last_start_at is None
    assert executions.last_end(db, PLAN) is None
