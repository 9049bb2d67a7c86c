"""A context tells its actor, and all that lives inside it, that it is time to stop; and it lets a settlement end."""

import pytest
import trio
from trio.testing import MockClock

from actors.kit import BoundedScope, CancelOrigin, Context, Ended, Mailbox
from actors.kit.testing import Probe

SHUTDOWN = Ended(CancelOrigin.SHUTDOWN, "stopping")


def a_context(probe: Probe | None = None) -> Context:
    return Context("actor", (probe or Probe()).hooks())


async def test_told_to_stop_every_bounded_scope_ends_with_shutdown_also_those_of_actors_inside() -> None:
    ctx = a_context()
    with ctx.inner("child") as child, child.inner("grandchild") as grandchild:
        scopes = [BoundedScope(), BoundedScope(), BoundedScope()]
        with ctx.bounded(scopes[0]), child.bounded(scopes[1]), grandchild.bounded(scopes[2]):
            ctx.stop()
            assert [scope.ended for scope in scopes] == [SHUTDOWN] * 3
            assert child.stopping
            assert grandchild.stopping


async def test_whatever_is_opened_after_the_word_to_stop_hears_it_too(autojump_clock: MockClock) -> None:
    ctx = a_context()
    ctx.stop()
    with ctx.bounded(BoundedScope()) as scope:
        assert scope.ended == SHUTDOWN
    with ctx.inner("child") as child:
        assert child.stopping
    with ctx.waiting():
        await trio.sleep_forever()
    assert await ctx.next_letter(Mailbox[int](1)) is None
    await ctx.wait_stopping()
    assert trio.current_time() == 0


async def test_a_scope_that_was_closed_hears_nothing_more() -> None:
    ctx, scope = a_context(), BoundedScope()
    with ctx.bounded(scope):
        pass
    with ctx.inner("child") as child:
        pass
    ctx.stop()
    ctx.cut()
    assert scope.ended is None
    assert not child.stopping


async def test_a_cut_reaches_every_bounded_scope_as_from_above_and_cancels_nothing() -> None:
    ctx = a_context()
    with ctx.inner("child") as child, child.bounded(BoundedScope()) as scope, scope:
        ctx.cut()
        assert scope.ended == Ended(None, "from above")
        await trio.lowlevel.checkpoint()


async def test_idle_waiting_ends_at_the_word_to_stop_without_an_error(autojump_clock: MockClock) -> None:
    ctx = a_context()
    async with trio.open_nursery() as nursery:

        async def stop_soon() -> None:
            await trio.sleep(3)
            ctx.stop()

        nursery.start_soon(stop_soon)
        assert await ctx.next_letter(Mailbox[int](1), 60_000) is None
        assert trio.current_time() == 3


async def test_idle_waiting_ends_when_its_time_is_over(autojump_clock: MockClock) -> None:
    assert await a_context().next_letter(Mailbox[int](1), 2_500) is None
    assert trio.current_time() == 2.5


async def test_a_letter_that_comes_in_the_instant_of_the_stop_is_still_read(autojump_clock: MockClock) -> None:
    ctx, box = a_context(), Mailbox[str](1)
    async with trio.open_nursery() as nursery:

        async def tell_and_stop() -> None:
            await trio.sleep(1)
            box.tell("owed")
            ctx.stop()

        nursery.start_soon(tell_and_stop)
        letter = await ctx.next_letter(box)
        assert letter is not None
        assert letter.message == "owed"


async def test_a_settlement_goes_on_under_cancellation(autojump_clock: MockClock) -> None:
    with trio.CancelScope() as cancelled:
        cancelled.cancel()
        with a_context().settling():
            await trio.sleep(4.9)
    assert trio.current_time() == 4.9


async def test_a_settlement_that_takes_too_long_is_an_error_and_no_wedge(autojump_clock: MockClock) -> None:
    with trio.CancelScope() as cancelled:
        cancelled.cancel()
        with pytest.raises(trio.TooSlowError), a_context().settling():
            await trio.sleep_forever()
    assert trio.current_time() == 5


async def test_what_an_actor_says_carries_its_name() -> None:
    probe = Probe()
    with a_context(probe).inner("actor/child") as child:
        child.note("row.seen", row=7)
        child.point("row.locked")
    assert probe.notes == [("row.seen", {"actor": "actor/child", "row": 7})]
    assert probe.points == ["row.locked"]
