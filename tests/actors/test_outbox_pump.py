"""Rows go out in the order of their route, when they are due, whatever other routes, hints or the ledger do."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import Mailbox
from actors.ports import Drain, Wake
from tests.actors.fake_outbox import LEASE_MS, FakeOutbox, Meet, Sender, pumping

POLL_S = 10


class Deaf(Mailbox[Wake | Drain]):
    """A box that loses every hint."""

    def tell(self, message: Wake | Drain) -> bool:
        return False


def failing_for(name: str) -> Meet:
    async def meet(what: str) -> None:
        if what == name:
            raise OSError("disk")

    return meet


async def test_rows_of_a_route_go_out_one_after_the_other_each_recorded_before_the_next(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"abc")
    sender.takes_s = {"a": 3, "b": 2, "c": 1}
    async with pumping(outbox, sender):
        await trio.sleep(6.5)
        assert sender.sent == [("a", 0), ("b", 3), ("c", 5)]
        assert outbox.called("record") == [(("a",), 3), (("b",), 5), (("c",), 6)]


@pytest.mark.case("delivery", 107)
async def test_a_route_that_hangs_keeps_its_lease_and_its_order_and_delays_nobody_else(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("a1", "a2", route="A")
    outbox.put("b1", route="B")
    sender.takes_s = {"a1": 500}
    async with pumping(outbox, sender) as pump:
        await trio.sleep(100)
        outbox.put("b2", route="B")
        pump.wake()
        await trio.sleep(350)
        assert sorted(sender.sent) == [("a1", 0), ("b1", 0), ("b2", 100)]
        assert outbox.status("b1", "b2") == ["done", "done"]
        assert [at for ids, at in outbox.called("renew") if "a1" in ids] == [40.0 * n for n in range(1, 12)]
        assert all("a2" in ids for ids, _ in outbox.called("renew")), "the one that waits behind it is kept too"
        await trio.sleep(100)
    assert sender.at("a2") == [500]
    assert outbox.status("a1", "a2") == ["done", "done"]


async def test_a_row_that_takes_longer_than_its_lease_is_not_taken_by_another_worker(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("a")
    other = Sender()
    sender.takes_s = other.takes_s = {"a": 2 * LEASE_MS / 1000}
    async with pumping(outbox, sender), pumping(outbox, other, owner="another"):
        await trio.sleep(300)
    assert [*sender.sent, *other.sent] == [("a", 0)]


async def test_a_hint_is_followed_at_once(autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender) -> None:
    async with pumping(outbox, sender) as pump:
        await trio.sleep(3)
        outbox.put("a")
        pump.wake()
        await wait_all_tasks_blocked()
        assert sender.sent == [("a", 3)]


async def test_hints_are_only_hints_all_happens_within_a_poll_without_them(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"abcde")  # more than one batch
    async with pumping(outbox, sender, mailbox=Deaf(8)) as pump:
        await trio.sleep(3)
        assert outbox.status(*"abcde") == ["done"] * 4 + ["pending"]
        outbox.put("late")
        pump.wake()
        await trio.sleep(POLL_S)
        assert outbox.status("e", "late") == ["done", "done"]


async def test_more_rows_than_a_batch_are_no_reason_to_wait_for_a_poll(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    rows = [f"row-{n:02}" for n in range(11)]
    outbox.put(*rows)
    async with pumping(outbox, sender):
        await wait_all_tasks_blocked()
        assert [row for row, _ in sender.sent] == rows
        assert trio.current_time() == 0


async def test_a_row_that_becomes_due_is_sent_then_and_not_a_poll_later(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("later", in_ms=3_700)
    outbox.put("tried again")
    sender.answers = {"tried again": ["5200", "done"]}
    async with pumping(outbox, sender):
        await trio.sleep(POLL_S)
    assert sender.at("later") == [3.7]
    assert sender.at("tried again") == [0, 5.2]


async def test_a_row_due_in_this_very_millisecond_does_not_make_the_pump_spin(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("hanging", "waiting")
    sender.takes_s = {"hanging": 100}
    async with pumping(outbox, sender):
        await trio.sleep(99)
        assert len(outbox.called("due")) <= 99 / POLL_S + 1


async def test_a_row_that_is_no_longer_wanted_is_not_sent_and_the_next_one_is(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"abc")
    outbox.unwanted.add("b")
    async with pumping(outbox, sender):
        await wait_all_tasks_blocked()
    assert [row for row, _ in sender.sent] == ["a", "c"]
    assert [ids for ids, _ in outbox.called("record")] == [("a",), ("c",)]


@pytest.mark.case("delivery", 40)
async def test_a_row_that_fails_does_not_take_the_next_of_its_batch_with_it(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("content", "notice")
    sender.answers = {"content": ["30000"]}
    async with pumping(outbox, sender):
        await wait_all_tasks_blocked()
        assert outbox.status("content", "notice") == ["pending", "done"]


@pytest.mark.case("delivery", 44)
async def test_rows_are_sent_although_what_precedes_the_drain_fails(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("a")
    outbox.meet["missed"] = failing_for("")
    async with pumping(outbox, sender) as pump:
        await wait_all_tasks_blocked()
        assert outbox.status("a") == ["done"]
        assert pump.tree.probe.heard("pump.missed_failed")[0]["error"] == "OSError('disk')"


async def test_what_ended_unnoticed_is_rolled_up_before_anything_is_sent_and_one_bad_slot_stops_nothing(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("a")
    outbox.finished = ["bad", "good"]
    outbox.meet["roll_up"] = failing_for("bad")
    async with pumping(outbox, sender) as pump:
        await wait_all_tasks_blocked()
        assert outbox.finished == ["bad"]
        assert outbox.status("a") == ["done"]
        assert {each["slot"] for each in pump.tree.probe.heard("pump.roll_up_failed")} == {"bad"}


async def test_nothing_is_claimed_for_a_receiver_that_takes_nothing_and_its_rows_go_out_when_it_does(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("a", route="A")
    outbox.put("b", route="B")
    sender.unready = {"A": "http_503"}
    async with pumping(outbox, sender):
        await trio.sleep(1)
        assert sender.sent == [("b", 0)]
        assert {what for what, _ in outbox.called("defer")} == {("A", "http_503")}
        assert {route for (route,), _ in outbox.called("claim")} == {"B"}
        sender.unready.clear()
        await trio.sleep(POLL_S)
        assert sender.at("a") == [POLL_S]


async def test_a_pass_that_fails_is_noted_and_made_again_a_poll_later(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put("a")
    outbox.meet["due"] = failing_for("")
    async with pumping(outbox, sender) as pump:
        await trio.sleep(1)
        assert pump.tree.probe.heard("pump.pass_failed") != []
        del outbox.meet["due"]
        await trio.sleep(POLL_S)
        assert outbox.status("a") == ["done"]
        assert pump.tree.probe.heard("actor.failed") == []


@pytest.mark.parametrize(
    ("port", "name"), [("claim", "A"), ("cleared", "a1"), ("record", "a1"), ("attempt", "a1"), ("renew", "a1")]
)
async def test_a_bug_in_one_lane_leaves_the_others_and_the_pump_alone_and_its_rows_come_back(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender, port: str, name: str
) -> None:
    outbox.put("a1", "a2", route="A")
    outbox.put("b1", "b2", route="B")
    sender.takes_s = {"a1": 50, "b1": 55}
    if port == "attempt":
        sender.answers = {"a1": [OSError("disk")]}
    else:
        outbox.meet[port] = failing_for(name)
    async with pumping(outbox, sender) as pump:
        await trio.sleep(60)
        assert outbox.status("b1", "b2") == ["done", "done"]
        noted = pump.tree.probe.heard("lane.failed")[0]
        assert (noted["route"], noted["error"]) == ("A", "OSError('disk')")
        assert pump.tree.probe.heard("actor.failed") == []
        outbox.meet.clear()
        await trio.sleep(LEASE_MS / 1000 + 50 + POLL_S)
        assert outbox.status("a1", "a2") == ["done", "done"]


async def test_rows_behind_one_that_met_a_bug_do_not_wait_for_its_lease(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"abc")
    sender.answers = {"b": [OSError("disk")]}
    async with pumping(outbox, sender):
        await trio.sleep(POLL_S + 1)
        assert outbox.status(*"abc") == ["done", "processing", "done"]


async def test_a_pump_that_died_finds_everything_again_in_the_outbox(
    autojump_clock: MockClock, outbox: FakeOutbox, sender: Sender
) -> None:
    outbox.put(*"ab")
    sender.takes_s = {"a": 30}
    async with trio.open_nursery() as nursery:

        async def first_life() -> None:
            async with pumping(outbox, sender, owner="first"):
                await trio.sleep_forever()

        nursery.start_soon(first_life)
        await trio.sleep(5)
        nursery.cancel_scope.cancel()
    sender.takes_s = {}
    async with pumping(outbox, sender, owner="second"):
        await trio.sleep(LEASE_MS / 1000 + 1)
    assert sender.at("a") == [0, LEASE_MS / 1000]
    assert outbox.status(*"ab") == ["done", "done"]
