"""How a run in flight is written down, by who or what ended it: exactly once, in the name of the first."""

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import CancelOrigin, Crashed, End, Ended, Finished
from actors.runs import LiveRun
from tests.actors.fakes import FakeSlots, Killer, Stage, staged
from tests.actors.works import Broken, Work, breaking_when_cancelled, cleaning_up_for, for_ever, raising_a_mixed_group

TIMEOUT = Ended(CancelOrigin.TIMEOUT, "Execution timeout after 1800000ms")
SHUTDOWN = Ended(CancelOrigin.SHUTDOWN, "stopping")
CONSUMER = Ended(CancelOrigin.CONSUMER, "cancelled by its job")
LEASE_LOST = Ended(CancelOrigin.LEASE_LOST, "another owner has the slot")
FROM_ABOVE = Ended(None)


class Scene:
    """A run of the slot "a" in flight, and the means to end it."""

    def __init__(self, stage: Stage, home: Killer, crash: trio.Event) -> None:
        self.stage, self._home, self._crash = stage, home, crash

    async def deadline(self) -> None:
        await trio.sleep_until(1_800)

    async def shutdown(self) -> None:
        self.stage.supervisor.stop()
        await wait_all_tasks_blocked()

    async def consumer(self) -> None:
        self.stage.runs.live["a"].scope.end(CancelOrigin.CONSUMER, "cancelled by its job")

    async def lease_lost(self) -> None:
        """Another process takes the slot; the next heartbeat finds out."""
        self.stage.slots.leases["a"] = "another process"
        await trio.sleep(30)

    async def from_above(self) -> None:
        """The home of runs fails, and its runs are cancelled without a word."""
        self._home.kill()
        await wait_all_tasks_blocked()

    async def exception(self) -> None:
        self._crash.set()


async def written_down(work: Work, *strikes: Callable[[Scene], Awaitable[None]]) -> list[tuple[str, End]]:
    """How the run of one slot was settled when they struck one after the other, ten seconds in."""
    slots, home, crash = FakeSlots.of("a"), Killer(), trio.Event()

    async def crashing() -> None:
        await crash.wait()
        raise Broken("a bug")

    async def execute(slot: str, live: LiveRun) -> object:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crashing)
            result = await work()
            nursery.cancel_scope.cancel()
        return result

    async with staged(slots, execute, home=home) as stage:
        await stage.offer("a")
        await trio.sleep(10)
        scene = Scene(stage, home, crash)
        for strike in strikes:
            await strike(scene)
        await trio.sleep(60)
        assert stage.runs.live == {}
    return slots.ends_of("a")


async def coming_back() -> object:
    await trio.sleep(20)
    return "whole"


@pytest.mark.parametrize("work", [for_ever, cleaning_up_for(2), breaking_when_cancelled, raising_a_mixed_group])
@pytest.mark.parametrize(
    ("strike", "end"),
    [
        pytest.param(Scene.deadline, TIMEOUT, id="its own deadline"),
        pytest.param(Scene.shutdown, SHUTDOWN, id="the first step of a stop"),
        pytest.param(Scene.consumer, CONSUMER, id="its consumer"),
        pytest.param(Scene.lease_lost, LEASE_LOST, id="a heartbeat that finds another owner"),
    ],
)
async def test_a_run_in_flight_is_finished_once_in_the_name_of_whoever_ended_it(
    autojump_clock: MockClock, work: Work, strike: Callable[[Scene], Awaitable[None]], end: End
) -> None:
    assert await written_down(work, strike) == [("finish", end)]


@pytest.mark.parametrize(
    ("work", "settled_by"),
    [
        pytest.param(for_ever, "finish", id="it unwinds at once"),
        pytest.param(cleaning_up_for(2), "abandon", id="it does not, and its watcher cannot wait"),
    ],
)
async def test_a_run_cancelled_from_above_is_settled_as_nobodys_decision(
    autojump_clock: MockClock, work: Work, settled_by: str
) -> None:
    [(port, end)] = await written_down(work, Scene.from_above)
    assert port == settled_by
    assert isinstance(end, Ended)
    assert end.origin is None


async def test_a_run_that_raises_is_finished_as_a_crash(autojump_clock: MockClock) -> None:
    [(port, end)] = await written_down(for_ever, Scene.exception)
    assert port == "finish"
    assert isinstance(end, Crashed)
    assert isinstance(end.error, Broken)


async def test_a_run_that_comes_back_is_finished_with_what_it_brought(autojump_clock: MockClock) -> None:
    assert await written_down(coming_back) == [("finish", Finished("whole"))]


@pytest.mark.parametrize(
    ("first", "second", "end"),
    [
        pytest.param(Scene.consumer, Scene.shutdown, CONSUMER, id="consumer, then shutdown"),
        pytest.param(Scene.shutdown, Scene.consumer, SHUTDOWN, id="shutdown, then consumer"),
        pytest.param(Scene.deadline, Scene.shutdown, TIMEOUT, id="deadline, then shutdown"),
        pytest.param(Scene.deadline, Scene.consumer, TIMEOUT, id="deadline, then consumer"),
        pytest.param(Scene.lease_lost, Scene.shutdown, LEASE_LOST, id="lost lease, then shutdown"),
        pytest.param(Scene.consumer, Scene.lease_lost, CONSUMER, id="consumer, then lost lease"),
    ],
)
async def test_of_two_that_meet_in_one_run_the_first_is_written_down(
    autojump_clock: MockClock,
    first: Callable[[Scene], Awaitable[None]],
    second: Callable[[Scene], Awaitable[None]],
    end: End,
) -> None:
    assert await written_down(cleaning_up_for(2), first, second) == [("finish", end)]


async def test_no_heart_beats_from_the_instant_of_the_end_on_however_long_the_run_unwinds(
    autojump_clock: MockClock,
) -> None:
    async def execute(slot: str, live: LiveRun) -> object:
        return await cleaning_up_for(25)()

    slots = FakeSlots.of("a", "b", timeout_ms=120_000, capacity=2)  # the deadline falls on the fourth beat
    async with staged(slots, execute) as stage:
        await stage.offer("a")
        await stage.offer("b")
        await trio.sleep(75)
        await stage.cancel("b", CancelOrigin.CONSUMER)
        await stage.finished(times=2)
    assert sorted(at for slot, at in slots.beats if slot == "a") == [30, 60, 90]
    assert sorted(at for slot, at in slots.beats if slot == "b") == [30, 60]


async def test_a_value_that_came_back_after_a_deadline_without_a_checkpoint_counts(autojump_clock: MockClock) -> None:
    async def execute(slot: str, live: LiveRun) -> object:
        autojump_clock.jump(1_801)
        return "whole"

    slots = FakeSlots.of("a")
    async with staged(slots, execute) as stage:
        await stage.offer("a")
        await stage.finished()
    assert slots.ends_of("a") == [("finish", Finished("whole"))]


async def test_a_value_that_came_back_from_behind_a_shield_counts_though_the_heart_has_stopped(
    autojump_clock: MockClock,
) -> None:
    async def execute(slot: str, live: LiveRun) -> object:
        with trio.CancelScope(shield=True):
            await trio.sleep(100)
        return "whole"

    slots = FakeSlots.of("a")
    async with staged(slots, execute) as stage:
        await stage.offer("a")
        await trio.sleep(80)
        await stage.cancel("a", CancelOrigin.CONSUMER)
        await stage.finished()
    assert slots.ends_of("a") == [("finish", Finished("whole"))]


async def test_what_a_run_raised_while_it_was_being_ended_is_said(autojump_clock: MockClock) -> None:
    async def execute(slot: str, live: LiveRun) -> object:
        return await breaking_when_cancelled()

    async with staged(FakeSlots.of("a"), execute) as stage:
        await stage.offer("a")
        await trio.sleep(10)
        await stage.cancel("a", CancelOrigin.CONSUMER)
        await stage.finished()
        [note] = stage.probe.heard("run.finished")
        assert (note["end"], note["error"]) == ("consumer", "Broken('in the clean-up')")


async def test_runs_cancelled_with_their_home_leave_it_ready_for_the_next(autojump_clock: MockClock) -> None:
    async def execute(slot: str, live: LiveRun) -> object:
        return await coming_back()

    slots, home = FakeSlots.of("a", "b"), Killer()
    async with staged(slots, execute, home=home) as stage:
        await stage.offer("a")
        await stage.offer("b")
        await trio.sleep(10)
        home.kill()
        await stage.probe.until("actor.restarting")
        await trio.sleep(0.2)
        assert [end.origin for _, end in slots.ends_of("a") if isinstance(end, Ended)] == [None]
        assert slots.ends_of("b") == [], "it never began"
        await stage.offer("a")
        await stage.finished(times=2)
        assert slots.ends_of("a")[1:] == [("finish", Finished("whole"))]
