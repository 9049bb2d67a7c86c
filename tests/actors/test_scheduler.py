"""The clock inside: every fire once and in time, whatever happens to the host's clock or to the ledger meanwhile."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import Context, Mailbox
from actors.kit.testing import Probe, VirtualClock, running
from actors.ports import Admitted, Fire, Refused, Reload
from actors.scheduler import Parts, scheduler
from tests.actors.fake_fires import START, FakeFires

TAKEN = Admitted("p", "lane", 1, 1_000)
S = 1_000


@dataclass
class Stage:
    fires: FakeFires
    probe: Probe
    clock: VirtualClock
    mailbox: Mailbox[Reload]
    offered: list[str] = field(default_factory=list)
    answer: Admitted | Refused = TAKEN
    offering: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint

    async def offer(self, slot: str) -> Admitted | Refused:
        await self.offering()
        self.offered.append(slot)
        return self.answer

    async def live(self, ctx: Context) -> None:
        await scheduler(ctx, self.mailbox, Parts(self.fires, self.fires, self.offer, sleep_ms=30_000, jump_ms=5_000))


def staged(fires: FakeFires) -> Stage:
    probe = Probe()
    return Stage(fires, probe, VirtualClock(START), Mailbox(4))


@asynccontextmanager
async def at_work(stage: Stage) -> AsyncIterator[Context]:
    hooks = stage.probe.hooks()
    async with running(stage.live, type(hooks)(clock=stage.clock, note=hooks.note)) as ctx:
        yield ctx


async def test_each_fire_is_opened_at_its_time_and_offered(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [10 * S, 70 * S], "q": [40 * S]}))
    async with at_work(stage):
        await trio.sleep(100)
    assert stage.fires.seen() == [("p@10000", 10.0), ("q@40000", 40.0), ("p@70000", 70.0)]
    assert stage.offered == ["p@10000", "q@40000", "p@70000"]


async def test_fires_of_one_instant_are_all_opened(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [10 * S], "q": [10 * S]}))
    async with at_work(stage):
        await trio.sleep(11)
    assert stage.fires.seen() == [("p@10000", 10.0), ("q@10000", 10.0)]


async def test_it_never_sleeps_longer_than_half_a_minute(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [3_600 * S]}))
    async with at_work(stage):
        await trio.sleep(100)
    assert stage.fires.wakes == [0, 30, 60, 90]


async def test_nor_with_no_plan_at_all(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({}))
    async with at_work(stage):
        await trio.sleep(61)
    assert stage.fires.wakes == [0, 30, 60]


async def test_what_was_missed_is_opened_and_offered_before_it_has_started(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [10 * S]}, owed=[Fire("p", START - 5, "catchup")], opening_s=3))
    ctx = Context("scheduler", stage.probe.hooks())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.live, ctx)
        await wait_all_tasks_blocked()
        assert not ctx.ready.is_set()
        await ctx.ready.wait()
        assert stage.offered == ["p@-5"]
        assert trio.current_time() == 3
        ctx.stop()


async def test_a_fire_that_falls_into_the_catching_up_is_not_lost(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [2 * S], "q": []}, owed=[Fire("q", START - 5, "catchup")], opening_s=3))
    async with at_work(stage):
        await trio.sleep(10)
    assert [slot for slot, _ in stage.fires.seen()] == ["q@-5", "p@2000"]


async def test_a_fire_while_another_is_being_opened_follows_at_once(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [10 * S], "q": [12 * S]}, opening_s=5))
    async with at_work(stage):
        await trio.sleep(30)
    assert stage.fires.seen() == [("p@10000", 15.0), ("q@12000", 20.0)]


async def test_a_clock_that_was_set_forward_is_named_and_opens_only_the_latest_fire(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [100 * S, 200 * S, 300 * S]}))
    async with at_work(stage):
        await trio.sleep(5)
        stage.clock.step(320 * S)
        await trio.sleep(30)
    assert stage.probe.heard("clock.jump") == [{"actor": "under-test", "by_ms": 320 * S}]
    assert stage.fires.seen() == [("p@300000", 30.0)]


async def test_a_clock_that_was_set_back_is_named_and_opens_its_fires_again_as_the_same_slots(
    autojump_clock: MockClock,
) -> None:
    stage = staged(FakeFires({"p": [10 * S]}))
    async with at_work(stage):
        await trio.sleep(12)
        stage.clock.step(-100 * S)
        await trio.sleep(120)
    assert stage.probe.heard("clock.jump") == [{"actor": "under-test", "by_ms": -100 * S}]
    assert [slot for slot, _ in stage.fires.seen()] == ["p@10000", "p@10000"]


async def test_what_a_time_server_corrects_is_no_jump(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({}))
    async with at_work(stage):
        for _ in range(4):
            await trio.sleep(25)
            stage.clock.step(4 * S)
    assert stage.probe.heard("clock.jump") == []


async def test_the_time_that_opening_takes_is_no_jump(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [10 * S], "q": []}, owed=[Fire("q", START - 5)], opening_s=20))
    async with at_work(stage):
        await trio.sleep(90)
    assert stage.probe.heard("clock.jump") == []


async def test_a_fire_that_could_not_be_opened_is_tried_again_and_keeps_nobody_waiting(
    autojump_clock: MockClock,
) -> None:
    stage = staged(FakeFires({"p": [10 * S], "q": [10 * S]}, faults=1))
    async with at_work(stage):
        await trio.sleep(60)
    assert stage.fires.seen() == [("q@10000", 10.0), ("p@10000", 40.0)]
    assert [each["plan"] for each in stage.probe.heard("schedule.open_failed")] == ["p"]


async def test_a_missed_run_that_could_not_be_opened_is_tried_again(autojump_clock: MockClock) -> None:
    owed = Fire("p", START - 5, "catchup")
    stage = staged(FakeFires({"p": []}, owed=[owed], faults=1))
    async with at_work(stage):
        await trio.sleep(1)
    assert [fire for fire, _ in stage.fires.opened] == [owed]


async def test_a_later_fire_of_the_plan_takes_the_place_of_one_that_could_not_be_opened(
    autojump_clock: MockClock,
) -> None:
    stage = staged(FakeFires({"p": [10 * S, 20 * S]}, faults=1))
    async with at_work(stage):
        await trio.sleep(60)
    assert stage.fires.seen() == [("p@20000", 20.0)]


async def test_a_refusal_is_said_and_not_tried_again(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [10 * S]}, refusals={"p": Refused("scheduler_busy")}))
    async with at_work(stage):
        await trio.sleep(60)
    assert stage.offered == []
    [said] = stage.probe.heard("schedule.refused")
    assert (said["plan"], said["at"], said["reason"]) == ("p", START + 10 * S, "scheduler_busy")


async def test_a_slot_that_nobody_takes_is_said_and_left_to_recovery(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [10 * S]}))
    stage.answer = Refused("queue_full")
    async with at_work(stage):
        await trio.sleep(60)
    assert [each["reason"] for each in stage.probe.heard("schedule.refused")] == ["queue_full"]
    assert len(stage.fires.opened) == 1


async def test_new_plans_are_looked_at_when_they_come(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({}))
    async with at_work(stage):
        await trio.sleep(1)
        stage.fires.plans["p"] = [4 * S]
        stage.mailbox.tell(Reload())
        await trio.sleep(5)
    assert stage.fires.seen() == [("p@4000", 4.0)]


async def test_told_to_stop_it_opens_nothing_more(autojump_clock: MockClock) -> None:
    stage = staged(FakeFires({"p": [10 * S]}))
    async with at_work(stage) as ctx:
        await trio.sleep(9.9)
        ctx.stop()
        await trio.sleep(5)
    assert stage.fires.opened == []


@pytest.mark.parametrize("opening_s", [0, 1])
async def test_told_to_stop_while_opening_it_ends_what_it_has_begun(
    autojump_clock: MockClock, opening_s: float
) -> None:
    stage = staged(FakeFires({"p": [10 * S], "q": [20 * S]}, opening_s=opening_s))

    async def slow() -> None:
        await trio.sleep(5)

    stage.offering = slow
    async with at_work(stage) as ctx:
        await trio.sleep(12)
        ctx.stop()
    assert stage.offered == ["p@10000"]
