"""A run begun: its slot claimed, its cells settled as far as the delivery ledger can."""

from pathlib import Path

import pytest

from actors.kit.cancel import CancelOrigin, Ended
from actors.ports import Lost, Settled
from pixivflow.ids import SlotId
from pixivflow.ledger import cancels, runs
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.scheduling.model import Plan
from pixivflow.slots.model import CellStatus, SlotStatus, Work
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    HOUR,
    ME,
    NOW,
    OTHER,
    PLAN,
    SLOT,
    WORK,
    a_plan,
    a_run,
    a_slot,
    everything,
    plans,
    put_intent,
    put_running,
    put_slot,
    set_cell,
    set_lease,
    states,
    the_cell,
    the_slot,
)

C = CellStatus


def begun(db: Db, *, owner: str = ME, plan: Plan | None = None, now: int = NOW) -> Work | Settled | Lost:
    with transaction(db):
        return runs.begin(db, SLOT, owner, plans(plan or a_plan()), now)  # type: ignore[arg-type]


def test_a_run_that_begins_holds_the_slot_and_is_told_what_to_do(db: Db) -> None:
    with transaction(db):
        put_slot(db, a_slot(params_json='{"limit": 1}'))
        set_cell(db, SLOT, "b", fallback_stage=2, last_error="nothing yet")
    work = begun(db, plan=a_plan(timeout_ms=HOUR))
    assert isinstance(work, Work)
    assert (work.schedule_id, work.timeout_ms, work.slot.params_json) == (PLAN, HOUR, '{"limit": 1}')
    assert (work.slot.status, work.slot.lease_owner) == (SlotStatus.RUNNING, ME)
    assert [(cell.target_id, cell.fallback_stage) for cell in work.cells] == [("a", 0), ("b", 2)]
    slot = the_slot(db)
    assert (slot.status, slot.lease_owner, slot.lease_until, slot.started_at) == ("running", ME, NOW + 180_000, NOW)


def test_the_second_of_two_processes_that_begin_one_slot_gets_nothing_and_writes_nothing(
    db: Db, ledger_path: Path
) -> None:
    with transaction(db):
        put_slot(db)
    other = connect_plain(ledger_path)
    try:
        assert isinstance(begun(db), Work)
        before = everything(db)
        assert begun(other, owner=OTHER) == Lost()
    finally:
        other.close()
    assert everything(db) == before


@pytest.mark.parametrize("plan", [None, a_plan(enabled=False)], ids=["removed", "switched off"])
def test_a_run_whose_plan_went_away_while_it_waited_does_not_begin(db: Db, plan: Plan | None) -> None:
    with transaction(db):
        put_slot(db)
    before = everything(db)
    with transaction(db):
        assert runs.begin(db, SLOT, ME, {PLAN: plan} if plan else {}, NOW) == Lost()
    assert everything(db) == before


@pytest.mark.parametrize("status", ["success", "partial", "failed", "expired"])
def test_a_slot_that_is_over_is_not_begun(db: Db, status: str) -> None:
    with transaction(db):
        put_slot(db, status=status)
        set_cell(db, SLOT, "a", status="submitted")
        set_cell(db, SLOT, "b", status="failed")
    before = everything(db)
    assert begun(db) == Lost()
    assert everything(db) == before


def test_a_slot_that_is_not_there_is_not_begun(db: Db) -> None:
    assert begun(db) == Lost()


def test_a_resumed_run_goes_on_with_the_work_that_a_cell_was_bound_to(db: Db) -> None:
    """The rows a crash leaves after a work was bound and before anything of it was downloaded."""
    with transaction(db):
        put_running(db, owner=OTHER)
        set_cell(db, SLOT, "a", status="selected", work_id=WORK.work_id, work_type="illustration")
        set_cell(db, SLOT, "b", status="submitted")
    work = begun(db, now=NOW + 180_000)
    assert isinstance(work, Work)
    assert [(cell.target_id, cell.work_id) for cell in work.cells] == [("a", WORK.work_id)]


@pytest.mark.case("slots", 30)
def test_a_cell_whose_delivery_is_under_way_is_not_run_and_keeps_its_slot_running(db: Db) -> None:
    with transaction(db):
        put_running(db, owner=OTHER, cells={"a": "delivery_pending", "b": "submitted"})
        put_intent(db, "a", "pending", "retry_wait")
        set_lease(db, SLOT, None, None)
    assert begun(db) == Settled("running")
    slot = the_slot(db)
    assert (slot.status, slot.lease_owner, states(db)["a"]) == (SlotStatus.RUNNING, None, "delivery_pending")
    set_cell(db, SLOT, "b", status="pending")
    work = begun(db)
    assert isinstance(work, Work)
    assert [cell.target_id for cell in work.cells] == ["b"]


@pytest.mark.case("slots", 31)
def test_an_ack_that_landed_before_a_crash_is_found_and_nothing_is_posted_twice(db: Db) -> None:
    with transaction(db):
        put_running(db, owner=OTHER, cells={"a": "delivery_pending", "b": "submitted"})
        put_intent(db, "a", "delivered", "done")
        set_lease(db, SLOT, None, None)
    assert begun(db) == Settled("success")
    assert (the_cell(db).status, the_cell(db).work_id) == (C.SUBMITTED, WORK.work_id)
    assert the_slot(db).lease_owner is None


@pytest.mark.case("slots", 32)
@pytest.mark.parametrize(
    ("intent", "row"),
    [("failed", "dead"), ("pending", "dead"), ("pending", "cancelled"), ("pending", None)],
    ids=["a dead letter", "a dead row", "a cancelled row", "never queued"],
)
def test_a_cell_whose_delivery_is_lost_fails_and_nothing_is_selected_in_its_place(
    db: Db, intent: str, row: str | None
) -> None:
    with transaction(db):
        put_running(db, owner=OTHER, cells={"a": "delivery_pending", "b": "submitted"})
        put_intent(db, "a", intent, row)
        set_lease(db, SLOT, None, None)
    assert begun(db) == Settled("partial")
    cell = the_cell(db)
    assert (cell.status, cell.reason_code) == (C.FAILED, "delivery_failed")
    assert "no other work" in (cell.last_error or "")


def test_a_cell_that_waits_for_a_promise_that_was_never_made_is_run(db: Db) -> None:
    with transaction(db):
        put_running(db, owner=OTHER, cells={"a": "delivery_pending", "b": "submitted"})
        put_intent(db, "b", "pending", "pending")
        set_lease(db, SLOT, None, None)
    work = begun(db)
    assert isinstance(work, Work)
    assert [cell.target_id for cell in work.cells] == ["a"]


def test_a_failed_slot_that_is_asked_for_again_is_lifted_by_the_ack_that_came_meanwhile(db: Db) -> None:
    with transaction(db):
        put_slot(db, status="failed", completed_at="2026-09-08 01:00:00")
        set_cell(db, SLOT, "a", status="delivery_pending")
        set_cell(db, SLOT, "b", status="submitted")
        put_intent(db, "a", "delivered", "done")
    assert begun(db) == Settled("success")
    assert the_slot(db).completed_at == NOW


def test_a_slot_that_was_cancelled_while_it_waited_is_not_begun(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        cancels.cancel_slot(db, SLOT, NOW)
    before = everything(db)
    assert begun(db) == Lost()
    assert everything(db) == before


def test_a_slot_resumes_as_the_row_tells_it_and_not_as_now_would_have_it(db: Db) -> None:
    slot = a_slot(
        id=SlotId("p@recover-r1"),
        occurrence_at=NOW - 24 * HOUR,
        recovery_request_id="R1",
        recovery_mode="relaxed",
        trigger_source="somebody new",
        params_json='{"x": 1}',
    )
    with transaction(db):
        put_running(db, slot, owner=OTHER)
        runs.finish(db, a_run(OTHER, slot.id), Ended(CancelOrigin.SHUTDOWN), NOW)
        work = runs.begin(db, slot.id, ME, plans(), NOW)
    assert isinstance(work, Work)
    for field in ("occurrence_at", "timezone", "recovery_request_id", "recovery_mode", "params_json", "slot_name"):
        assert getattr(work.slot, field) == getattr(slot, field), field
