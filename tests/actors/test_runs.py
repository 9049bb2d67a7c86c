"""The home of runs: who is live, whose turn it is in a lane, and what remains of a run that was given up."""

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import CancelOrigin, Context, Crashed, End, Ended, Finished
from actors.kit.testing import Probe, running
from actors.ports import Busy, Lost, Settled
from actors.runs import LiveRun, Runs, told
from tests.actors.trees import Log


def a_run(slot: str, lane: str = "lane") -> LiveRun:
    return LiveRun(Busy(slot, f"plan-of-{slot}", lane))


@pytest.fixture
def runs() -> Runs:
    return Runs()


Body = Callable[[Context], Awaitable[None]]


def holding(runs: Runs, live: LiveRun, log: Log, *, capacity: int = 1, for_s: float = 1) -> Body:
    """A run that waits for its permit and holds it for a while."""

    async def body(ctx: Context) -> None:
        await runs.permit(live, capacity)
        log.say(live.busy.slot, "holds")
        await trio.sleep(for_s)
        log.say(live.busy.slot, "done")

    return body


async def started(runs: Runs, log: Log, *slots: str, capacity: int = 1, lane: str = "lane") -> list[LiveRun]:
    """The slots' runs, asking for their permits one after the other."""
    lives = [a_run(slot, lane) for slot in slots]
    for live in lives:
        runs.spawn(live, holding(runs, live, log, capacity=capacity))
        await wait_all_tasks_blocked()
    return lives


@pytest.mark.case("slots", 74)
async def test_a_lane_takes_one_at_a_time_in_the_order_of_asking_and_lanes_do_not_wait_for_each_other(
    runs: Runs, log: Log, autojump_clock: MockClock
) -> None:
    async with running(runs.actor, Probe().hooks()):
        await started(runs, log, "a1", "a2", "a3", "a4", lane="pixiv-account:A")
        await started(runs, log, "b1", lane="pixiv-account:B")
        await trio.sleep(5)
    assert [log.at(slot, "holds") for slot in ("a1", "a2", "a3", "a4")] == [[0], [1], [2], [3]]
    assert log.at("b1", "holds") == [0]


async def test_as_many_hold_a_permit_as_the_lane_has(runs: Runs, log: Log, autojump_clock: MockClock) -> None:
    async with running(runs.actor, Probe().hooks()):
        await started(runs, log, *"abcde", capacity=2)
        await trio.sleep(5)
    assert [log.at(slot, "holds")[0] for slot in "abcde"] == [0, 0, 1, 1, 2]


async def test_a_raised_capacity_is_seen_by_the_next_that_asks_and_by_those_that_wait(
    runs: Runs, log: Log, autojump_clock: MockClock
) -> None:
    async with running(runs.actor, Probe().hooks()):
        await started(runs, log, *"abc", capacity=1)
        await trio.sleep(0.5)
        await started(runs, log, "d", capacity=3)
        assert sorted(log.order("holds")) == ["a", "b", "c"], "whoever waited longer goes first"
        await trio.sleep(5)
    assert log.at("d", "holds") == [1]


async def test_a_cut_capacity_takes_no_permit_away_and_holds_the_next_back(
    runs: Runs, log: Log, autojump_clock: MockClock
) -> None:
    async with running(runs.actor, Probe().hooks()):
        first, second = await started(runs, log, *"ab", capacity=2)
        await trio.sleep(0.5)
        await started(runs, log, "c", capacity=1)
        assert log.order("done") == []
        assert set(runs.live.values()) >= {first, second}
        await trio.sleep(5)
    assert log.at("a", "done") == log.at("b", "done") == [1], "both went on to their own end"
    assert log.at("c", "holds") == [1]


@pytest.mark.case("slots", 76)
async def test_a_permit_released_twice_counts_once(runs: Runs, log: Log, autojump_clock: MockClock) -> None:
    async with running(runs.actor, Probe().hooks()):
        first, *_ = await started(runs, log, *"abc")
        runs.give_up(first)
        runs.give_up(first)
        await trio.sleep(5)  # and once more, when the run returns
    assert [log.at(slot, "holds") for slot in "abc"] == [[0], [0], [1]]


async def test_a_run_that_ends_while_it_waits_takes_no_permit_with_it(
    runs: Runs, log: Log, autojump_clock: MockClock
) -> None:
    async def impatient(ctx: Context) -> None:
        with trio.move_on_after(0.5):
            await runs.permit(waiting, 1)

    async with running(runs.actor, Probe().hooks()):
        await started(runs, log, "a")
        waiting = a_run("b")
        runs.spawn(waiting, impatient)
        await started(runs, log, "c")
        await trio.sleep(0.6)
        assert "b" not in runs.live
        await trio.sleep(5)
    assert log.at("c", "holds") == [1]


async def test_a_slot_has_one_run_at_a_time(runs: Runs, log: Log, autojump_clock: MockClock) -> None:
    async with running(runs.actor, Probe().hooks()):
        await started(runs, log, "a")
        with pytest.raises(RuntimeError):
            runs.spawn(a_run("a"), holding(runs, a_run("a"), log))
        await trio.sleep(2)
        await started(runs, log, "a")


async def test_nothing_is_taken_before_the_start_nor_after_the_stop(
    runs: Runs, log: Log, autojump_clock: MockClock
) -> None:
    assert not runs.taking
    async with running(runs.actor, Probe().hooks()) as ctx:
        assert runs.taking
        ctx.stop()
        await wait_all_tasks_blocked()
        assert not runs.taking
        with pytest.raises(RuntimeError):
            runs.spawn(a_run("a"), holding(runs, a_run("a"), log))
    assert runs.live == {}


async def test_a_run_entered_in_the_instant_of_the_stop_hears_it(
    runs: Runs, log: Log, autojump_clock: MockClock
) -> None:
    live = a_run("a")

    async def body(ctx: Context) -> None:
        with ctx.bounded(live.scope):
            assert live.scope.ended == Ended(CancelOrigin.SHUTDOWN, "stopping")

    async with running(runs.actor, Probe().hooks()) as ctx:
        ctx.stop()
        runs.spawn(live, body)
    assert live.scope.ended is not None


async def test_a_run_that_fails_is_noted_and_leaves_nothing_behind(
    runs: Runs, log: Log, autojump_clock: MockClock
) -> None:
    probe = Probe()
    failing = a_run("a")

    async def body(ctx: Context) -> None:
        await runs.permit(failing, 1)
        async with trio.open_nursery():
            raise OSError("disk")

    async with running(runs.actor, probe.hooks()):
        runs.spawn(failing, body)
        await wait_all_tasks_blocked()
        await started(runs, log, "b")
        assert log.at("b", "holds") == [0]
        assert list(runs.live) == ["b"]
        assert probe.heard("run.failed") == [{"actor": "under-test", "slot": "a", "error": "OSError('disk')"}]


async def test_a_run_that_was_given_up_takes_nothing_from_its_successor_when_it_returns_at_last(
    runs: Runs, log: Log, autojump_clock: MockClock
) -> None:
    release = trio.Event()
    old = a_run("a")

    async def wedge(ctx: Context) -> None:
        await runs.permit(old, 1)
        with trio.CancelScope(shield=True):
            await release.wait()

    async with running(runs.actor, Probe().hooks()):
        runs.spawn(old, wedge)
        await wait_all_tasks_blocked()
        runs.give_up(old)
        (new,) = await started(runs, log, "a")
        assert log.at("a", "holds") == [0]
        release.set()
        await wait_all_tasks_blocked()
        assert runs.live == {"a": new}
        await started(runs, log, "b")
        assert log.at("b", "holds") == [], "the successor still has the permit"


async def test_the_home_closes_when_the_last_run_has_returned(runs: Runs, log: Log, autojump_clock: MockClock) -> None:
    async with running(runs.actor, Probe().hooks()) as ctx:
        await started(runs, log, *"ab", capacity=2)
        ctx.stop()
    assert sorted(log.order("done")) == ["a", "b"]
    assert trio.current_time() == 1


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (Finished(None), {"end": "finished"}),
        (Finished(Lost()), {"end": "lost"}),
        (Finished(Settled("success")), {"end": "settled", "status": "success"}),
        (Ended(CancelOrigin.TIMEOUT, "after 5ms"), {"end": "timeout", "reason": "after 5ms"}),
        (Ended(None), {"end": "cancelled"}),
    ],
)
def test_the_log_tells_an_end_in_words(end: End, words: dict[str, object]) -> None:
    assert told(end) == words


def test_the_log_keeps_the_error_of_a_crash_so_that_its_place_can_be_told() -> None:
    error = OSError("disk")
    assert told(Crashed(error)) == {"end": "crashed", "error": error}
