"""The lease of a slot."""

from pathlib import Path

import pytest

from pixivflow.ledger import leaseclock, leases, slots
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.slots.machine import Role
from pixivflow.slots.model import SlotStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    HOUR,
    ME,
    NOW,
    OTHER,
    SLOT,
    everything,
    put_running,
    put_slot,
    set_lease,
    set_slot,
    the_slot,
)

TTL = 180_000


@pytest.mark.case("slots", 16)
def test_a_lease_is_won_by_the_first_and_taken_over_from_the_instant_it_ends(db: Db) -> None:
    """Its length has nothing to do with how long the plan lets a run last; no plan is even asked."""
    with transaction(db):
        put_slot(db)
        assert leases.claim(db, SLOT, ME, NOW)
        assert (the_slot(db).lease_until, the_slot(db).heartbeat_at) == (NOW + TTL, NOW)
        assert not leases.claim(db, SLOT, OTHER, NOW + TTL - 1)
        assert the_slot(db).lease_owner == ME
        assert leases.claim(db, SLOT, OTHER, NOW + TTL)
    assert (the_slot(db).lease_owner, the_slot(db).lease_until) == (OTHER, NOW + 2 * TTL)


def test_an_owner_may_claim_again_what_it_holds(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        assert leases.claim(db, SLOT, ME, NOW)
        assert leases.claim(db, SLOT, ME, NOW + 1)
    assert the_slot(db).lease_until == NOW + 1 + TTL


def test_nobody_claims_a_slot_that_is_not_there(db: Db) -> None:
    with transaction(db):
        assert not leases.claim(db, SLOT, ME, NOW)


def test_a_heartbeat_extends_the_lease_also_when_it_had_ended_unclaimed(db: Db) -> None:
    with transaction(db):
        put_running(db)
        assert leases.beat(db, SLOT, ME, NOW + 30_000)
        assert the_slot(db).lease_until == NOW + 30_000 + TTL
        assert leases.beat(db, SLOT, ME, NOW + HOUR)
    assert (the_slot(db).lease_until, the_slot(db).heartbeat_at) == (NOW + HOUR + TTL, NOW + HOUR)


def test_a_heartbeat_that_comes_after_a_successor_changes_nothing_and_says_so(db: Db) -> None:
    with transaction(db):
        put_running(db, owner=ME)
        assert leases.claim(db, SLOT, OTHER, NOW + TTL)
        before = everything(db)
        assert not leases.beat(db, SLOT, ME, NOW + TTL + 1)
    assert everything(db) == before


def test_a_heartbeat_after_a_sweep_ended_the_slot_is_told_that_it_is_lost(db: Db) -> None:
    """Its row still names the owner, since no sweep clears a lease; a heart that went on would hold it for nothing."""
    with transaction(db):
        put_running(db, owner=ME)
        assert slots.end(db, SLOT, SlotStatus.FAILED, Role.STALL, NOW + TTL, fence=slots.Fence.UNOWNED)
        before = everything(db)
        assert not leases.beat(db, SLOT, ME, NOW + TTL + 1)
    assert everything(db) == before


@pytest.mark.case("slots", 18)
def test_a_late_release_leaves_the_successor_its_lease(db: Db) -> None:
    with transaction(db):
        put_running(db, owner=ME)
        assert leases.claim(db, SLOT, OTHER, NOW + TTL)
        before = everything(db)
        assert not leases.release(db, SLOT, ME)
    assert everything(db) == before


def test_the_next_process_judges_leases_from_the_newest_instant_of_this_one(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        leases.claim(db, SLOT, ME, NOW)
        assert leaseclock.newest_seen(db) == NOW
        put_running(db, owner=ME, now=NOW)
        leases.beat(db, SLOT, ME, NOW + HOUR)
        assert leaseclock.newest_seen(db) == NOW + HOUR
        leases.beat(db, SLOT, OTHER, NOW + 2 * HOUR)
        leases.claim(db, SLOT, OTHER, NOW + HOUR + 1)
    assert leaseclock.newest_seen(db) == NOW + HOUR


def test_a_release_frees_the_slot_and_keeps_its_last_heartbeat(db: Db) -> None:
    with transaction(db):
        put_running(db)
        assert leases.release(db, SLOT, ME)
    slot = the_slot(db)
    assert (slot.lease_owner, slot.lease_until, slot.heartbeat_at) == (None, None, NOW)


@pytest.mark.case("slots", 19)
def test_a_heartbeat_between_a_sweep_and_its_claim_keeps_the_slot(db: Db, ledger_path: Path) -> None:
    """The sweep's process reads an ended lease, then the owner beats, then the sweep's run claims."""
    other = connect_plain(ledger_path)
    try:
        with transaction(db):
            put_running(db, owner=ME)
        read = slots.read(other, SLOT)
        assert read is not None
        assert read.lease_until == NOW + TTL
        with transaction(db):
            assert leases.beat(db, SLOT, ME, NOW + TTL + 1)
        with transaction(other):
            assert not leases.claim(other, SLOT, OTHER, NOW + TTL + 2)
    finally:
        other.close()
    assert the_slot(db).lease_owner == ME


def test_two_processes_that_claim_one_slot_elect_one(db: Db, ledger_path: Path) -> None:
    other = connect_plain(ledger_path)
    try:
        with transaction(db):
            put_slot(db)
        with transaction(db):
            mine = leases.claim(db, SLOT, ME, NOW)
        with transaction(other):
            others = leases.claim(other, SLOT, OTHER, NOW)
    finally:
        other.close()
    assert (mine, others) == (True, False)


def test_running_is_written_by_the_holder_alone_and_the_first_start_stays(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        assert not slots.start(db, SLOT, ME, NOW)
        leases.claim(db, SLOT, ME, NOW)
        assert not slots.start(db, SLOT, OTHER, NOW)
        assert slots.start(db, SLOT, ME, NOW)
        assert slots.start(db, SLOT, ME, NOW + HOUR)
    assert (the_slot(db).status, the_slot(db).started_at) == (SlotStatus.RUNNING, NOW)


@pytest.mark.parametrize("status", ["success", "partial", "expired"])
def test_a_completed_slot_never_runs_again(db: Db, status: str) -> None:
    with transaction(db):
        put_slot(db, status=status)
        set_lease(db, SLOT, ME, NOW + TTL)
        assert not slots.start(db, SLOT, ME, NOW)
    assert the_slot(db).status.value == status


def test_a_slot_that_is_opened_again_forgets_its_end(db: Db) -> None:
    with transaction(db):
        put_slot(db, status="failed", started_at="2026-09-08 01:00:00", completed_at="2026-09-08 01:30:00")
        set_lease(db, SLOT, ME, NOW + TTL)
        assert slots.start(db, SLOT, ME, NOW)
    slot = the_slot(db)
    assert (slot.status, slot.started_at, slot.completed_at) == (SlotStatus.RUNNING, NOW - HOUR, None)


@pytest.mark.parametrize(
    ("fence", "holder", "until", "ends"),
    [
        (slots.Fence.HOLDER, ME, NOW + 1, True),
        (slots.Fence.HOLDER, OTHER, NOW + 1, False),
        (slots.Fence.HOLDER, None, None, False),
        (slots.Fence.UNOWNED, None, None, True),
        (slots.Fence.UNOWNED, OTHER, NOW, True),
        (slots.Fence.UNOWNED, OTHER, NOW + 1, False),
        (slots.Fence.ANYBODY, OTHER, NOW + 1, True),
    ],
)
def test_an_end_is_written_only_under_the_lease_that_it_asks_for(
    db: Db, fence: slots.Fence, holder: str | None, until: int | None, ends: bool
) -> None:
    with transaction(db):
        put_slot(db, status="running")
        set_slot(db, SLOT, lease_owner=None)
        db.execute("UPDATE schedule_slots SET lease_owner = ?, lease_until = ?", (holder, until))
        assert slots.end(db, SLOT, SlotStatus.FAILED, Role.RUN, NOW, fence=fence, owner=ME) is ends
    assert the_slot(db).status is (SlotStatus.FAILED if ends else SlotStatus.RUNNING)


def test_the_first_end_is_the_one_that_stays(db: Db) -> None:
    with transaction(db):
        put_slot(db, status="running", completed_at="2026-09-08 01:00:00")
        assert slots.end(db, SLOT, SlotStatus.FAILED, Role.RUN, NOW, fence=slots.Fence.ANYBODY)
    assert the_slot(db).completed_at == NOW - HOUR
