"""A tree starts in its order, restarts what fails within a budget, and gives up in an orderly way."""

from itertools import pairwise

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import Budget, Child, Context, GiveUp, Kind
from tests.actors.trees import Log, failing, growing, steady


async def test_each_child_begins_once_the_one_before_it_does_its_work(log: Log, autojump_clock: MockClock) -> None:
    children = [steady(log, name, starting_s=2) for name in "abc"]
    async with growing(*children) as tree:
        await tree.supervisor.up.wait()
        assert [log.at(name, "begins") for name in "abc"] == [[0], [2], [4]]
        assert [log.at(name, "up") for name in "abc"] == [[2], [4], [6]]
        assert trio.current_time() == 6


async def test_a_tree_is_not_up_while_one_child_is_not(log: Log, autojump_clock: MockClock) -> None:
    async with growing(steady(log, "a"), steady(log, "b", starting_s=5)) as tree:
        with trio.move_on_after(4):
            await tree.supervisor.up.wait()
        assert not tree.supervisor.up.is_set()


async def test_a_child_that_fails_on_every_start_is_tried_ever_more_slowly_until_its_budget_is_spent(
    log: Log, autojump_clock: MockClock
) -> None:
    broken = Child("broken", failing(log, "broken", starts=False), budget=Budget(intensity=5, backoff_ms=100))
    async with growing(steady(log, "ground"), broken, steady(log, "after")) as tree:
        await tree.over.wait()
    assert log.at("broken", "begins") == [0, 0.1, 0.3, 0.7, 1.5, 3.1]
    assert log.at("after", "begins") == [], "nobody starts above a child that is not up"
    assert isinstance(tree.failure, GiveUp)
    assert tree.failure.child == "broken"
    assert isinstance(tree.failure.__cause__, RuntimeError)
    assert [note["actor"] for note in tree.probe.heard("actor.given_up")] == ["broken"]


async def test_a_spent_budget_stops_the_others_in_reverse_order(log: Log, autojump_clock: MockClock) -> None:
    broken = Child("broken", failing(log, "broken", after_s=1), budget=Budget(intensity=0))
    async with growing(*(steady(log, name) for name in "ab"), broken, *(steady(log, name) for name in "cd")) as tree:
        await tree.over.wait()
    assert log.order("gone") == ["d", "c", "b", "a"]
    assert isinstance(tree.failure, GiveUp)


async def test_a_child_that_fails_now_and_then_is_forgiven(log: Log, autojump_clock: MockClock) -> None:
    frail = Child("frail", failing(log, "frail", after_s=61), budget=Budget(intensity=1, period_ms=60_000))
    async with growing(frail) as tree:
        await trio.sleep(61.1 * 39 + 30)
        begins = log.at("frail", "begins")
        assert len(begins) == 40
        assert {round(later - sooner, 3) for sooner, later in pairwise(begins)} == {61.1}, "the back-off starts afresh"
        assert tree.failure is None


@pytest.mark.parametrize(
    ("kind", "fails", "lives"),
    [
        (Kind.PERMANENT, True, 3),
        (Kind.PERMANENT, False, 3),
        (Kind.TRANSIENT, True, 3),
        (Kind.TRANSIENT, False, 1),
        (Kind.TEMPORARY, True, 1),
        (Kind.TEMPORARY, False, 1),
    ],
)
async def test_a_child_lives_again_as_its_kind_says(
    log: Log, autojump_clock: MockClock, kind: Kind, fails: bool, lives: int
) -> None:
    async def actor(ctx: Context) -> None:
        log.say("child", "begins")
        ctx.started()
        if len(log.lines) == 3:
            await ctx.wait_stopping()
        elif fails:
            raise RuntimeError

    async with growing(Child("child", actor, kind)) as tree:
        await trio.sleep(60)
        assert len(log.at("child", "begins")) == lives
        assert not tree.over.is_set(), "the tree goes on without it"


async def test_whoever_comes_after_a_child_that_ended_without_a_word_may_start(
    log: Log, autojump_clock: MockClock
) -> None:
    async def brief(ctx: Context) -> None:
        log.say("brief", "gone")

    async with growing(Child("brief", brief, Kind.TRANSIENT), steady(log, "next")) as tree:
        await tree.supervisor.up.wait()
        assert log.order("up") == ["next"]


async def test_a_failure_leaves_the_neighbours_alone_and_is_noted_without_its_wrapping(
    log: Log, autojump_clock: MockClock
) -> None:
    async def frail(ctx: Context) -> None:
        log.say("frail", "begins")
        ctx.started()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise OSError("disk")

    async with growing(steady(log, "a"), Child("frail", frail), steady(log, "b")) as tree:
        await tree.supervisor.up.wait()
        await tree.probe.until("actor.restarting")
        await trio.sleep(0.11)
        assert len(log.at("frail", "begins")) == 2
        assert [log.at(name, "begins") for name in "ab"] == [[0], [0]]
        assert tree.probe.heard("actor.failed")[0] == {"actor": "frail", "error": "OSError('disk')"}
        assert tree.probe.heard("actor.restarting")[0] == {"actor": "frail", "after_ms": 100}


async def test_each_life_has_a_context_of_its_own(log: Log, autojump_clock: MockClock) -> None:
    lives = list[Context]()

    async def frail(ctx: Context) -> None:
        lives.append(ctx)
        ctx.started()
        if len(lives) == 1:
            raise RuntimeError
        await ctx.wait_stopping()
        log.say("second life", "told")

    async with growing(Child("frail", frail)) as tree:
        await tree.probe.until("actor.restarting")
        await trio.sleep(1)
        await tree.stop()
    assert len(lives) == 2
    assert lives[0] is not lives[1]
    assert log.order("told") == ["second life"]


async def test_a_tree_stopped_before_it_ran_starts_nobody(log: Log) -> None:
    async with growing(steady(log, "a"), steady(log, "b")) as tree:
        tree.supervisor.stop()
        await wait_all_tasks_blocked()
        assert tree.over.is_set()
    assert log.lines == []


@pytest.mark.parametrize(
    ("after_s", "kind", "lives"),
    [(3, Kind.TEMPORARY, 1), (3, Kind.PERMANENT, 3)],
    ids=["nobody starts it again", "its budget is spent"],
)
async def test_who_is_gone_for_good_says_farewell_once_and_not_between_two_lives(
    log: Log, autojump_clock: MockClock, after_s: float, kind: Kind, lives: int
) -> None:
    budget = Budget(intensity=2, backoff_ms=100)
    frail = Child(
        "frail", failing(log, "frail", after_s=after_s), kind, budget, farewell=lambda: log.say("frail", "farewell")
    )
    async with growing(frail) as tree:
        await trio.sleep(60)
        assert (tree.failure is not None) is (kind is Kind.PERMANENT)
    assert len(log.at("frail", "begins")) == lives
    assert log.at("frail", "farewell") == [log.at("frail", "begins")[-1] + after_s]


async def test_who_never_began_because_of_a_stop_says_farewell_too(log: Log, autojump_clock: MockClock) -> None:
    late = Child("late", steady(log, "late").actor, farewell=lambda: log.say("late", "farewell"))
    async with growing(steady(log, "slow", starting_s=5), late) as tree:
        await trio.sleep(1)
        await tree.stop()
    assert (log.at("late", "begins"), len(log.at("late", "farewell"))) == ([], 1)
