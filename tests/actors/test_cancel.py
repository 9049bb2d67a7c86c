"""A bounded scope knows who ended it, whoever came second, however slowly or badly the work unwinds."""

from collections.abc import Callable
from itertools import product

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import BoundedScope, CancelOrigin, Crashed, End, Ended, Finished, run_bounded
from tests.actors.works import (
    Broken,
    Work,
    breaking_when_cancelled,
    catching_every_exception,
    cleaning_up_for,
    for_ever,
    raising_a_mixed_group,
    wedged,
)

TIMEOUT, SHUTDOWN, CONSUMER, LEASE_LOST = CancelOrigin
ABOVE = None
FIRST_S, SECOND_S, CLEAN_UP_S = 1.0, 2.0, 3.0

Strike = Callable[[BoundedScope, trio.CancelScope], None]


def nothing(scope: BoundedScope, above: trio.CancelScope) -> None:
    """The deadline needs nobody."""


def cut_from_above(scope: BoundedScope, above: trio.CancelScope) -> None:
    """What the kit does in its second step."""
    scope.cut()
    above.cancel()


def ended_by(origin: CancelOrigin) -> Strike:
    def strike(scope: BoundedScope, above: trio.CancelScope) -> None:
        scope.end(origin, "by the test")

    return strike


STRIKES: dict[CancelOrigin | None, Strike] = {
    TIMEOUT: nothing,
    SHUTDOWN: ended_by(SHUTDOWN),
    CONSUMER: ended_by(CONSUMER),
    LEASE_LOST: ended_by(LEASE_LOST),
    ABOVE: cut_from_above,
}


def name_of(value: object) -> str:
    return "from above" if value is None else str(value.value) if isinstance(value, CancelOrigin) else ""


async def the_end_of(work: Work, *strikes: tuple[float, CancelOrigin | None]) -> End:
    """How the work's run was settled when each origin struck at its second."""
    deadlines = [at for at, origin in strikes if origin is TIMEOUT]
    scope = BoundedScope(*(at * 1000 for at in deadlines))
    ends: list[End] = []

    async def settle(end: End) -> None:
        ends.append(end)

    async with trio.open_nursery() as nursery:
        above = trio.CancelScope()

        async def strike_all() -> None:
            for at, origin in strikes:
                await trio.sleep_until(at)
                STRIKES[origin](scope, above)

        nursery.start_soon(strike_all)
        with above:
            await run_bounded(scope, work, settle)
    assert len(ends) == 1, "settled exactly once"
    return ends[0]


def origin_of(end: End) -> CancelOrigin | None:
    assert isinstance(end, Ended)
    return end.origin


@pytest.mark.parametrize("origin", STRIKES, ids=name_of)
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(for_ever, id="lets it pass"),
        pytest.param(catching_every_exception, id="catches every Exception"),
        pytest.param(cleaning_up_for(CLEAN_UP_S), id="cleans up slowly"),
        pytest.param(breaking_when_cancelled, id="breaks in its clean-up"),
        pytest.param(raising_a_mixed_group, id="raises a cancellation beside an error"),
    ],
)
async def test_the_end_names_its_origin_however_the_work_unwinds(
    autojump_clock: MockClock, work: Work, origin: CancelOrigin | None
) -> None:
    try:
        assert origin_of(await the_end_of(work, (FIRST_S, origin))) is origin
    except* Broken:  # a cancellation from above goes on upward, and whatever stands beside it with it
        assert (work, origin) == (raising_a_mixed_group, ABOVE)


@pytest.mark.parametrize(
    ("first", "second"),
    [pair for pair in product(STRIKES, repeat=2) if pair != (TIMEOUT, TIMEOUT)],
    ids=name_of,
)
async def test_the_first_origin_stands_when_another_meets_the_clean_up(
    autojump_clock: MockClock, first: CancelOrigin | None, second: CancelOrigin | None
) -> None:
    end = await the_end_of(cleaning_up_for(CLEAN_UP_S), (FIRST_S, first), (SECOND_S, second))
    assert origin_of(end) is first


@pytest.mark.parametrize("second", STRIKES, ids=name_of)
async def test_an_error_that_meets_an_origin_on_its_way_out_belongs_to_it_and_is_kept(
    autojump_clock: MockClock, second: CancelOrigin | None
) -> None:
    async def breaking_slowly() -> object:
        try:
            await trio.sleep_until(FIRST_S)
            raise Broken
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(CLEAN_UP_S)

    end = await the_end_of(breaking_slowly, (SECOND_S, second))
    assert origin_of(end) is second
    assert isinstance(end, Ended)
    assert isinstance(end.error, Broken)


@pytest.mark.parametrize("origin", [TIMEOUT, SHUTDOWN, CONSUMER, LEASE_LOST], ids=name_of)
@pytest.mark.parametrize("work", [breaking_when_cancelled, raising_a_mixed_group])
async def test_an_error_in_the_clean_up_is_no_crash_and_is_not_lost(
    autojump_clock: MockClock, work: Work, origin: CancelOrigin
) -> None:
    end = await the_end_of(work, (FIRST_S, origin))
    assert isinstance(end, Ended)
    assert isinstance(end.error, Broken)


async def test_a_timeout_says_what_the_budget_was(autojump_clock: MockClock) -> None:
    assert await the_end_of(for_ever, (1.5, TIMEOUT)) == Ended(TIMEOUT, "Execution timeout after 1500ms")


@pytest.mark.parametrize("late", [SHUTDOWN, CONSUMER, LEASE_LOST, ABOVE], ids=name_of)
async def test_a_deadline_of_the_same_instant_has_passed(autojump_clock: MockClock, late: CancelOrigin | None) -> None:
    with BoundedScope(1_000) as scope, trio.CancelScope() as shield:
        shield.shield = True
        await trio.sleep(1)
        STRIKES[late](scope, trio.CancelScope())
    assert scope.ended == Ended(TIMEOUT, "Execution timeout after 1000ms")


async def test_a_deadline_forgotten_in_a_clean_up_that_an_outer_cancel_ends_is_still_a_timeout(
    autojump_clock: MockClock,
) -> None:
    ends: list[End] = []

    async def settle(end: End) -> None:
        ends.append(end)

    with trio.move_on_after(2) as above:  # a cancel that told nobody
        await run_bounded(BoundedScope(1_000), cleaning_up_for(CLEAN_UP_S), settle)
    assert above.cancelled_caught
    assert [origin_of(end) for end in ends] == [TIMEOUT]


async def test_a_value_returned_after_a_deadline_that_met_no_checkpoint_counts(mock_clock: MockClock) -> None:
    async def working_through() -> object:
        mock_clock.jump(2)
        return "whole"

    assert await the_end_of(working_through, (FIRST_S, TIMEOUT)) == Finished("whole")


@pytest.mark.parametrize("origin", [TIMEOUT, SHUTDOWN, CONSUMER, LEASE_LOST], ids=name_of)
async def test_a_value_returned_from_behind_a_shield_counts(autojump_clock: MockClock, origin: CancelOrigin) -> None:
    release = trio.Event()
    async with trio.open_nursery() as nursery:

        async def let_go() -> None:
            await trio.sleep(SECOND_S)
            release.set()

        nursery.start_soon(let_go)
        assert await the_end_of(wedged(release), (FIRST_S, origin)) == Finished("late")


async def test_an_error_of_its_own_is_a_crash_and_a_group_of_one_is_opened() -> None:
    async def breaking_in_a_nursery() -> object:
        async with trio.open_nursery():
            raise Broken("alone")

    end = await the_end_of(breaking_in_a_nursery)
    assert isinstance(end, Crashed)
    assert isinstance(end.error, Broken)


async def test_a_cancellation_from_above_goes_on_after_the_settlement(autojump_clock: MockClock) -> None:
    with trio.CancelScope() as above:
        async with trio.open_nursery() as nursery:

            async def cancel_all() -> None:
                await trio.sleep(FIRST_S)
                above.cancel()

            nursery.start_soon(cancel_all)
            settled: list[End] = []

            async def settle(end: End) -> None:
                with trio.CancelScope(shield=True):
                    await trio.sleep(1)
                settled.append(end)

            await run_bounded(BoundedScope(), for_ever, settle)
    assert above.cancelled_caught
    assert [origin_of(end) for end in settled] == [ABOVE]


async def test_only_the_first_end_is_told_that_it_was_one_and_nobody_once_the_work_is_out() -> None:
    with BoundedScope() as scope:
        assert scope.end(SHUTDOWN)
        assert not scope.end(CONSUMER)
        await trio.sleep_forever()
    assert not scope.end(CONSUMER)
    scope.cut()
    assert scope.ended == Ended(SHUTDOWN)

    with BoundedScope() as whole:
        pass
    assert not whole.end(CONSUMER)
    whole.cut()
    assert whole.ended is None


async def test_a_scope_ended_before_its_work_begins_lets_it_do_nothing() -> None:
    scope, did = BoundedScope(), []
    scope.end(SHUTDOWN)
    with scope:
        await trio.lowlevel.checkpoint()
        did.append("work")
    assert did == []


async def test_a_budget_may_start_later_than_the_scope(autojump_clock: MockClock) -> None:
    with BoundedScope() as scope:
        await trio.sleep(10)
        scope.limit(1_000)
        await trio.sleep_forever()
    assert trio.current_time() == 11
    assert scope.ended == Ended(TIMEOUT, "Execution timeout after 1000ms")


@pytest.mark.parametrize(
    ("strike", "at"),
    [
        pytest.param(lambda scope: scope.end(SHUTDOWN), 1.0, id="an end"),
        pytest.param(lambda scope: scope.cut(), 1.0, id="a cut"),
        pytest.param(lambda scope: scope.limit(2_000), 3.0, id="a deadline set while waiting"),
        pytest.param(lambda scope: None, 5.0, id="the first deadline"),
    ],
)
async def test_a_watcher_hears_of_the_end_at_once_although_the_work_is_wedged(
    autojump_clock: MockClock, strike: Callable[[BoundedScope], object], at: float
) -> None:
    scope, release = BoundedScope(5_000), trio.Event()
    async with trio.open_nursery() as nursery:

        async def wedge() -> None:
            with scope:
                await wedged(release)()

        async def strike_soon() -> None:
            await trio.sleep(1)
            strike(scope)

        nursery.start_soon(wedge)
        nursery.start_soon(strike_soon)
        try:
            await scope.wait_over()
            assert trio.current_time() == at
            assert scope.ended is not None
        finally:
            release.set()


async def test_a_watcher_hears_that_the_work_is_out() -> None:
    async with trio.open_nursery() as nursery:
        scope, heard = BoundedScope(), trio.Event()

        async def watch() -> None:
            await scope.wait_over()
            heard.set()

        nursery.start_soon(watch)
        with scope:
            await wait_all_tasks_blocked()
            assert not heard.is_set()
        await heard.wait()
    assert scope.ended is None
