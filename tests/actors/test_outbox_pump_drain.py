"""A drain is answered when what was due has been attempted, by whomever, and never sooner."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import NoAnswer
from tests.actors.fake_outbox import FakeOutbox, Sender, pumping


async def test_a_drain_of_nothing_is_answered_at_once(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    async with pumping(outbox, sender) as pump:
        assert await pump.drain() == 0
        assert trio.current_time() == 0


async def test_a_drain_is_answered_when_everything_due_has_been_attempted(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    async with pumping(outbox, sender) as pump:
        await trio.sleep(1)
        outbox.put(*"abcdef", route="A")
        outbox.put("g", route="B")
        sender.takes_s = dict.fromkeys("abcdefg", 2)
        sender.answers = {"a": ["30000"], "b": ["dead"]}
        assert await pump.drain() == 7
        assert trio.current_time() == 13
        assert outbox.status(*"abcdefg") == ["pending", "dead", *["done"] * 5]


async def test_a_drain_waits_for_lanes_that_were_at_work_before_it(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"ab")
    sender.takes_s = dict.fromkeys("ab", 5)
    async with pumping(outbox, sender) as pump:
        await trio.sleep(2)
        outbox.put("c")
        assert await pump.drain() == 3
        assert trio.current_time() == 10
        assert outbox.status(*"abc") == ["done"] * 3


async def test_a_drain_of_one_round_takes_one_batch_of_every_route(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    async with pumping(outbox, sender) as pump:
        await trio.sleep(1)
        outbox.put(*"abcdef", route="A")
        outbox.put("g", route="B")
        sender.takes_s = dict.fromkeys("abcdefg", 1)
        assert await pump.drain(rounds=1) == 5
        assert trio.current_time() == 5


async def test_a_drain_beside_a_lane_that_hangs_attempts_all_else_and_ends_at_the_askers_deadline(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("hanging", "behind it", route="A")
    sender.takes_s = {"hanging": 300}
    async with pumping(outbox, sender) as pump:
        await trio.sleep(1)
        outbox.put("b", route="B")
        with pytest.raises(NoAnswer):
            await pump.drain(within_ms=20_000)
        assert sender.at("b") == [1]
        outbox.put("c", route="C")
        pump.wake()
        await wait_all_tasks_blocked()
        assert sender.at("c") == [21], "the pump itself does not wait"


async def test_a_drain_that_meets_a_bug_is_answered_all_the_same(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    async with pumping(outbox, sender) as pump:
        await trio.sleep(1)
        outbox.put(*"ab")
        sender.answers = {"a": [OSError("disk")]}
        assert await pump.drain() <= 1
        assert trio.current_time() == 1


async def test_a_drain_is_answered_at_the_stop_with_what_it_did_by_then(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    async with pumping(outbox, sender) as pump:
        await trio.sleep(1)
        outbox.put(*"abc")
        sender.takes_s = dict.fromkeys("abc", 3)
        async with trio.open_nursery() as nursery:

            async def stop_soon() -> None:
                await trio.sleep(4)
                await pump.tree.stop()

            nursery.start_soon(stop_soon)
            assert await pump.drain() == 2
            assert trio.current_time() == 7
    assert outbox.status(*"abc") == ["done", "done", "pending"]
    assert [port for port, _, at in outbox.calls if at > 5] == ["record"], "no further round begins"


async def test_whoever_asks_a_pump_that_is_cut_gets_no_answer_and_does_not_wait_for_one(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    async with pumping(outbox, sender) as pump:
        await trio.sleep(1)
        outbox.put("a")
        sender.takes_s = {"a": 300}
        async with trio.open_nursery() as nursery:

            async def stop_soon() -> None:
                await trio.sleep(4)
                await pump.tree.stop()

            nursery.start_soon(stop_soon)
            with pytest.raises(NoAnswer):
                await pump.drain(within_ms=200_000)
            assert trio.current_time() == 9
