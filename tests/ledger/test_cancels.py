"""A consumer no longer wants the work."""

import pytest

from actors.kit.cancel import CancelOrigin, Ended
from actors.ports import Lost, Verdict
from pixivflow.ids import SlotId
from pixivflow.ledger import cancels, leases, runs
from pixivflow.ledger.cancels import Cancelled
from pixivflow.ledger.connection import Db
from pixivflow.slots.model import CellStatus, SlotStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    ME,
    MINUTE,
    NOW,
    SLOT,
    A,
    a_run,
    a_slot,
    everything,
    put_intent,
    put_running,
    put_slot,
    set_cell,
    states,
    the_cell,
    the_slot,
)

TEXT = "任务已被取消"


def cancel(db: Db, slot_id: SlotId = SLOT) -> Cancelled:
    with transaction(db):
        return cancels.cancel_slot(db, slot_id, NOW + MINUTE)


def rows(db: Db) -> list[tuple[str, str]]:
    found = db.execute(
        "SELECT d.status, o.status FROM deliveries d JOIN outbox o ON o.delivery_id = d.id ORDER BY d.id"
    )
    return [(intent, row) for intent, row in found.fetchall()]


def test_everything_that_was_open_ends_with_its_deliveries_and_the_slot_is_free(db: Db) -> None:
    with transaction(db):
        put_running(db, cells={"a": "selected", "b": "delivery_pending"})
        put_intent(db, "b", "pending", "retry_wait")
    assert cancel(db) is Cancelled.CANCELLED
    for target in "ab":
        cell = the_cell(db, target)
        assert (cell.status, cell.reason_code, cell.reason_message) == (
            CellStatus.FAILED,
            "cancelled_by_consumer",
            TEXT,
        )
    slot = the_slot(db)
    assert (slot.status, slot.last_error, slot.lease_owner, slot.lease_until) == (SlotStatus.FAILED, TEXT, None, None)
    assert rows(db) == [("failed", "cancelled")]


def test_the_verdict_survives_the_run_that_unwinds_and_a_second_cancel_writes_nothing(db: Db) -> None:
    with transaction(db):
        put_running(db, cells={"a": "selected", "b": "pending"})
    cancel(db)
    with transaction(db):
        assert not leases.beat(db, SLOT, ME, NOW + MINUTE)
        assert runs.finish(db, a_run(), Ended(CancelOrigin.CONSUMER), NOW + MINUTE) == Verdict("failed")
    assert the_cell(db).reason_code == "cancelled_by_consumer"
    assert db.execute("SELECT status FROM scheduler_executions").fetchall() == [("skipped",)]
    before = everything(db)
    assert cancel(db) is Cancelled.ALREADY_TERMINAL
    assert everything(db) == before


def test_a_cancel_that_is_too_late_for_the_run_s_own_end_is_told_so(db: Db) -> None:
    """The run had come back by itself; the cancel was first in the ledger."""
    with transaction(db):
        put_running(db, cells={"a": "selected"})
    cancel(db)
    before = everything(db)
    with transaction(db):
        assert runs.finish(db, a_run(), Ended(CancelOrigin.TIMEOUT), NOW + MINUTE) == Lost()
    assert everything(db) == before


@pytest.mark.case("slots", 58)
def test_what_was_delivered_stays_delivered_and_makes_the_slot_partial(db: Db) -> None:
    with transaction(db):
        put_running(db, cells={"a": "submitted", "b": "pending"})
    before = the_cell(db)
    cancel(db)
    assert the_slot(db).status is SlotStatus.PARTIAL
    assert the_cell(db) == before


def test_a_waiting_slot_is_cancelled_beside_a_running_one_that_keeps_its_lease(db: Db) -> None:
    other = SlotId("q@2026-09-08T1000")
    with transaction(db):
        put_slot(db)
        put_running(db, a_slot(id=other, schedule_id="q"))
    before = the_slot(db, other), states(db, other)
    assert cancel(db) is Cancelled.CANCELLED
    assert (the_slot(db, other), states(db, other)) == before


def test_a_slot_that_failed_while_a_delivery_was_owed_is_cancelled_too(db: Db) -> None:
    with transaction(db):
        put_slot(db, status="failed")
        set_cell(db, SLOT, "a", status="delivery_pending")
        set_cell(db, SLOT, "b", status="submitted")
        put_intent(db, "a", "pending", "pending")
    assert cancel(db) is Cancelled.CANCELLED
    assert (the_slot(db).status, rows(db)) == (SlotStatus.PARTIAL, [("failed", "cancelled")])


def test_a_row_that_is_being_sent_is_left_to_its_worker(db: Db) -> None:
    with transaction(db):
        put_running(db, a_slot(target_ids=(A,)), cells={"a": "delivery_pending"})
        put_intent(db, "a", "pending", "processing")
    cancel(db)
    assert rows(db) == [("pending", "processing")]
    assert the_cell(db).reason_code == "cancelled_by_consumer"


def test_a_slot_that_nobody_knows_is_told_apart_from_one_that_has_ended(db: Db) -> None:
    assert cancel(db) is Cancelled.UNKNOWN
    with transaction(db):
        put_slot(db, status="success")
        set_cell(db, SLOT, "a", status="submitted")
        set_cell(db, SLOT, "b", status="submitted")
    before = everything(db)
    assert cancel(db) is Cancelled.ALREADY_TERMINAL
    assert everything(db) == before


def test_a_cancelled_job_has_its_outcome_at_once_and_calls_nobody(db: Db) -> None:
    with transaction(db):
        put_running(db, a_slot(manual_request_id="key"))
    cancel(db)
    [(detail,)] = db.execute("SELECT detail FROM delivery_events WHERE event = 'execution.summary'").fetchall()
    assert '"business_status":"cancelled","alertable":false' in detail
    assert the_slot(db).reported_at == NOW + MINUTE
