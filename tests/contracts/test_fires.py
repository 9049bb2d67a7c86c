"""What the scheduler may rely on: a plan's fires are told once each, and opening one twice opens it once."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

import pytest

from actors.ports import Busy, Fire, Fires, Refused, Ticks
from pixivflow.ids import ScheduleId
from pixivflow.ledger import executions
from pixivflow.ledger.connection import Db
from pixivflow.ledger.fires import FireLedger
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.interface import Ledger
from pixivflow.scheduling.ticks import PlanTicks
from pixivflow.slots.machine import ExecutionStatus
from tests.actors.fake_fires import START, FakeFires
from tests.fixtures.ledgers import StoppedClock
from tests.fixtures.slots import A, a_plan, plans

HOUR = 3_600_000
BUSY = Busy(slot="p@earlier", plan="p", lane="l")


class Side(ABC):
    """A plan `p` that fires at every full hour; the clock stands at one, and the plan has missed the three before."""

    ticks: Ticks
    fires: Fires

    @abstractmethod
    def make_busy(self) -> None:
        """Let the plan run another slot."""


class Fake(Side):
    def __init__(self) -> None:
        hours = [hour * HOUR for hour in range(-9, 10)]
        self.fake = FakeFires({"p": hours}, owed=[Fire("p", START, "catchup")])
        self.ticks = self.fires = self.fake

    def make_busy(self) -> None:
        self.fake.refusals["p"] = Refused("scheduler_busy")


class Real(Side):
    def __init__(self, ledger: Ledger) -> None:
        self.busy: tuple[Busy, ...] = ()
        found = plans(a_plan(cron="0 * * * *", armed_at=START))
        self.ticks = PlanTicks(found.values)
        self.fires = FireLedger(
            ledger, plans=lambda: found, targets=lambda: (A,), busy=lambda: self.busy, owing=found.values
        )

    def make_busy(self) -> None:
        self.busy = (BUSY,)


def ran(db: Db) -> None:
    executions.record(db, ScheduleId("p"), ExecutionStatus.SUCCESS, START - 4 * HOUR, START - 3 * HOUR)


@pytest.fixture(params=["fake", "ledger"])
async def side(request: pytest.FixtureRequest) -> AsyncIterator[Side]:
    if request.param == "fake":
        yield Fake()
        return
    async with open_inline(":memory:", clock=StoppedClock(START)) as ledger:
        await ledger.write(ran)
        yield Real(ledger)


async def test_a_fire_is_due_from_its_instant_on_and_not_twice(side: Side) -> None:
    assert list(side.ticks.between(START - 1, START)) == [Fire("p", START)]
    assert list(side.ticks.between(START, START + HOUR - 1)) == []


async def test_of_many_fires_only_the_latest_is_told(side: Side) -> None:
    assert list(side.ticks.between(START, START + 3 * HOUR + 5)) == [Fire("p", START + 3 * HOUR)]


async def test_the_next_fire_is_always_later(side: Side) -> None:
    assert side.ticks.next_at(START - 1) == START
    assert side.ticks.next_at(START) == START + HOUR


async def test_a_start_owes_the_latest_fire_that_was_missed_and_none_of_the_future(side: Side) -> None:
    assert list(await side.fires.missed(START + 5)) == [Fire("p", START, "catchup")]


async def test_opening_a_fire_twice_opens_one_slot_and_another_fire_another(side: Side) -> None:
    first = await side.fires.open(Fire("p", START), START)
    assert isinstance(first, str)
    assert await side.fires.open(Fire("p", START), START + 5) == first
    assert await side.fires.open(Fire("p", START, "catchup"), START + 5) == first
    other = await side.fires.open(Fire("p", START + HOUR), START + HOUR)
    assert isinstance(other, str)
    assert other != first


async def test_a_plan_that_is_gone_opens_nothing(side: Side) -> None:
    assert await side.fires.open(Fire("gone", START), START) == Refused("scheduler_not_instantiated")


async def test_a_plan_that_is_busy_opens_nothing(side: Side) -> None:
    side.make_busy()
    assert await side.fires.open(Fire("p", START), START) == Refused("scheduler_busy")
