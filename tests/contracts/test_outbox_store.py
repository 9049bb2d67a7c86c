"""What outbox_pump may rely on: what is due comes in its order, one worker has it, and an answer is written once."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.ports import Due, OutboxStore
from pixivflow.delivery.deferral import Unready
from pixivflow.delivery.model import Accepted, RetryableFailure
from pixivflow.ids import WorkId
from pixivflow.ledger.connection import Db
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.stores import OutboxLedger
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.times import PRODUCTION
from tests.actors.fake_outbox import LEASE_MS, FakeOutbox, FakeRow
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.slots import NOW, SLOT, put_intent, put_slot, set_cell

ME, OTHER = "worker-1-aaaaaaaa", "worker-2-bbbbbbbb"


class Side(ABC):
    """An outbox, and the means to bring it into a state. `done`, `later`, `why`: answers in its own words."""

    store: OutboxStore[Any, Any, Any]
    done: object
    later: object
    why: object

    @abstractmethod
    async def put(self, name: str, route: str = "A", at: int = NOW) -> str:
        """A row that becomes due at that instant; its id."""

    @abstractmethod
    async def unwanted(self, row: str) -> None:
        """The route has the work of that row by now."""

    @abstractmethod
    async def finished(self) -> str:
        """A slot that has ended and was not rolled up."""

    async def claimed(self, owner: str = ME, now: int = NOW, n: int = 9, route: str = "A") -> list[str]:
        """The ids of the rows that a claim brings."""
        return [row.id for row in await self.store.claim(route, n, owner, now)]


class Fake(Side):
    done, later, why = "done", "30000", "http_503"

    def __init__(self) -> None:
        self.store = self.outbox = FakeOutbox()

    async def put(self, name: str, route: str = "A", at: int = NOW) -> str:
        self.outbox.rows[name] = FakeRow(name, route, at)
        return name

    async def unwanted(self, row: str) -> None:
        self.outbox.unwanted.add(row)

    async def finished(self) -> str:
        self.outbox.finished.append(SLOT)
        return SLOT


class Real(Side):
    done, later, why = Accepted(), RetryableFailure(error="HTTP 503"), Unready(reason="http_503", status=503)

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.store = OutboxLedger(ledger, PRODUCTION, lambda: 0.5)

    async def put(self, name: str, route: str = "A", at: int = NOW) -> str:
        work = BoundWork(work_id=WorkId(name), work_type=WorkType.ILLUSTRATION)

        def write(db: Db) -> str:
            row = f"row:{put_intent(db, name, route=route, work=work)}"
            db.execute("UPDATE outbox SET next_attempt_at = ? WHERE id = ?", (at, row))
            return row

        return await self.ledger.write(write)

    async def unwanted(self, row: str) -> None:
        def write(db: Db) -> None:
            db.execute("UPDATE deliveries SET status = 'delivered' WHERE ? = 'row:' || id", (row,))

        await self.ledger.write(write)

    async def finished(self) -> str:
        def write(db: Db) -> None:
            put_slot(db, status="running")
            for target in "ab":
                set_cell(db, SLOT, target, status="submitted")

        await self.ledger.write(write)
        return SLOT


@pytest.fixture(params=["fake", "ledger"])
async def side(request: pytest.FixtureRequest) -> AsyncIterator[Side]:
    if request.param == "fake":
        yield Fake()
        return
    async with open_inline(":memory:", clock=StoppedClock(NOW)) as ledger:
        yield Real(ledger)


async def test_nothing_is_due_in_an_empty_outbox(side: Side) -> None:
    assert await side.store.due(NOW) == Due((), None)
    assert await side.claimed() == []


async def test_the_route_that_waits_longest_is_named_first_and_the_next_instant_with_it(side: Side) -> None:
    await side.put("young", route="A", at=NOW - 1)
    await side.put("old", route="B", at=NOW - 2)
    await side.put("coming", route="C", at=NOW + 5)
    assert await side.store.due(NOW) == Due(("B", "A"), NOW + 5)


async def test_rows_of_a_route_come_oldest_first_and_no_more_than_asked_for(side: Side) -> None:
    second, third, first = [await side.put(name, at=NOW - age) for name, age in (("b", 2), ("c", 1), ("a", 3))]
    await side.put("elsewhere", route="B", at=NOW - 9)
    await side.put("not yet", at=NOW + 1)
    assert await side.claimed(n=2) == [first, second]
    assert await side.claimed(n=2) == [third]


async def test_a_claimed_row_is_nobody_elses_until_its_lease_ends(side: Side) -> None:
    row = await side.put("a")
    assert await side.claimed() == [row]
    assert await side.claimed(OTHER, NOW + LEASE_MS - 1) == []
    assert await side.store.due(NOW) == Due((), NOW + LEASE_MS)
    assert await side.claimed(OTHER, NOW + LEASE_MS) == [row]


@pytest.mark.parametrize("keeps", ["renew", "cleared"])
async def test_a_lease_that_is_kept_begins_anew(side: Side, keeps: str) -> None:
    await side.put("a")
    [row] = await side.store.claim("A", 1, ME, NOW)
    if keeps == "renew":
        await side.store.renew([row.id], ME, NOW + 1_000)
    else:
        assert await side.store.cleared(row, ME, NOW + 1_000)
    assert await side.claimed(OTHER, NOW + LEASE_MS) == []
    assert await side.claimed(OTHER, NOW + LEASE_MS + 1_000) == [row.id]


async def test_who_lost_a_row_is_told_before_the_send_and_changes_nothing(side: Side) -> None:
    await side.put("a")
    [row] = await side.store.claim("A", 1, ME, NOW)
    await side.claimed(OTHER, NOW + LEASE_MS)
    assert not await side.store.cleared(row, ME, NOW + LEASE_MS)
    await side.store.renew([row.id], ME, NOW + LEASE_MS + 9)
    await side.store.record(row, side.later, ME, NOW + LEASE_MS)
    await side.store.release([row.id], ME, NOW + LEASE_MS)
    assert await side.store.due(NOW + LEASE_MS) == Due((), NOW + 2 * LEASE_MS)


async def test_a_row_that_nobody_wants_any_more_is_ended_by_the_last_look(side: Side) -> None:
    await side.put("a")
    [row] = await side.store.claim("A", 1, ME, NOW)
    await side.unwanted(row.id)
    assert not await side.store.cleared(row, ME, NOW)
    assert await side.store.due(NOW + LEASE_MS) == Due((), None)


async def test_a_row_that_was_answered_for_good_never_comes_again(side: Side) -> None:
    await side.put("a")
    [row] = await side.store.claim("A", 1, ME, NOW)
    await side.store.record(row, side.done, ME, NOW)
    assert await side.store.due(NOW + LEASE_MS) == Due((), None)


async def test_a_row_that_may_be_tried_again_is_due_later_and_then_anybodys(side: Side) -> None:
    await side.put("a")
    [row] = await side.store.claim("A", 1, ME, NOW)
    await side.store.record(row, side.later, ME, NOW)
    due = await side.store.due(NOW)
    assert due.routes == ()
    assert due.next_at is not None
    assert due.next_at > NOW
    assert await side.claimed(OTHER, due.next_at) == [row.id]


async def test_rows_given_back_are_due_at_once_and_behind_those_that_wait(side: Side) -> None:
    first, second = await side.put("a", at=NOW - 2), await side.put("b", at=NOW - 1)
    assert await side.claimed(n=1) == [first]
    await side.store.release([first], ME, NOW)
    assert await side.claimed(OTHER) == [second, first]


async def test_rows_that_are_put_off_stay_as_they_are(side: Side) -> None:
    row = await side.put("a")
    await side.store.defer("A", 4, side.why, NOW)
    assert await side.store.due(NOW) == Due(("A",), None)
    assert await side.claimed() == [row]


async def test_a_slot_that_ended_unnoticed_is_found_until_it_is_rolled_up(side: Side) -> None:
    assert list(await side.store.missed(NOW)) == []
    slot = await side.finished()
    assert list(await side.store.missed(NOW)) == [slot]
    for _ in range(2):
        await side.store.roll_up(slot, NOW)
    assert list(await side.store.missed(NOW)) == []
