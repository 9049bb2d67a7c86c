"""One door of admission and one run a slot: waiting, beginning, heart-beating, ending, and whom a cancel reaches."""

from collections.abc import Mapping

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import CancelOrigin, Ended, Finished, Mailbox, NoAnswer
from actors.kit.testing import Probe, running
from actors.ports import Admitted, Busy, Cancel, Lost, Offer, Refused, Settled
from actors.runs import LiveRun, Runs
from actors.slot_runner import Parts, slot_runner
from tests.actors.fakes import Execute, FakeSlots, Killer, Meet, staged
from tests.actors.works import Work, for_ever


def lasting(seconds: float) -> Work:
    async def work() -> object:
        await trio.sleep(seconds)
        return "done"

    return work


def doing(works: Mapping[str, Work], started: list[tuple[str, float]] | None = None) -> Execute:
    """Executes each slot's work and writes down who started when."""

    async def execute(slot: str, live: LiveRun) -> object:
        if started is not None:
            started.append((slot, trio.current_time()))
        return await works[slot]()

    return execute


def raising(error: Exception) -> Meet:
    async def meet(slot: str) -> None:
        raise error

    return meet


def waiting(seconds: float) -> Meet:
    async def meet(slot: str) -> None:
        await trio.sleep(seconds)

    return meet


async def test_an_offered_slot_is_begun_worked_on_and_finished_once(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a")
    async with staged(slots, doing({"a": lasting(10)})) as stage:
        assert await stage.offer("a") == slots.admissions["a"]
        await stage.finished()
        assert slots.ends_of("a") == [("finish", Finished("done"))]
        assert stage.runs.live == {}
        assert slots.leases == {}


async def test_every_run_has_an_owner_of_its_own_and_knows_when_it_was_claimed(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a", "b")
    async with staged(slots, doing({"a": lasting(10), "b": lasting(10)})) as stage:
        for slot in "ab":
            await stage.offer(slot)
            await trio.sleep(20)
    first, second = slots.runs
    assert first.owner != second.owner
    assert second.started_at - first.started_at == 20_000


async def test_heartbeats_go_on_as_long_as_the_run_and_no_longer(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a")
    async with staged(slots, doing({"a": lasting(100)})) as stage:
        await stage.offer("a")
        await trio.sleep(1_000)
        assert slots.beats == [("a", 30), ("a", 60), ("a", 90)]


async def test_whoever_decides_about_admission_is_told_of_every_run_that_waits_or_works(
    autojump_clock: MockClock,
) -> None:
    slots = FakeSlots.of("a", "b", "c")
    async with staged(slots, doing({"a": lasting(10), "b": lasting(10), "c": lasting(10)})) as stage:
        for slot in "abc":
            await stage.offer(slot)
        a, b = Busy("a", "plan-of-a", "lane"), Busy("b", "plan-of-b", "lane")
        assert slots.busy == [(), (a,), (a, b)]
        await trio.sleep(60)
        await stage.offer("a")
        assert slots.busy[-1] == ()


async def test_a_slot_that_is_not_admitted_is_not_run(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a")
    slots.also("other", plan="plan-of-a")
    async with staged(slots, doing({"a": lasting(10)})) as stage:
        await stage.offer("a")
        assert await stage.offer("other") == Refused("scheduler_busy")
        await trio.sleep(60)
    assert [slot for slot, _ in slots.begun] == ["a"]


async def test_an_admission_that_fails_is_the_askers_error_and_the_door_stays_open(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a")
    async with staged(slots, doing({"a": lasting(10)})) as stage:
        slots.meet["admit"] = raising(OSError("disk"))
        with pytest.raises(OSError, match="disk"):
            await stage.offer("a")
        del slots.meet["admit"]
        assert isinstance(await stage.offer("a"), Admitted)
        assert stage.probe.heard("actor.failed") == []


async def test_nothing_is_admitted_while_the_home_of_runs_is_closed(autojump_clock: MockClock) -> None:
    slots, mailbox = FakeSlots.of("a"), Mailbox[Offer | Cancel](1)
    parts = Parts(slots, doing({}), Runs(), lambda: "owner", lambda: None, heartbeat_ms=1, drain_window_ms=1)
    async with running(lambda ctx: slot_runner(ctx, mailbox, parts), Probe().hooks()):
        assert await mailbox.ask(Offer("a"), 1_000) == Refused("stopping")
    assert slots.begun == []


async def test_neither_a_delay_nor_the_wait_for_the_lane_eats_the_budget(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a", "b", timeout_ms=100_000, delay_ms=50_000)
    started = list[tuple[str, float]]()
    async with staged(slots, doing({"a": for_ever, "b": lasting(99)}, started)) as stage:
        await stage.offer("a")
        await trio.sleep(1)
        await stage.offer("b")
        await stage.finished(times=2)
    assert started == [("a", 50), ("b", 150)]
    assert slots.ends_of("b") == [("finish", Finished("done"))]


@pytest.mark.case("slots", 59)
async def test_a_run_that_times_out_ends_alone(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a", "b", capacity=2, timeout_ms=100_000)
    async with staged(slots, doing({"a": for_ever, "b": for_ever})) as stage:
        await stage.offer("a")
        await trio.sleep(50)
        await stage.offer("b")
        await stage.finished()
        assert trio.current_time() == 100
        assert slots.ends_of("a") == [("finish", Ended(CancelOrigin.TIMEOUT, "Execution timeout after 100000ms"))]
        assert slots.ends_of("b") == []
        assert list(stage.runs.live) == ["b"]


@pytest.mark.case("slots", 20)
async def test_whoever_loses_the_claim_lets_the_outbox_be_drained_once_and_does_nothing_else(
    autojump_clock: MockClock,
) -> None:
    slots, started = FakeSlots.of("a", "b"), list[tuple[str, float]]()
    slots.begins["a"] = Lost()
    async with staged(slots, doing({"a": for_ever, "b": for_ever}, started)) as stage:
        await stage.offer("a")
        await stage.offer("b")
        await wait_all_tasks_blocked()
        assert stage.drains == [0]
        assert started == [("b", 0)], "its permit went to the next"
        assert slots.settlements == []
        assert stage.probe.heard("run.failed") == []


async def test_a_slot_with_nothing_left_to_run_is_not_run(autojump_clock: MockClock) -> None:
    slots, started = FakeSlots.of("a"), list[tuple[str, float]]()
    slots.begins["a"] = Settled("success")
    async with staged(slots, doing({"a": for_ever}, started)) as stage:
        await stage.offer("a")
        await trio.sleep(60)
        assert stage.runs.live == {}
    assert (started, slots.settlements, stage.drains, slots.beats) == ([], [], [], [])


@pytest.mark.parametrize("port", ["begin", "finish"])
async def test_a_ledger_that_fails_a_run_is_noted_and_holds_up_nobody(autojump_clock: MockClock, port: str) -> None:
    slots = FakeSlots.of("a", "b")
    async with staged(slots, doing({"a": lasting(10), "b": lasting(10)})) as stage:
        slots.meet[port] = raising(OSError("disk"))
        await stage.offer("a")
        await trio.sleep(15)
        assert any("OSError('disk')" in repr(note) for note in stage.probe.notes)
        assert stage.runs.live == {}
        del slots.meet[port]
        await stage.offer("b")
        await trio.sleep(15)
        assert slots.ends_of("b") == [("finish", Finished("done"))]
        assert stage.probe.heard("actor.failed") == []


async def test_a_settlement_that_the_ledger_never_answers_frees_the_lane_all_the_same(
    autojump_clock: MockClock,
) -> None:
    slots, started = FakeSlots.of("a", "b"), list[tuple[str, float]]()
    slots.meet["finish"] = waiting(10**6)
    async with staged(slots, doing({"a": lasting(10), "b": lasting(10)}, started)) as stage:
        await stage.offer("a")
        await stage.offer("b")
        await trio.sleep(20)
        assert started == [("a", 0), ("b", 15)]
        assert "TooSlowError" in repr(stage.probe.heard("run.failed"))


async def test_a_cancel_reaches_the_live_run_of_its_slot_and_no_other(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a", "b", capacity=2)
    async with staged(slots, doing({"a": for_ever, "b": for_ever})) as stage:
        await stage.offer("a")
        await stage.offer("b")
        assert not await stage.cancel("unknown", CancelOrigin.CONSUMER)
        assert await stage.cancel("a", CancelOrigin.CONSUMER, "cancelled by its job")
        await stage.finished()
        assert slots.ends_of("a") == [("finish", Ended(CancelOrigin.CONSUMER, "cancelled by its job"))]
        assert not await stage.cancel("a", CancelOrigin.CONSUMER)
        assert list(stage.runs.live) == ["b"]


@pytest.mark.case("slots", 57)
async def test_a_cancel_of_a_queued_slot_leaves_the_live_run_alone_and_finds_nothing_to_abort(
    autojump_clock: MockClock,
) -> None:
    slots = FakeSlots.of("live", "queued", "next")
    async with staged(slots, doing({"live": lasting(100), "next": lasting(1)})) as stage:
        for slot in ("live", "queued", "next"):
            await stage.offer(slot)
        assert not await stage.cancel("queued", CancelOrigin.CONSUMER)
        await trio.sleep(10)
        assert list(stage.runs.live) == ["live", "next"], "the cancelled one waits no longer"
        await stage.finished(times=2)
    assert [slot for slot, _ in slots.begun] == ["live", "next"]
    assert slots.ends_of("live") == [("finish", Finished("done"))]


async def test_a_run_that_waits_for_its_lane_at_the_stop_never_begins(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("live", "queued", "delayed")
    slots.admissions["delayed"] = Admitted("plan", "other", 1, 1_000, delay_ms=60_000)
    async with staged(slots, doing({"live": for_ever})) as stage:
        for slot in ("live", "queued", "delayed"):
            await stage.offer(slot)
        await wait_all_tasks_blocked()
        await stage.stop()
    assert [slot for slot, _ in slots.begun] == ["live"]
    assert [each.slot for each in slots.settlements] == ["live"]


async def test_a_run_cancelled_in_the_instant_in_which_its_turn_comes_never_begins(autojump_clock: MockClock) -> None:
    slots = FakeSlots.of("a", "b")
    async with staged(slots, doing({"a": for_ever, "b": for_ever})) as stage:
        await stage.offer("a")
        await stage.offer("b")
        await wait_all_tasks_blocked()
        lives = stage.runs.live
        stage.runs.give_up(lives["a"])  # the permit goes to b, which has not yet heard of it
        lives["b"].scope.end(CancelOrigin.CONSUMER)
        await wait_all_tasks_blocked()
        assert [slot for slot, _ in slots.begun] == ["a"]


async def test_a_restarted_runner_finds_the_runs_of_its_former_life(autojump_clock: MockClock) -> None:
    slots, killer = FakeSlots.of("a", "b"), Killer()
    slots.also("sibling", plan="plan-of-a")
    async with staged(slots, doing({"a": for_ever}), runner=killer) as stage:
        await stage.offer("a")
        await stage.offer("b")
        await wait_all_tasks_blocked()
        killer.kill()
        await stage.probe.until("actor.restarting")
        assert await stage.offer("sibling") == Refused("scheduler_busy")
        assert {busy.slot for busy in slots.busy[-1]} == {"a", "b"}
        assert await stage.cancel("a", CancelOrigin.CONSUMER)
        await stage.finished()
        assert slots.ends_of("a") == [("finish", Ended(CancelOrigin.CONSUMER))]


async def test_an_asker_learns_at_once_that_the_runner_died_over_its_offer(autojump_clock: MockClock) -> None:
    slots, killer = FakeSlots.of("a"), Killer()
    slots.meet["admit"] = waiting(50)
    async with staged(slots, doing({"a": for_ever}), runner=killer) as stage, trio.open_nursery() as nursery:

        async def kill() -> None:
            await trio.sleep(5)
            killer.kill()

        nursery.start_soon(kill)
        with pytest.raises(NoAnswer, match="Offer"):
            await stage.offer("a")
        assert trio.current_time() == 5
