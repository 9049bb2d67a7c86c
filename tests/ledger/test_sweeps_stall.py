"""What the stall sweep ends, and what it leaves alone."""

from pathlib import Path

import pytest

from pixivflow.ids import SlotId
from pixivflow.ledger import cells, leases, sweeps
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.slots.machine import Role
from pixivflow.slots.model import CellChange, CellStatus, ReasonCode, SlotStatus
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.stall import Budgets
from pixivflow.times import utc_text
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    HOUR,
    ME,
    MINUTE,
    NOW,
    OTHER,
    SLOT,
    WORK,
    A,
    a_slot,
    everything,
    put_intent,
    put_running,
    put_slot,
    set_cell,
    set_lease,
    set_slot,
    states,
    the_cell,
    the_slot,
)
from tests.fixtures.sweeping import beyond_rescue, nobodys

C, S = CellStatus, SlotStatus
SUMMARIES = "SELECT detail FROM delivery_events WHERE event = 'execution.summary'"


def unfinished(db: Db, now: int = NOW) -> list[str]:
    with transaction(db):
        return nobodys(db, now)


def stalled(db: Db, now: int = NOW, *not_in: str, limit: int = 100) -> list[str]:
    with transaction(db):
        return beyond_rescue(db, now, *not_in, limit=limit)


def end_stalled(db: Db, slot_id: SlotId = SLOT, now: int = NOW) -> sweeps.Stalled | None:
    with transaction(db):
        return sweeps.end_stalled(db, slot_id, Budgets(), now)


@pytest.mark.parametrize(
    ("status", "created", "beat", "owner", "until", "reason"),
    [
        pytest.param("pending", 31, None, None, None, "queued_too_long", id="queued for more than half an hour"),
        pytest.param("pending", 31, 1, None, None, "queued_too_long", id="queued long, and once held for a moment"),
        pytest.param("pending", 29, None, None, None, None, id="queued for less"),
        pytest.param("pending", 31, None, OTHER, NOW + 1, None, id="queued long, just claimed"),
        pytest.param("running", 360, 16, None, None, "stalled_no_heartbeat", id="no heartbeat for a quarter"),
        pytest.param("running", 360, 16, OTHER, NOW - 1, "stalled_no_heartbeat", id="the same, its lease ended"),
        pytest.param("running", 360, 16, OTHER, NOW + 1, None, id="six hours under a live lease"),
        pytest.param("running", 360, 14, None, None, None, id="a heartbeat within the quarter"),
        pytest.param("running", 360, None, None, None, "stalled_no_heartbeat", id="never beat at all"),
        pytest.param("failed", 360, 360, None, None, None, id="ended"),
    ],
)
def test_the_query_of_the_stall_sweep_and_its_verdict_agree(
    db: Db, status: str, created: int, beat: int | None, owner: str | None, until: int | None, reason: str | None
) -> None:
    with transaction(db):
        put_slot(db, status=status, created_at=utc_text(NOW - created * MINUTE))
        set_slot(db, SLOT, heartbeat_at=None if beat is None else NOW - beat * MINUTE)
        set_lease(db, SLOT, owner, until)  # type: ignore[arg-type]
    before = everything(db)
    assert stalled(db) == ([SLOT] if reason else [])
    ended = end_stalled(db)
    assert (ended.reason if ended else None) == reason
    if reason is None:
        assert everything(db) == before
    else:
        assert the_slot(db).last_error == REASONS[ReasonCode(reason)].zh
        assert {the_cell(db, target).reason_code for target in "ab"} == {reason}


@pytest.mark.case("slots", 66)
def test_a_slow_run_is_never_swept_and_one_that_just_died_is_only_recovered(db: Db) -> None:
    with transaction(db):
        put_running(db, now=NOW - 6 * HOUR)
        leases.beat(db, SLOT, ME, NOW - MINUTE)
    before = everything(db)
    assert (stalled(db), end_stalled(db), unfinished(db)) == ([], None, [])
    assert everything(db) == before
    lapsed = NOW - MINUTE + 180_000 + 1
    assert (stalled(db, lapsed), end_stalled(db, now=lapsed)) == ([], None)
    assert unfinished(db, lapsed) == [SLOT]


def test_a_slot_that_recovery_dispatched_on_this_tick_is_left_out(db: Db) -> None:
    with transaction(db):
        put_slot(db, status="running", heartbeat_at=NOW - HOUR)
    assert stalled(db) == [SLOT]
    assert stalled(db, NOW, SLOT) == []


def test_each_rule_takes_no_more_than_its_bound_and_the_oldest_first(db: Db) -> None:
    with transaction(db):
        for n in (1, 3, 2):
            slot = a_slot(id=SlotId(f"p@{n}"), occurrence_at=NOW - n * HOUR, created_at=NOW - HOUR)
            put_slot(db, slot)
    assert stalled(db, limit=2) == ["p@3", "p@2"]
    for slot_id in stalled(db, limit=2):
        assert end_stalled(db, SlotId(slot_id)) is not None
    assert stalled(db, limit=2) == ["p@1"]


def test_a_claim_between_the_sweep_s_look_and_its_verdict_saves_the_slot(db: Db, ledger_path: Path) -> None:
    with transaction(db):
        put_slot(db, status="running", heartbeat_at=NOW - HOUR)
    assert stalled(db) == [SLOT]
    other = connect_plain(ledger_path)
    try:
        with transaction(other):
            assert leases.claim(other, SLOT, OTHER, NOW)
    finally:
        other.close()
    before = everything(db)
    assert end_stalled(db) is None
    assert everything(db) == before


@pytest.mark.case("slots", 68)
def test_a_stalled_slot_ends_with_what_it_published_and_a_delivery_can_still_lift_it(db: Db) -> None:
    with transaction(db):
        put_slot(db, status="running", heartbeat_at=NOW - HOUR)
        set_cell(db, SLOT, "a", status="submitted")
    ended = end_stalled(db)
    assert ended is not None
    assert (ended.status, ended.cells_failed, ended.stalled_since) == (S.PARTIAL, 1, NOW - HOUR)
    owed = SlotId("p@2026-09-09T1000")
    with transaction(db):
        put_slot(db, a_slot(id=owed), status="running", heartbeat_at=NOW - HOUR)
        set_cell(db, owed, "a", status="delivery_pending")
        put_intent(db, "a", "pending", "pending", slot_id=owed)
    ended = end_stalled(db, owed)
    assert ended is not None
    assert (ended.status, states(db, owed)) == (S.FAILED, {"a": "delivery_pending", "b": "failed"})
    with transaction(db):
        assert cells.change(db, owed, CellChange(target_id=A, to=C.SUBMITTED, work=WORK), Role.OUTBOX, NOW)
        assert owed in sweeps.missed_rollups(db, NOW)
        assert sweeps.roll_up_missed(db, owed, NOW) is S.PARTIAL


def test_a_slot_that_only_waits_for_an_ack_is_beyond_no_rescue_however_late_it_is_asked_about(db: Db) -> None:
    """Also when the sweep's look came before the last cell was handed over."""
    with transaction(db):
        put_slot(db, status="running", heartbeat_at=NOW - HOUR)
        set_cell(db, SLOT, "b", status="submitted")
    assert stalled(db) == [SLOT]
    with transaction(db):
        set_cell(db, SLOT, "a", status="delivery_pending")
        put_intent(db, "a", "pending", "retry_wait")
    before = everything(db)
    assert stalled(db) == []
    assert end_stalled(db) is None
    assert everything(db) == before
    with transaction(db):
        db.execute("UPDATE outbox SET status = 'dead'")
    assert end_stalled(db) is not None, "nobody owes it any more"


@pytest.mark.parametrize("manual", [None, "key"])
def test_a_slot_whose_cells_have_all_ended_is_added_up_and_gets_no_verdict(db: Db, manual: str | None) -> None:
    with transaction(db):
        put_slot(db, a_slot(manual_request_id=manual), status="running", heartbeat_at=NOW - HOUR)
        set_cell(db, SLOT, "a", status="submitted")
        set_cell(db, SLOT, "b", status="submitted")
    ended = end_stalled(db)
    assert ended is not None
    assert (ended.status, ended.reason, the_slot(db).last_error) == (S.SUCCESS, None, None)
    assert len(db.execute(SUMMARIES).fetchall()) == 1


def test_a_slot_without_cells_fails(db: Db) -> None:
    with transaction(db):
        put_slot(db, created_at=utc_text(NOW - HOUR))
        db.execute("DELETE FROM schedule_slot_items")
    ended = end_stalled(db)
    assert ended is not None
    assert (ended.status, the_slot(db).status) == (S.FAILED, S.FAILED)


def test_sweeps_never_free_a_lease(db: Db) -> None:
    with transaction(db):
        put_running(db, owner=OTHER, now=NOW - HOUR)
    assert end_stalled(db) is not None
    assert (the_slot(db).lease_owner, the_slot(db).lease_until) == (OTHER, NOW - HOUR + 180_000)
