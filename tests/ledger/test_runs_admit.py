"""A run admitted, or not: the guards over real rows."""

import pytest

from actors.ports import Admitted, Busy, Refused
from pixivflow.ledger import executions, runs
from pixivflow.ledger.connection import Db
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.slots.machine import ExecutionStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    HOUR,
    NOW,
    OTHER,
    PLAN,
    SLOT,
    a_plan,
    everything,
    plans,
    put_running,
    put_slot,
    set_cell,
    set_lease,
)


def admitted(db: Db, *busy: Busy, plan: Plan | None = None) -> Admitted | Refused:
    with transaction(db):
        return runs.admit(db, SLOT, plans(plan or a_plan()), busy, Governance(), NOW)


def test_a_waiting_slot_of_a_live_plan_is_admitted(db: Db) -> None:
    with transaction(db):
        put_slot(db)
    assert admitted(db, plan=a_plan(timeout_ms=5 * HOUR)) == Admitted(
        plan="p", lane="pixiv-account:default", capacity=1, timeout_ms=5 * HOUR
    )


def test_a_slot_without_a_row_and_one_without_a_plan_are_refused(db: Db) -> None:
    assert admitted(db) == Refused("unknown_slot")
    with transaction(db):
        put_slot(db)
        assert runs.admit(db, SLOT, {}, (), Governance(), NOW) == Refused("scheduler_not_instantiated")


@pytest.mark.parametrize("status", ["success", "partial", "expired"])
def test_a_completed_slot_is_refused_as_completed(db: Db, status: str) -> None:
    with transaction(db):
        put_slot(db, status=status)
    assert admitted(db) == Refused("already_completed")


def test_a_failed_slot_is_admitted_only_while_a_cell_is_open(db: Db) -> None:
    with transaction(db):
        put_slot(db, status="failed")
        set_cell(db, SLOT, "a", status="failed")
    assert isinstance(admitted(db), Admitted)
    set_cell(db, SLOT, "b", status="no_candidate")
    assert admitted(db) == Refused("already_completed")


def test_a_slot_that_another_process_is_running_is_not_promised_again(db: Db) -> None:
    with transaction(db):
        put_running(db, owner=OTHER)
    assert admitted(db) == Refused("already_running")
    set_lease(db, SLOT, OTHER, NOW)
    assert isinstance(admitted(db), Admitted)


def test_a_slot_whose_row_does_not_say_its_occurrence_is_refused(db: Db) -> None:
    with transaction(db):
        put_slot(db, occurrence_at=None)
    assert admitted(db) == Refused("unknown_occurrence")


def test_the_plan_s_own_rows_stop_it(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        executions.record(db, PLAN, ExecutionStatus.TIMEOUT, NOW - 60_000, NOW - 30_000)
    assert admitted(db, plan=a_plan(max_executions=1)) == Refused("max_executions")
    assert admitted(db, plan=a_plan(max_consecutive_failures=1)) == Refused("max_consecutive_failures")
    assert admitted(db, plan=a_plan(min_interval_ms=60_001)) == Refused("min_interval")
    retried = admitted(db, plan=a_plan(failure_retry_delay_ms=5_000))
    assert isinstance(retried, Admitted)
    assert retried.delay_ms == 5_000


def test_asking_for_admission_writes_nothing(db: Db) -> None:
    with transaction(db):
        put_slot(db)
    before = everything(db)
    admitted(db, Busy(SLOT, "p", "lane"))
    admitted(db)
    assert everything(db) == before
