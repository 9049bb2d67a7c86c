"""A stopping pump begins no attempt, keeps no row that it has not sent, and leaves a cut attempt to the lease."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.actors.fake_outbox import FakeOutbox, Meet, Sender, pumping

GRACE_S = 4


def taking(seconds: float) -> Meet:
    async def meet(what: str) -> None:
        await trio.sleep(seconds)

    return meet


@pytest.mark.case("delivery", 39)
async def test_rows_claimed_and_not_sent_are_free_again_the_moment_the_stop_begins(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"abcd")
    sender.takes_s = {"a": 13}
    async with pumping(outbox, sender) as pump:
        await trio.sleep(10)
        pump.tree.supervisor.stop()
        await wait_all_tasks_blocked()
        assert outbox.status(*"bcd") == ["pending"] * 3
        assert [outbox.rows[row].attempts for row in "bcd"] == [0, 0, 0]
        await pump.tree.over.wait()
    assert [row for row, _ in sender.sent] == ["a"]
    assert [set(ids) for ids, _ in outbox.called("release")] == [set("bcd")]


async def test_an_attempt_that_ends_within_the_grace_is_recorded(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("a")
    sender.takes_s = {"a": 10 + GRACE_S - 0.1}
    async with pumping(outbox, sender) as pump:
        await trio.sleep(10)
        await pump.tree.stop()
        assert trio.current_time() == 10 + GRACE_S - 0.1
    assert outbox.status("a") == ["done"]


async def test_an_attempt_cut_at_the_grace_leaves_its_row_as_it_is(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"ab")
    sender.takes_s = {"a": 300}
    async with pumping(outbox, sender) as pump:
        await trio.sleep(10)
        await pump.tree.stop()
        assert trio.current_time() == 10 + GRACE_S
    assert outbox.status(*"ab") == ["processing", "pending"]
    assert outbox.rows["a"].attempts == 0
    assert outbox.called("record") == []
    assert [ids for ids, _ in outbox.called("release")] == [("b",)]


async def test_an_answer_that_is_being_recorded_when_the_grace_ends_is_recorded(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("a")
    outbox.meet["record"] = taking(GRACE_S + 0.2)
    async with pumping(outbox, sender) as pump:
        await wait_all_tasks_blocked()
        await pump.tree.stop()
    assert outbox.status("a") == ["done"]


async def test_rows_whose_claim_was_under_way_at_the_stop_are_given_back_unsent(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"ab")
    outbox.meet["claim"] = taking(1)
    async with pumping(outbox, sender) as pump:
        await wait_all_tasks_blocked()
        await pump.tree.stop()
    assert sender.sent == []
    assert outbox.status(*"ab") == ["pending", "pending"]


async def test_rows_not_sent_are_given_back_although_the_cut_comes_in_their_release(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"ab")
    sender.takes_s = {"a": 300}
    outbox.meet["release"] = taking(GRACE_S + 0.2)
    async with pumping(outbox, sender) as pump:
        await wait_all_tasks_blocked()
        await pump.tree.stop()
    assert outbox.status(*"ab") == ["processing", "pending"]


async def test_an_idle_pump_is_gone_at_once(autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender) -> None:
    async with pumping(outbox, sender) as pump:
        await trio.sleep(3)
        await pump.tree.stop()
        assert trio.current_time() == 3


async def test_a_failing_release_is_noted_and_the_leases_bring_the_rows_back(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    async def fail(row: str) -> None:
        raise OSError("disk")

    outbox.put(*"ab")
    sender.takes_s = {"a": 12}
    outbox.meet["release"] = fail
    async with pumping(outbox, sender) as pump:
        await trio.sleep(10)
        await pump.tree.stop()
        assert "OSError('disk')" in str(pump.tree.probe.heard("lane.failed"))
        assert pump.tree.probe.heard("actor.failed") == []
    assert outbox.status("b") == ["processing"]
