"""A run that did not come back: its slot is ended for it, and what it does later meets a closed door."""

import pytest

from actors.kit.cancel import CancelOrigin, End, Ended, Finished
from actors.ports import Lost, Verdict
from pixivflow.ledger import bindings, cells, leases, runs, sweeps, works
from pixivflow.ledger.connection import Db
from pixivflow.ledger.works import Place
from pixivflow.slots.machine import Role
from pixivflow.slots.model import CellChange, CellStatus, SlotStatus
from pixivflow.slots.ports import NotOurs
from pixivflow.slots.target import Submitted
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
    states,
    the_cell,
    the_slot,
)

C, S = CellStatus, SlotStatus
TIMED_OUT = Ended(CancelOrigin.TIMEOUT, "Execution timeout after 1800000ms")
LATER = NOW + 30 * MINUTE


def abandon(db: Db, end: End = TIMED_OUT, owner: str = ME) -> Verdict | Lost:
    with transaction(db):
        return runs.abandon(db, a_run(owner), end, LATER)  # type: ignore[arg-type]


def running(db: Db, manual: str | None = None, **cells: str) -> None:
    with transaction(db):
        put_running(db, a_slot(manual_request_id=manual), cells=cells)


def test_the_slot_of_a_run_that_never_came_back_ends_free_and_counted_as_a_timeout(db: Db) -> None:
    running(db, b="selected")
    assert abandon(db) == Verdict("failed")
    slot = the_slot(db)
    assert (slot.status, slot.lease_owner, slot.lease_until) == (S.FAILED, None, None)
    note = "abandoned after scheduler timeout; no delivery (Execution timeout after 1800000ms)"
    assert slot.last_error == note
    for target in "ab":
        cell = the_cell(db, target)
        assert (cell.status, cell.reason_code, cell.last_error) == (C.FAILED, "execution_timeout", note)
    assert db.execute("SELECT status, duration_ms FROM scheduler_executions").fetchall() == [("timeout", 30 * MINUTE)]


def test_an_abandonment_without_words_has_words_of_its_own(db: Db) -> None:
    running(db)
    abandon(db, Ended(CancelOrigin.TIMEOUT))
    assert (the_slot(db).last_error or "").endswith("(abandoned after timeout)")


def test_a_cell_that_left_an_error_keeps_it(db: Db) -> None:
    running(db)
    set_cell(db, SLOT, "a", last_error="HTTP 429")
    abandon(db)
    assert the_cell(db).last_error == "HTTP 429"


@pytest.mark.case("slots", 51)
def test_what_was_published_before_stays_and_makes_the_slot_partial(db: Db) -> None:
    running(db, a="submitted")
    before = the_cell(db)
    assert abandon(db) == Verdict("partial")
    assert the_cell(db) == before


def test_a_run_that_hung_after_its_last_publication_leaves_a_success(db: Db) -> None:
    running(db, a="submitted", b="submitted")
    assert abandon(db) == Verdict("success")


@pytest.mark.case("slots", 52)
def test_a_delivery_outlives_its_run_and_lifts_the_slot_when_its_ack_comes(db: Db) -> None:
    running(db, a="delivery_pending", b="submitted")
    put_intent(db, "a", "pending", "pending")
    assert abandon(db) == Verdict("failed")
    assert states(db) == {"a": "delivery_pending", "b": "submitted"}
    with transaction(db):
        assert sweeps.missed_rollups(db, LATER) == ()
        ack = CellChange(target_id=A, to=C.SUBMITTED, work=WORK)
        assert cells.change(db, SLOT, ack, Role.OUTBOX, LATER)
        assert sweeps.missed_rollups(db, LATER) == (SLOT,)
        assert sweeps.roll_up_missed(db, SLOT, LATER) is S.SUCCESS
    assert the_slot(db).status is S.SUCCESS


@pytest.mark.case("slots", 50)
def test_a_run_that_comes_back_after_it_was_given_up_writes_nothing(db: Db) -> None:
    running(db, a="selected")
    abandon(db)
    before = everything(db)
    with transaction(db):
        assert not leases.beat(db, SLOT, ME, LATER)
        assert not bindings.bind(db, SLOT, ME, B, WORK, LATER).won
        with pytest.raises(NotOurs):
            works.apply(db, Place(slot_id=SLOT, target_id=A, owner=ME), Submitted(work=WORK), 3, LATER)
        assert runs.finish(db, a_run(), Finished(None), LATER) == Lost()
        assert runs.finish(db, a_run(), TIMED_OUT, LATER) == Lost()
        assert runs.abandon(db, a_run(), TIMED_OUT, LATER) == Lost()
    assert everything(db) == before


def test_a_run_whose_slot_went_to_another_is_given_up_without_a_word(db: Db) -> None:
    running(db)
    with transaction(db):
        assert leases.claim(db, SLOT, OTHER, LATER)
    before = everything(db)
    assert abandon(db) == Lost()
    assert everything(db) == before


@pytest.mark.parametrize("origin", [CancelOrigin.SHUTDOWN, None], ids=["a stop", "from above"])
def test_a_run_that_ignores_a_stop_still_leaves_its_slot_to_the_next_process(
    db: Db, origin: CancelOrigin | None
) -> None:
    running(db, a="selected")
    assert abandon(db, Ended(origin)) == Verdict("running")
    slot = the_slot(db)
    assert (slot.status, slot.lease_owner, states(db)["a"]) == (S.RUNNING, None, "selected")
    assert db.execute("SELECT status FROM scheduler_executions").fetchall() == [("skipped",)]


def test_a_requester_s_slot_is_lifted_too_and_its_outcome_waits_for_its_last_delivery(db: Db) -> None:
    running(db, "key", a="delivery_pending", b="submitted")
    put_intent(db, "a", "pending", "pending")
    assert abandon(db) == Verdict("failed")
    summaries = "SELECT COUNT(*) FROM delivery_events WHERE event = 'execution.summary'"
    assert db.execute(summaries).fetchall() == [(0,)]
    with transaction(db):
        cells.change(db, SLOT, CellChange(target_id=A, to=C.SUBMITTED, work=WORK), Role.OUTBOX, LATER)
        assert sweeps.missed_rollups(db, LATER) == (SLOT,)
        sweeps.roll_up_missed(db, SLOT, LATER)
        assert sweeps.missed_rollups(db, LATER) == ()
    assert (the_slot(db).status, the_slot(db).reported_at) == (S.SUCCESS, LATER)
    assert db.execute(summaries).fetchall() == [(1,)]


@pytest.mark.parametrize("manual", [None, "key"])
def test_an_abandoned_slot_has_its_outcome_at_once_and_no_later_pass_looks_at_it(db: Db, manual: str | None) -> None:
    running(db, manual)
    abandon(db)
    found = db.execute("SELECT COUNT(*) FROM delivery_events WHERE event = 'execution.summary'").fetchall()
    assert found == [(1,)]
    assert the_slot(db).reported_at == LATER
    with transaction(db):
        assert sweeps.missed_rollups(db, LATER) == ()
