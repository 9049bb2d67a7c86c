"""What slot_runner may rely on: one owner a slot, a lease that ends, and an end that is written once or not at all."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.kit import CancelOrigin, Crashed, End, Ended, Finished
from actors.ports import Admitted, Busy, Lost, Refused, Run, Settled, SlotStore, Verdict
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.stores import SlotLedger
from pixivflow.scheduling.model import Governance
from pixivflow.times import PRODUCTION
from tests.actors.fakes import LEASE_MS, FakeSlots
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.slots import ME, NOW, OTHER, SLOT, a_plan, plans, put_slot

Store = SlotStore[Any]
MINE, THEIRS = Run(SLOT, ME, NOW), Run(SLOT, OTHER, NOW)


@pytest.fixture(params=["fake", "ledger"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """One slot of plan `p`, pending."""
    if request.param == "fake":
        yield FakeSlots({SLOT: Admitted("p", a_plan().lane, 1, a_plan().timeout_ms)})
        return
    async with open_inline(":memory:", clock=StoppedClock(NOW)) as ledger:
        await ledger.write(lambda db: put_slot(db))
        yield SlotLedger(ledger, plans, Governance, PRODUCTION)


async def begins(store: Store, owner: str, now: int) -> bool:
    """Whether `owner` was given the slot's work."""
    return not isinstance(await store.begin(SLOT, owner, now), Lost | Settled)


async def test_a_slot_that_waits_is_admitted_as_often_as_it_is_asked_for(store: Store) -> None:
    for _ in range(2):
        assert await store.admit(SLOT, (), NOW) == Admitted("p", a_plan().lane, 1, a_plan().timeout_ms)


async def test_a_slot_that_nobody_knows_is_refused(store: Store) -> None:
    assert await store.admit("p@never", (), NOW) == Refused("unknown_slot")


async def test_a_plan_that_runs_another_slot_is_busy(store: Store) -> None:
    assert await store.admit(SLOT, (Busy("p@earlier", "p", "another lane"),), NOW) == Refused("scheduler_busy")


async def test_of_two_owners_one_gets_the_work_and_the_other_is_told_so(store: Store) -> None:
    assert await begins(store, ME, NOW)
    assert await store.begin(SLOT, OTHER, NOW) == Lost()
    assert await begins(store, ME, NOW), "asking twice in one name is asking once"


async def test_a_slot_that_somebody_runs_is_not_admitted(store: Store) -> None:
    await store.begin(SLOT, OTHER, NOW)
    assert await store.admit(SLOT, (), NOW) == Refused("already_running")


async def test_only_the_owner_has_a_heart(store: Store) -> None:
    assert not await store.beat(SLOT, ME, NOW)
    await store.begin(SLOT, ME, NOW)
    assert await store.beat(SLOT, ME, NOW)
    assert not await store.beat(SLOT, OTHER, NOW)


async def test_a_lease_that_nobody_kept_ends_and_its_late_owner_can_write_nothing(store: Store) -> None:
    await store.begin(SLOT, ME, NOW)
    assert not await begins(store, OTHER, NOW + LEASE_MS - 1)
    assert await begins(store, OTHER, NOW + LEASE_MS)
    assert not await store.beat(SLOT, ME, NOW + LEASE_MS)
    assert await store.finish(MINE, Finished(None), NOW + LEASE_MS) == Lost()
    assert await store.abandon(MINE, Finished(None), NOW + LEASE_MS) == Lost()
    assert await store.beat(SLOT, OTHER, NOW + LEASE_MS)


async def test_a_lease_that_ended_and_was_not_taken_lives_on_with_the_next_beat(store: Store) -> None:
    await store.begin(SLOT, ME, NOW)
    assert await store.beat(SLOT, ME, NOW + LEASE_MS)
    assert not await begins(store, OTHER, NOW + 2 * LEASE_MS - 1)


@pytest.mark.parametrize("port", ["finish", "abandon"])
@pytest.mark.parametrize(
    "end", [Finished(None), Crashed(RuntimeError("a bug")), Ended(CancelOrigin.TIMEOUT)], ids=["back", "crash", "late"]
)
async def test_a_slot_whose_run_has_ended_is_over_and_written_once(store: Store, port: str, end: End) -> None:
    await store.begin(SLOT, ME, NOW)
    assert isinstance(await getattr(store, port)(MINE, end, NOW), Verdict)
    assert await getattr(store, port)(MINE, end, NOW) == Lost()
    assert not await store.beat(SLOT, ME, NOW)
    assert await store.admit(SLOT, (), NOW) == Refused("already_completed")
    assert await store.begin(SLOT, OTHER, NOW) == Lost()


@pytest.mark.parametrize("port", ["finish", "abandon"])
@pytest.mark.parametrize("origin", [CancelOrigin.SHUTDOWN, None], ids=["a stop", "a restart"])
async def test_a_slot_whose_run_was_cut_short_is_free_for_the_next_at_once(
    store: Store, port: str, origin: CancelOrigin | None
) -> None:
    await store.begin(SLOT, ME, NOW)
    assert isinstance(await getattr(store, port)(MINE, Ended(origin), NOW), Verdict)
    assert isinstance(await store.admit(SLOT, (), NOW), Admitted)
    assert await begins(store, OTHER, NOW)


@pytest.mark.parametrize("port", ["finish", "abandon"])
@pytest.mark.parametrize("origin", [CancelOrigin.CONSUMER, CancelOrigin.LEASE_LOST])
async def test_an_end_that_others_decided_leaves_the_slot_to_them(
    store: Store, port: str, origin: CancelOrigin
) -> None:
    await store.begin(SLOT, OTHER, NOW)
    await getattr(store, port)(MINE, Ended(origin), NOW)
    assert await store.beat(SLOT, OTHER, NOW)
    assert isinstance(await store.finish(THEIRS, Finished(None), NOW), Verdict)
