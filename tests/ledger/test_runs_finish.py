"""A run ended: its slot by its fate, its plan by how it counts, its lease last."""

import pytest

from actors.kit.cancel import CancelOrigin, Crashed, End, Ended, Finished
from actors.ports import Lost, Verdict
from pixivflow.ids import SlotId
from pixivflow.ledger import cells, leases, runs, sweeps
from pixivflow.ledger.connection import Db
from pixivflow.slots.machine import Role
from pixivflow.slots.model import CellChange, CellStatus, SlotStatus
from pixivflow.slots.stall import Budgets
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    ME,
    MINUTE,
    NOW,
    OTHER,
    SLOT,
    WORK,
    A,
    B,
    a_run,
    a_slot,
    everything,
    put_intent,
    put_running,
    set_cell,
    set_lease,
    states,
    the_cell,
    the_slot,
)
from tests.fixtures.sweeping import nobodys
from tests.ledger.finishing import counted, finish, outcomes, running

C, S = CellStatus, SlotStatus
TIMED_OUT = Ended(CancelOrigin.TIMEOUT, "Execution timeout after 1800000ms")
ROLLED_UP: list[End] = [Finished(None), Crashed(RuntimeError("a bug")), TIMED_OUT]


@pytest.mark.parametrize("end", ROLLED_UP, ids=repr)
def test_an_end_that_nobody_else_would_finish_ends_the_slot(db: Db, end: End) -> None:
    running(db, a="submitted", b="selected")
    assert finish(db, end) == Verdict("partial")
    assert states(db) == {"a": "submitted", "b": "failed"}
    with transaction(db):
        assert nobodys(db, NOW + 24 * 60 * MINUTE) == []


@pytest.mark.parametrize(
    ("end", "status", "error"),
    [
        (Finished(None), "success", None),
        (Crashed(RuntimeError("a bug")), "failed", "RuntimeError: a bug"),
        (TIMED_OUT, "timeout", "Execution timeout after 1800000ms"),
    ],
    ids=["came back", "crashed", "timed out"],
)
def test_each_end_counts_for_its_plan_in_its_own_way(db: Db, end: End, status: str, error: str | None) -> None:
    running(db)
    finish(db, end)
    assert db.execute("SELECT status, error_message, duration_ms FROM scheduler_executions").fetchall() == [
        (status, error, MINUTE)
    ]
    assert the_slot(db).last_error == error


@pytest.mark.case("slots", 54)
def test_a_crash_of_a_run_is_not_repeated_for_ever_and_a_slot_that_was_not_rolled_up_is_found_again(db: Db) -> None:
    running(db)
    assert finish(db, Crashed(RuntimeError("a bug"))) == Verdict("failed")
    later = NOW + 24 * 60 * MINUTE
    with transaction(db):
        assert nobodys(db, later) == []
    other = SlotId("p@2026-09-09T1000")
    with transaction(db):
        put_running(db, a_slot(id=other))
        leases.release(db, other, ME)
        assert nobodys(db, later) == [other]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (Finished(None), "internal_error"),
        (TIMED_OUT, "execution_timeout"),
        (Crashed(ValueError("x")), "internal_error"),
    ],
    ids=["came back", "timed out", "crashed"],
)
def test_a_cell_that_left_no_error_gets_the_reason_of_the_run_s_end(db: Db, end: End, reason: str) -> None:
    running(db)
    finish(db, end)
    cell = the_cell(db)
    assert (cell.reason_code, cell.last_error) == (reason, "target did not complete")


@pytest.mark.parametrize("end", ROLLED_UP, ids=repr)
def test_a_cell_that_left_an_error_is_judged_by_it(db: Db, end: End) -> None:
    running(db)
    set_cell(db, SLOT, "a", last_error="HTTP 429 from the list")
    finish(db, end)
    assert (the_cell(db).reason_code, the_cell(db).last_error) == ("rate_limited", "HTTP 429 from the list")


@pytest.mark.parametrize("end", ROLLED_UP, ids=repr)
def test_a_delivery_that_is_owed_keeps_the_slot_running_and_free(db: Db, end: End) -> None:
    running(db, a="delivery_pending", b="submitted")
    put_intent(db, "a", "pending", "pending")
    assert finish(db, end) == Verdict("running")
    slot = the_slot(db)
    assert (slot.status, slot.lease_owner, slot.completed_at, slot.reported_at) == (S.RUNNING, None, None, None)
    assert states(db)["a"] == "delivery_pending"
    assert outcomes(db) == []


@pytest.mark.case("slots", 33)
def test_a_delivery_that_nobody_owes_ends_its_cell_unless_another_run_holds_the_slot_or_none_was_promised(
    db: Db,
) -> None:
    running(db, a="delivery_pending", b="submitted")
    put_intent(db, "a", "pending", "dead")
    set_lease(db, SLOT, OTHER, NOW + 10 * MINUTE)
    before = everything(db)
    assert finish(db, Finished(None)) == Lost()
    assert everything(db) == before
    set_lease(db, SLOT, ME, NOW + 10 * MINUTE)
    assert finish(db, Finished(None)) == Verdict("partial")
    assert the_cell(db).reason_code == "delivery_abandoned"
    other = SlotId("p@2026-09-09T1000")
    with transaction(db):
        put_running(db, a_slot(id=other, target_ids=(A,)), cells={"a": "delivery_pending"})
        assert runs.finish(db, a_run(slot_id=other), Finished(None), NOW) == Verdict("running")
    assert the_cell(db, "a", other).status is C.DELIVERY_PENDING


@pytest.mark.case("slots", 53)
@pytest.mark.parametrize("origin", [CancelOrigin.SHUTDOWN, None], ids=["a stop", "from above"])
def test_a_stop_leaves_the_slot_to_the_next_process_with_its_works(db: Db, origin: CancelOrigin | None) -> None:
    running(db)
    set_cell(db, SLOT, "a", status="selected", work_id=WORK.work_id, work_type="illustration")
    assert finish(db, Ended(origin, "process shutdown")) == Verdict("running")
    slot = the_slot(db)
    assert (slot.status, slot.lease_owner, slot.lease_until) == (S.RUNNING, None, None)
    assert states(db) == {"a": "selected", "b": "pending"}
    assert counted(db) == ["skipped"]
    assert outcomes(db) == []
    with transaction(db):
        assert nobodys(db, NOW + MINUTE) == [SLOT]
        assert leases.claim(db, SLOT, OTHER, NOW + MINUTE)
    assert the_cell(db).work_id == WORK.work_id


@pytest.mark.case("slots", 17)
def test_a_run_that_lost_its_slot_writes_nothing_however_it_ends(db: Db) -> None:
    running(db, a="selected")
    later = NOW + 180_000
    with transaction(db):
        assert leases.claim(db, SLOT, OTHER, later)
        before = everything(db)
        assert not leases.beat(db, SLOT, ME, later)
    for end in (*ROLLED_UP, Ended(CancelOrigin.LEASE_LOST), Ended(CancelOrigin.SHUTDOWN), Ended(None)):
        assert finish(db, end, now=later) == Lost()
        with transaction(db):
            assert runs.abandon(db, a_run(), end, later) == Lost()
    assert everything(db) == before


def test_a_lost_lease_writes_no_row_even_while_the_slot_is_still_on_the_run_s_name(db: Db) -> None:
    running(db)
    before = everything(db)
    assert finish(db, Ended(CancelOrigin.LEASE_LOST)) == Lost()
    assert everything(db) == before


def test_a_worker_that_slept_through_the_sweep_writes_nothing_when_it_wakes(db: Db) -> None:
    running(db, b="delivery_pending")
    later = NOW + 24 * 60 * MINUTE
    with transaction(db):
        assert sweeps.end_stalled(db, SLOT, Budgets(), later) is not None
    before = everything(db)
    with transaction(db):
        assert not leases.beat(db, SLOT, ME, later)
        change = CellChange(target_id=B, to=C.SUBMITTED)
        assert not cells.change(db, SLOT, change, Role.RUN, later, owner=ME)
    assert finish(db, Finished(None), now=later) == Lost()
    assert everything(db) == before


def test_a_run_is_finished_once(db: Db) -> None:
    running(db)
    finish(db, Finished(None))
    before = everything(db)
    assert finish(db, Finished(None)) == Lost()
    assert everything(db) == before


def test_a_slot_that_is_not_there_is_lost(db: Db) -> None:
    for end in (*ROLLED_UP, Ended(CancelOrigin.CONSUMER), Ended(CancelOrigin.SHUTDOWN)):
        assert finish(db, end) == Lost()
