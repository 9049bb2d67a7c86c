"""What recovery finds, and what it settles in passing without a run."""

import pytest

from actors.ports import Course, Unfinished
from pixivflow.ids import SlotId
from pixivflow.ledger import leases, sweeps
from pixivflow.ledger.connection import Db
from pixivflow.slots.model import CellStatus, SlotStatus
from pixivflow.slots.stall import Budgets
from pixivflow.times import PRODUCTION
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    HOUR,
    ME,
    MINUTE,
    NOW,
    OTHER,
    SLOT,
    A,
    a_slot,
    everything,
    put_intent,
    put_running,
    put_slot,
    set_cell,
    set_lease,
    states,
    the_slot,
)

C, S = CellStatus, SlotStatus


def unfinished(db: Db, now: int = NOW, *not_in: str) -> list[str]:
    with transaction(db):
        return [slot.id for slot in sweeps.unfinished(db, now, not_in, 10)]


def stalled(db: Db, now: int = NOW, *not_in: str, limit: int = 100, limits: Budgets | None = None) -> list[str]:
    with transaction(db):
        return [slot.id for slot in sweeps.stalled(db, now, limits or Budgets(), not_in, limit)]


def settle(db: Db, owner: str = ME) -> Course:
    with transaction(db):
        return sweeps.settle_only(db, SLOT, owner, NOW, PRODUCTION.slot_lease_ms)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "owner", "until", "found"),
    [
        ("pending", None, None, True),
        ("running", None, None, True),
        ("running", OTHER, NOW, True),
        ("running", OTHER, NOW + 1, False),
        ("pending", OTHER, NOW + 1, False),
        ("success", None, None, False),
        ("partial", None, None, False),
        ("failed", None, None, False),
        ("expired", None, None, False),
    ],
)
def test_recovery_finds_what_is_unfinished_and_owned_by_nobody(
    db: Db, status: str, owner: str | None, until: int | None, found: bool
) -> None:
    with transaction(db):
        put_slot(db, status=status)
        set_lease(db, SLOT, owner, until)  # type: ignore[arg-type]
    assert unfinished(db) == ([SLOT] if found else [])


def test_recovery_takes_the_oldest_first_and_leaves_out_what_this_process_runs(db: Db) -> None:
    with transaction(db):
        for n in (3, 1, 2):
            put_slot(db, a_slot(id=SlotId(f"p@{n}"), occurrence_at=NOW - n * HOUR))
    assert unfinished(db) == ["p@3", "p@2", "p@1"]
    assert unfinished(db, NOW, "p@2") == ["p@3", "p@1"]
    with transaction(db):
        assert [slot.id for slot in sweeps.unfinished(db, NOW, (), 2)] == ["p@3", "p@2"]


def test_each_unfinished_slot_comes_with_what_it_needs(db: Db) -> None:
    with transaction(db):
        for n, state in enumerate(("pending", "delivery_pending", "submitted")):
            slot = put_slot(db, a_slot(id=SlotId(f"p@{n}"), occurrence_at=NOW + n, target_ids=(A,)))
            set_cell(db, slot.id, "a", status=state)
        put_intent(db, "a", "pending", "pending", slot_id=SlotId("p@1"))
        assert sweeps.courses(db, NOW, (), 10) == (
            Unfinished("p@0", Course.DISPATCH),
            Unfinished("p@1", Course.WAIT),
            Unfinished("p@2", Course.SETTLE),
        )


@pytest.mark.case("slots", 70)
def test_a_slot_that_waits_for_an_ack_costs_its_plan_nothing_and_is_not_stalled(db: Db) -> None:
    with transaction(db):
        put_running(db, cells={"a": "delivery_pending", "b": "submitted"})
        put_intent(db, "a", "pending", "retry_wait")
        leases.release(db, SLOT, ME)
    before = everything(db)
    for minute in range(1, 21):
        with transaction(db):
            now = NOW + minute * MINUTE
            assert sweeps.settle_only(db, SLOT, ME, now, PRODUCTION.slot_lease_ms) is Course.WAIT
            spared = [found.slot for found in sweeps.courses(db, now, (), 10) if found.course is not Course.DISPATCH]
            assert sweeps.stalled(db, now, Budgets(), spared) == ()
    assert everything(db) == before


def test_a_slot_whose_deliveries_have_decided_is_settled_without_a_run(db: Db) -> None:
    with transaction(db):
        put_running(db, cells={"a": "delivery_pending", "b": "delivery_pending"})
        put_intent(db, "a", "delivered", "done")
        put_intent(db, "b", "failed", "dead")
        leases.release(db, SLOT, ME)
    assert settle(db) is Course.SETTLE
    assert states(db) == {"a": "submitted", "b": "failed"}
    slot = the_slot(db)
    assert (slot.status, slot.lease_owner) == (S.PARTIAL, None)
    assert db.execute("SELECT COUNT(*) FROM scheduler_executions").fetchall() == [(0,)]


@pytest.mark.parametrize("holder", [OTHER, ME], ids=["another's", "a run of this process"])
def test_settling_in_passing_leaves_a_live_run_alone(db: Db, holder: str) -> None:
    with transaction(db):
        put_running(db, owner=holder, cells={"a": "submitted", "b": "submitted"})  # type: ignore[arg-type]
    before = everything(db)
    assert settle(db, "run-9-ffffffff") is Course.WAIT
    assert everything(db) == before


def test_settling_in_passing_leaves_what_must_be_run_to_a_run(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        set_cell(db, SLOT, "a", status="submitted")
    before = everything(db)
    assert settle(db) is Course.DISPATCH
    assert everything(db) == before
