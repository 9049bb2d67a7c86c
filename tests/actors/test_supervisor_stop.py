"""The stop comes in two steps, in reverse order, the foundation last; and it ends whatever the actors do."""

from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import BoundedScope, Budget, CancelOrigin, Child, Context, End, Ended, GiveUp, Supervisor, run_bounded
from actors.kit.supervisor import Actor
from actors.kit.testing import Probe
from tests.actors.trees import Log, failing, growing, ignoring, steady, wedged_until
from tests.actors.works import cleaning_up_for


def bounded_work(ends: list[End], *, timeout_ms: float, clean_up_s: float) -> Actor:
    """An actor that does one bounded piece of work and writes down how it ended."""

    async def settle(end: End) -> None:
        ends.append(end)

    async def actor(ctx: Context) -> None:
        ctx.started()
        with ctx.bounded(BoundedScope(timeout_ms)) as scope:
            await run_bounded(scope, cleaning_up_for(clean_up_s), settle)

    return actor


async def test_the_last_to_start_is_the_first_to_go_and_the_next_is_told_when_it_has_gone(
    log: Log, autojump_clock: MockClock
) -> None:
    async with growing(*(steady(log, name, stopping_s=0.3) for name in "abc")) as tree:
        await tree.supervisor.up.wait()
        await tree.stop()
    assert [log.at(name, "told") for name in "cba"] == [[0], [0.3], [0.6]]
    assert log.order("gone") == ["c", "b", "a"]


async def test_one_that_is_slow_to_go_does_not_keep_the_next_from_being_told(
    log: Log, autojump_clock: MockClock
) -> None:
    async with growing(*(steady(log, name, stopping_s=3) for name in "abc")) as tree:
        await tree.supervisor.up.wait()
        await tree.stop()
    assert [log.at(name, "told") for name in "cba"] == [[0], [0.4], [0.8]]
    assert [log.at(name, "gone") for name in "cba"] == [[3], [3.4], [3.8]], "nobody was cut before the grace was over"


async def test_the_foundation_is_told_when_nobody_above_is_left_wherever_it_stands(
    log: Log, autojump_clock: MockClock
) -> None:
    ground = replace(steady(log, "ground", stopping_s=1), foundation=True)
    async with growing(steady(log, "a", stopping_s=3), ground, steady(log, "b", stopping_s=3)) as tree:
        await tree.supervisor.up.wait()
        await tree.stop()
    assert log.order("gone") == ["b", "a", "ground"]
    assert log.at("ground", "told") == log.at("a", "gone")


async def test_actors_that_ignore_their_stop_are_cut_when_the_one_grace_is_over(
    log: Log, autojump_clock: MockClock
) -> None:
    ground = replace(steady(log, "ground"), foundation=True)
    deaf = [Child(name, ignoring(log, name)) for name in "ab"]
    async with growing(ground, *deaf) as tree:
        await tree.supervisor.up.wait()
        await tree.stop()
    assert [log.at(name, "gone") for name in ("a", "b", "ground")] == [[4], [4], [4]]
    assert [note["actor"] for note in tree.probe.heard("actor.cut")] == ["b", "a"]
    assert tree.failure is None


async def test_a_bounded_scope_has_ended_with_shutdown_long_before_its_actor_is_cut(autojump_clock: MockClock) -> None:
    ends = list[End]()
    async with growing(Child("run", bounded_work(ends, timeout_ms=60_000, clean_up_s=1))) as tree:
        await tree.supervisor.up.wait()
        await tree.stop()
        assert ends == [Ended(CancelOrigin.SHUTDOWN, "stopping")]
        assert trio.current_time() == 1
        assert tree.probe.heard("actor.cut") == []


async def test_a_tree_cancelled_from_outside_says_so_to_its_scopes_before_their_deadlines_can_pass(
    autojump_clock: MockClock,
) -> None:
    ends = list[End]()
    tree = Supervisor([Child("run", bounded_work(ends, timeout_ms=2_000, clean_up_s=5))], Probe().hooks())
    with trio.move_on_after(1) as outside:
        await tree.run()
    assert outside.cancelled_caught
    assert ends == [Ended(None, "from above")]


async def test_a_child_that_never_says_that_it_is_up_can_be_stopped(log: Log, autojump_clock: MockClock) -> None:
    async def silent(ctx: Context) -> None:
        await ctx.wait_stopping()
        log.say("silent", "gone")

    async with growing(steady(log, "a"), Child("silent", silent), steady(log, "never")) as tree:
        await trio.sleep(1)
        await tree.stop()
        assert trio.current_time() == 1
    assert log.order("gone") == ["silent", "a"]
    assert log.at("never", "begins") == []
    assert not tree.supervisor.up.is_set()


async def test_a_child_that_waits_to_be_started_again_is_not(log: Log, autojump_clock: MockClock) -> None:
    slow = Budget(backoff_ms=60_000, backoff_max_ms=60_000)
    async with growing(Child("frail", failing(log, "frail", after_s=1), budget=slow)) as tree:
        await trio.sleep(2)
        await tree.stop()
        assert trio.current_time() == 2
    assert log.at("frail", "begins") == [0]


async def test_an_actor_that_fails_on_its_way_out_is_noted_and_neither_restarted_nor_given_up(
    log: Log, autojump_clock: MockClock
) -> None:
    async def stumbling(ctx: Context) -> None:
        log.say("stumbling", "begins")
        ctx.started()
        await ctx.wait_stopping()
        raise OSError("on the way out")

    async with growing(Child("stumbling", stumbling, budget=Budget(intensity=0))) as tree:
        await tree.supervisor.up.wait()
        await tree.stop()
    assert log.at("stumbling", "begins") == [0]
    assert tree.failure is None
    assert tree.probe.heard("actor.failed") == [{"actor": "stumbling", "error": "OSError('on the way out')"}]


async def test_an_actor_that_answers_its_cut_with_an_error_beside_the_cancellation_is_gone_all_the_same(
    log: Log, autojump_clock: MockClock
) -> None:
    async def raising_both(ctx: Context) -> None:
        ctx.started()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            try:
                await trio.sleep_forever()
            finally:
                raise OSError("torn")

    ground = replace(steady(log, "ground"), foundation=True)
    async with growing(ground, Child("torn", raising_both)) as tree:
        await tree.supervisor.up.wait()
        await tree.stop()
    assert tree.probe.heard("actor.failed") == [{"actor": "torn", "error": "OSError('torn')"}]
    assert log.at("ground", "gone") == [4]
    assert tree.failure is None


async def test_a_second_word_to_stop_changes_nothing(log: Log, autojump_clock: MockClock) -> None:
    async with growing(*(steady(log, name, stopping_s=0.3) for name in "ab")) as tree:
        await tree.supervisor.up.wait()
        tree.supervisor.stop()
        await trio.sleep(0.1)
        tree.supervisor.stop()
        await tree.stop()
        tree.supervisor.stop()
    assert log.order("told") == ["b", "a"]
    assert log.at("a", "gone") == [0.6]


@pytest.mark.parametrize("failed", [False, True])
async def test_who_neither_stops_nor_hears_the_cut_is_named_once_everybody_else_is_gone(
    log: Log, autojump_clock: MockClock, failed: bool
) -> None:
    release, told = trio.Event(), list[tuple[list[str], bool, float]]()

    def stuck(names: list[str], failed: bool) -> None:
        told.append((names, failed, round(trio.current_time(), 3)))
        assert log.order("gone") == ["above", "ground"]
        release.set()

    ground = replace(steady(log, "ground"), foundation=True)
    broken = Child("broken", failing(log, "broken", after_s=0), budget=Budget(intensity=0))
    others = [broken] if failed else []
    async with growing(
        ground, Child("wedged", wedged_until(log, "wedged", release)), steady(log, "above"), *others, stuck=stuck
    ) as tree:
        await wait_all_tasks_blocked()
        await tree.stop()
    assert told == [(["wedged"], failed, 4.4)]
    assert isinstance(tree.failure, GiveUp) is failed


async def test_a_foundation_that_is_wedged_is_named_too(log: Log, autojump_clock: MockClock) -> None:
    release, told = trio.Event(), list[tuple[list[str], float]]()

    def stuck(names: list[str], failed: bool) -> None:
        told.append((names, round(trio.current_time(), 3)))
        release.set()

    ground = Child("ground", wedged_until(log, "ground", release), foundation=True)
    async with growing(ground, steady(log, "above"), stuck=stuck) as tree:
        await tree.supervisor.up.wait()
        await tree.stop()
    assert told == [(["ground"], 2.9)]
