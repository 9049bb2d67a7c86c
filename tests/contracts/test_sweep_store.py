"""What stall_sweeper may rely on: what nobody owns is found with what it needs, and is ended once."""

from collections.abc import AsyncIterator

import pytest

from actors.ports import Course, SweepStore
from pixivflow.ids import Owner, SlotId, WorkId
from pixivflow.ledger.connection import Db
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.stores import SweepLedger
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.slots.stall import Budgets
from pixivflow.times import PRODUCTION
from tests.actors.fake_sweep import FakeSweep
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.slots import HOUR, NOW, A, a_slot, put_intent, put_slot, set_cell

RUN, SETTLE, WAIT, OLD = "p@run", "p@settle", "p@wait", "p@old"
NOBODY = frozenset[str]()


def fill(db: Db) -> None:
    """A slot of each kind, by its name; the old one was never begun."""
    for place, name in enumerate((RUN, SETTLE, WAIT, OLD)):
        created_at = NOW - HOUR if name == OLD else NOW
        slot = a_slot(id=SlotId(name), occurrence_at=NOW + place, target_ids=(A,), created_at=created_at)
        put_slot(db, slot)
    for name, intent, row in ((SETTLE, "delivered", "done"), (WAIT, "pending", "pending")):
        work = BoundWork(work_id=WorkId(name), work_type=WorkType.ILLUSTRATION)
        set_cell(db, SlotId(name), "a", status="delivery_pending", work_id=work.work_id, work_type=work.work_type)
        put_intent(db, "a", intent, row, work=work, slot_id=SlotId(name))


@pytest.fixture(params=["fake", "ledger"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[SweepStore]:
    if request.param == "fake":
        courses = {RUN: Course.DISPATCH, SETTLE: Course.SETTLE, WAIT: Course.WAIT, OLD: Course.DISPATCH}
        yield FakeSweep(courses, [OLD])
        return
    async with open_inline(":memory:", clock=StoppedClock(NOW)) as ledger:
        await ledger.write(fill)
        yield SweepLedger(ledger, Budgets, lambda: Owner("run-9-cccccccc"), PRODUCTION)


async def test_each_unfinished_slot_is_found_with_what_it_needs(store: SweepStore) -> None:
    assert [(each.slot, each.course) for each in await store.unfinished(NOW, NOBODY)] == [
        (RUN, Course.DISPATCH),
        (SETTLE, Course.SETTLE),
        (WAIT, Course.WAIT),
        (OLD, Course.DISPATCH),
    ]


async def test_what_shall_be_spared_is_found_by_neither_look(store: SweepStore) -> None:
    found = await store.unfinished(NOW, frozenset({RUN, OLD}))
    assert [each.slot for each in found] == [SETTLE, WAIT]
    assert list(await store.stalled(NOW, NOBODY)) == [OLD]
    assert list(await store.stalled(NOW, frozenset({OLD}))) == []


async def test_what_was_settled_is_unfinished_no_more(store: SweepStore) -> None:
    for _ in range(2):
        await store.settle_only(SETTLE, NOW)
    assert SETTLE not in [each.slot for each in await store.unfinished(NOW, NOBODY)]


@pytest.mark.parametrize("slot", [RUN, WAIT])
async def test_what_needs_something_else_is_not_settled_in_passing(store: SweepStore, slot: str) -> None:
    await store.settle_only(slot, NOW)
    assert slot in [each.slot for each in await store.unfinished(NOW, NOBODY)]


async def test_what_is_beyond_rescue_is_ended_once_with_its_reason(store: SweepStore) -> None:
    ended = await store.end_stalled(OLD, NOW)
    assert ended is not None
    assert ended.reason == "queued_too_long"
    assert await store.end_stalled(OLD, NOW) is None
    assert list(await store.stalled(NOW, NOBODY)) == []
    assert OLD not in [each.slot for each in await store.unfinished(NOW, NOBODY)]


async def test_what_can_still_be_rescued_is_not_ended(store: SweepStore) -> None:
    assert await store.end_stalled(RUN, NOW) is None
    assert RUN in [each.slot for each in await store.unfinished(NOW, NOBODY)]
