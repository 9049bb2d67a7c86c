"""The actors' ports on a real ledger: what is not begun while it cannot be kept, and whose clock judges the leases."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, closing, contextmanager
from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock

from actors.kit.testing import VirtualClock
from actors.ports import Admitted, Course, Due, Lost, Refused, Unfinished
from pixivflow.delivery.model import Accepted
from pixivflow.errors import StorageFull, Unavailable
from pixivflow.ids import Owner, SlotId
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.hold import Hold
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.ledger import open_ledger
from pixivflow.ledger.stores import OutboxLedger, SlotLedger, SweepLedger
from pixivflow.scheduling.model import Governance
from pixivflow.slots.stall import Budgets
from pixivflow.times import PRODUCTION, iso, utc_text
from tests.fixtures.slots import (
    HOUR,
    ME,
    NOW,
    OTHER,
    PLAN,
    SLOT,
    A,
    a_slot,
    a_work,
    plans,
    put_intent,
    put_running,
    put_slot,
    set_cell,
    the_slot,
)

DAY_MS = 86_400_000
ROUTE, WORKER, SUCCESSOR = "r1", "worker-1-aaaaaaaa", "worker-2-bbbbbbbb"


@pytest.fixture
async def ledger(ledger_path: Path, autojump_clock: MockClock) -> AsyncIterator[Ledger]:
    """Without threads, so that its wall clock and every wait are virtual: tests name `autojump_clock` too."""
    async with open_inline(ledger_path, clock=VirtualClock(NOW), busy_timeout_ms=0) as opened:
        yield opened


def slots_of(ledger: Ledger) -> SlotLedger:
    return SlotLedger(ledger, plans, Governance, PRODUCTION)


def sweep_of(ledger: Ledger) -> SweepLedger:
    return SweepLedger(ledger, Budgets, lambda: Owner("run-9-cccccccc"), PRODUCTION)


def outbox_of(ledger: Ledger) -> OutboxLedger:
    return OutboxLedger(ledger, PRODUCTION, lambda: 0.5)


@contextmanager
def kept_busy(path: Path) -> Iterator[None]:
    """Another process writes, longer than anybody waits."""
    with closing(connect_plain(path)) as other:
        other.steer("BEGIN IMMEDIATE")
        yield
        other.steer("ROLLBACK")


async def disk_full(ledger: Ledger) -> None:
    def full(_db: Db) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    for _ in range(3):
        with pytest.raises(StorageFull):
            await ledger.write(full)


async def found_damaged(ledger: Ledger) -> None:
    ledger.damaged = "row 1 missing from index idx_slots_open"


@pytest.mark.parametrize(
    ("strikes", "reason"), [(disk_full, "storage_full"), (found_damaged, "ledger_damaged")], ids=["full", "damaged"]
)
async def test_nothing_is_begun_in_a_ledger_that_could_not_keep_it(
    ledger: Ledger, autojump_clock: MockClock, strikes: Callable[[Ledger], Awaitable[None]], reason: str
) -> None:
    await ledger.write(lambda db: put_slot(db))
    await ledger.write(lambda db: put_intent(db))
    assert isinstance(await slots_of(ledger).admit(SLOT, (), NOW), Admitted)
    assert await outbox_of(ledger).due(NOW) == Due((ROUTE,), None)

    await strikes(ledger)

    assert await slots_of(ledger).admit(SLOT, (), NOW) == Refused(reason)
    assert await outbox_of(ledger).due(NOW) == Due((), None)
    assert await sweep_of(ledger).unfinished(NOW, frozenset()) == [], "an offer would only be refused"
    assert (await ledger.read(the_slot)).id == SLOT, "it can be read"


async def test_a_disk_that_was_full_is_tried_again_after_its_pause(ledger: Ledger, autojump_clock: MockClock) -> None:
    await ledger.write(lambda db: put_slot(db))
    await disk_full(ledger)

    assert await slots_of(ledger).admit(SLOT, (), NOW + PRODUCTION.storage_retry_ms - 1) == Refused("storage_full")
    assert isinstance(await slots_of(ledger).admit(SLOT, (), NOW + PRODUCTION.storage_retry_ms), Admitted)


async def test_a_heart_that_finds_the_ledger_busy_has_not_lost_its_lease(ledger: Ledger, ledger_path: Path) -> None:
    await ledger.write(lambda db: put_running(db))
    with kept_busy(ledger_path):
        assert await slots_of(ledger).beat(SLOT, ME, NOW)
        with pytest.raises(Unavailable):
            await slots_of(ledger).begin(SLOT, OTHER, NOW)
    assert not await slots_of(ledger).beat(SLOT, OTHER, NOW)


async def test_a_lease_is_claimed_and_kept_for_as_long_as_the_timings_say(ledger: Ledger) -> None:
    await ledger.write(lambda db: put_slot(db))
    short = msgspec.structs.replace(PRODUCTION, slot_lease_ms=60_000, heartbeat_ms=10_000)
    slots = SlotLedger(ledger, plans, Governance, short)
    await slots.begin(SLOT, ME, NOW)
    assert (await ledger.read(the_slot)).lease_until == NOW + 60_000
    await slots.beat(SLOT, ME, NOW + 10_000)
    assert (await ledger.read(the_slot)).lease_until == NOW + 70_000


async def test_a_renewal_that_finds_the_ledger_busy_is_no_error(ledger: Ledger, ledger_path: Path) -> None:
    await ledger.write(lambda db: put_intent(db))
    [row] = await outbox_of(ledger).claim(ROUTE, 1, WORKER, NOW)
    with kept_busy(ledger_path):
        await outbox_of(ledger).renew([row.id], WORKER, NOW)


async def test_an_answer_that_finds_the_ledger_busy_is_to_be_recorded_again(ledger: Ledger, ledger_path: Path) -> None:
    await ledger.write(lambda db: put_intent(db, route=ROUTE) and None)
    outbox = outbox_of(ledger)
    [row] = await outbox.claim(ROUTE, 1, WORKER, NOW)
    assert await outbox.cleared(row, WORKER, NOW)
    with kept_busy(ledger_path):
        assert not await outbox.record(row, Accepted(remote_id="r-1"), WORKER, NOW)
    assert await outbox.record(row, Accepted(remote_id="r-1"), WORKER, NOW)
    assert await ledger.read(lambda db: db.execute("SELECT status FROM outbox").fetchall()) == [("done",)]


async def test_after_the_clock_was_set_back_a_dead_run_blocks_its_slot_for_one_lease_and_no_longer(
    ledger: Ledger, autojump_clock: MockClock
) -> None:
    slots, sweep = slots_of(ledger), sweep_of(ledger)
    await ledger.write(lambda db: put_slot(db))
    await slots.begin(SLOT, ME, NOW + DAY_MS)

    assert await sweep.unfinished(NOW, frozenset()) == []
    assert await slots.begin(SLOT, OTHER, NOW) == Lost()
    await trio.sleep(PRODUCTION.slot_lease_ms / 1000)
    assert await sweep.unfinished(NOW, frozenset()) == [Unfinished(SLOT, Course.DISPATCH)]
    assert not isinstance(await slots.begin(SLOT, OTHER, NOW), Lost)


async def test_after_the_clock_was_set_back_a_beating_run_keeps_its_slot(
    ledger: Ledger, autojump_clock: MockClock
) -> None:
    slots, sweep = slots_of(ledger), sweep_of(ledger)
    await ledger.write(lambda db: put_slot(db))
    await slots.begin(SLOT, ME, NOW + DAY_MS)
    for _ in range(6):
        await trio.sleep(PRODUCTION.heartbeat_ms / 1000)
        assert await slots.beat(SLOT, ME, NOW)

    assert await sweep.unfinished(NOW, frozenset()) == []
    assert await sweep.stalled(NOW, frozenset()) == []
    assert await sweep.end_stalled(SLOT, NOW) is None


async def test_after_the_clock_was_set_back_a_run_without_progress_is_ended_within_its_budget(
    ledger: Ledger, autojump_clock: MockClock
) -> None:
    sweep = sweep_of(ledger)
    await ledger.write(lambda db: put_slot(db))
    await slots_of(ledger).begin(SLOT, ME, NOW + DAY_MS)

    await trio.sleep(Budgets().stalled_ms / 1000)
    assert await sweep.stalled(NOW, frozenset()) == [SLOT]
    ended = await sweep.end_stalled(SLOT, NOW)
    assert ended is not None
    assert ended.reason == "stalled_no_heartbeat"


async def test_what_was_ended_is_told_by_what_people_know_it(ledger: Ledger) -> None:
    slot = a_slot(trigger_source="http", manual_request_id="key-1", correlation_id="c-1")
    await ledger.write(lambda db: put_slot(db, slot, created_at=utc_text(NOW)))
    later = NOW + Budgets().queued_ms
    known = {
        "schedule": slot.schedule_id,
        "trigger_source": "http",
        "manual_request_id": "key-1",
        "correlation_id": "c-1",
    }

    [found] = await sweep_of(ledger).unfinished(later, frozenset())
    assert found.about == {**known, "slot_status": "pending"}
    ended = await sweep_of(ledger).end_stalled(slot.id, later)
    assert ended is not None
    assert (ended.reason, ended.about) == (
        "queued_too_long",
        {**known, "slot_status": "failed", "cells_failed": 2, "stalled_since": iso(NOW)},
    )


async def test_a_slot_of_a_clock_has_no_ids_of_anybody_to_tell(ledger: Ledger) -> None:
    await ledger.write(lambda db: put_slot(db, a_slot(trigger_source="cron")))
    [found] = await sweep_of(ledger).unfinished(NOW, frozenset())
    assert found.about == {"schedule": PLAN, "trigger_source": "cron", "slot_status": "pending"}


async def test_after_the_clock_was_set_back_a_dead_workers_row_is_claimed_when_its_lease_is_over(
    ledger: Ledger, autojump_clock: MockClock
) -> None:
    outbox = outbox_of(ledger)
    await ledger.write(lambda db: put_intent(db))
    await outbox.claim(ROUTE, 1, WORKER, NOW + DAY_MS)

    assert await outbox.claim(ROUTE, 1, SUCCESSOR, NOW) == []
    await trio.sleep(PRODUCTION.row_lease_ms / 1000)
    assert (await outbox.due(NOW)).routes == (ROUTE,)
    [row] = await outbox.claim(ROUTE, 1, SUCCESSOR, NOW)
    assert row.lease_owner == SUCCESSOR
    assert row.answer_unknown


@pytest.mark.parametrize("open_it", [open_inline, open_ledger], ids=["inline", "with threads"])
@pytest.mark.parametrize("held_by", ["its claim", "a renewal"])
async def test_a_dead_workers_row_binds_the_next_process_for_one_lease_though_the_clock_was_set_right_between_them(
    ledger_path: Path, open_it: Callable[..., AbstractAsyncContextManager[Ledger]], held_by: str
) -> None:
    wall = VirtualClock(NOW)
    async with open_it(ledger_path, clock=wall) as ledger:
        await ledger.write(lambda db: put_intent(db))
        wall.step(DAY_MS if held_by == "its claim" else 0)
        [row] = await outbox_of(ledger).claim(ROUTE, 1, WORKER, wall.now_ms())
        wall.step(0 if held_by == "its claim" else DAY_MS)
        await outbox_of(ledger).renew([row.id] if held_by == "a renewal" else [], WORKER, wall.now_ms())

    wall.step(-DAY_MS)
    async with open_it(ledger_path, clock=wall) as ledger:
        lease_ms = PRODUCTION.row_lease_ms
        assert await outbox_of(ledger).claim(ROUTE, 1, SUCCESSOR, wall.now_ms()) == []
        wall.step(lease_ms)
        assert await outbox_of(ledger).claim(ROUTE, 1, SUCCESSOR, wall.now_ms()) == [], "wall time moves no lease"
        due = await outbox_of(ledger).due(wall.now_ms())
        assert due.next_at is not None
        assert due.next_at - ledger.lease_now(wall.now_ms()) <= lease_ms


def put_waiting(db: Db, count: int) -> None:
    """So many slots, older than any other, whose only cell waits for its ACK."""
    for n in range(count):
        slot = a_slot(id=SlotId(f"waiting-{n}"), target_ids=(A,), occurrence_at=NOW - DAY_MS + n)
        put_slot(db, slot, status="running", started_at=utc_text(NOW - HOUR), heartbeat_at=NOW - HOUR)
        set_cell(db, slot.id, "a", status="delivery_pending", work_id=str(n), work_type="illustration")
        put_intent(db, "a", "pending", "retry_wait", slot_id=slot.id, work=a_work(str(n)))


def put_queued(db: Db, count: int) -> None:
    """So many slots of this hour, accepted an hour ago and never claimed."""
    for n in range(count):
        put_slot(db, a_slot(id=SlotId(f"queued-{n:03}"), occurrence_at=NOW + n), created_at=utc_text(NOW - HOUR))


@pytest.mark.parametrize("waiting", [99, 100, 101, 303])
async def test_accepted_work_is_found_however_many_slots_wait_for_their_ack(ledger: Ledger, waiting: int) -> None:
    await ledger.write(put_waiting, waiting)
    await ledger.write(put_queued, 1)

    found = await sweep_of(ledger).unfinished(NOW, frozenset())
    assert [each for each in found if each.course is not Course.WAIT] == [Unfinished("queued-000", Course.DISPATCH)]
    assert len(found) == waiting + 1, "and those that wait are known, to be spared"


@pytest.mark.parametrize("waiting", [99, 100, 101, 303])
async def test_what_is_beyond_rescue_is_ended_and_what_waits_for_an_ack_is_not_however_much_that_is(
    ledger: Ledger, waiting: int
) -> None:
    sweep = sweep_of(ledger)
    await ledger.write(put_waiting, waiting)
    await ledger.write(put_queued, 1)
    await ledger.write(lambda db: put_slot(db, status="running", heartbeat_at=NOW - HOUR))

    assert await sweep.stalled(NOW, frozenset()) == ["queued-000", SLOT]
    assert await sweep.end_stalled("waiting-0", NOW) is None
    ended = await sweep.end_stalled(SLOT, NOW)
    assert ended is not None
    assert ended.reason == "stalled_no_heartbeat"


async def test_one_tick_takes_up_no_more_than_its_bounds(ledger: Ledger) -> None:
    """The rest of what needs a run or an end comes with the next ticks."""
    await ledger.write(put_queued, 250)

    oldest = [f"queued-{n:03}" for n in range(100)]
    assert [each.slot for each in await sweep_of(ledger).unfinished(NOW, frozenset())] == oldest
    assert await sweep_of(ledger).stalled(NOW, frozenset()) == oldest


async def test_a_slot_that_nobody_may_begin_does_not_wait_too_long(
    ledger: Ledger, ledger_path: Path, autojump_clock: MockClock
) -> None:
    """While a person has to look at the ledger first; once it may be begun, recovery comes before the sweep."""
    await ledger.write(put_queued, 1)
    sweep, hold = sweep_of(ledger), Hold(ledger_path)
    hold.place("it was emptied", NOW)
    assert (await sweep.unfinished(NOW, frozenset()), await sweep.stalled(NOW, frozenset())) == ([], [])
    await trio.Path(hold.path).unlink()
    assert [each.slot for each in await sweep.unfinished(NOW, frozenset())] == ["queued-000"]
    assert await sweep.stalled(NOW, frozenset()) == ["queued-000"]
