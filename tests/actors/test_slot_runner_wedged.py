"""A run that cannot be ended keeps its task and nothing else: lane, plan and entry are free, its slot settled once."""

import threading
from functools import partial

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import CancelOrigin, Ended
from actors.ports import Admitted, Lost, Verdict
from actors.runs import LiveRun
from tests.actors.fakes import Execute, FakeSlots, Stage, staged
from tests.actors.works import Broken

TIMEOUT_S, WINDOW_S = 1_800, 30
LIMIT_S = 60
"""For `fail_after`, where a broken program would wait for ever."""
TIMEOUT = Ended(CancelOrigin.TIMEOUT, "Execution timeout after 1800000ms")
SHUTDOWN = Ended(CancelOrigin.SHUTDOWN, "stopping")


@pytest.fixture
def release() -> trio.Event:
    return trio.Event()


@pytest.fixture
def started() -> list[tuple[str, float]]:
    return []


@pytest.fixture
def wedging(release: trio.Event, started: list[tuple[str, float]]) -> Execute:
    """The slot "wedged" hears nothing until it is released; every other one is done at once."""

    async def execute(slot: str, live: LiveRun) -> object:
        started.append((slot, trio.current_time()))
        if slot == "wedged":
            with trio.CancelScope(shield=True):
                await release.wait()
        return "done"

    return execute


async def until_abandoned(stage: Stage) -> None:
    await stage.probe.until("run.abandoned")
    await wait_all_tasks_blocked()


async def test_lane_and_plan_and_entry_are_free_within_a_second_of_the_drain_window(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute, started: list[tuple[str, float]]
) -> None:
    slots = FakeSlots.of("wedged", "next")
    slots.also("sibling", plan="plan-of-wedged")
    async with staged(slots, wedging, release=release) as stage:
        await stage.offer("wedged")
        await stage.offer("next")
        await until_abandoned(stage)
        assert trio.current_time() <= TIMEOUT_S + WINDOW_S + 1
        assert slots.ends_of("wedged") == [("abandon", TIMEOUT)]
        assert stage.runs.live == {}
        assert [slot for slot, _ in started] == ["wedged", "next"]
        assert isinstance(await stage.offer("sibling"), Admitted)
        await wait_all_tasks_blocked()
        assert [slot for slot, _ in started] == ["wedged", "next", "sibling"]


async def test_a_run_that_unwinds_inside_the_drain_window_is_not_abandoned(
    autojump_clock: MockClock, release: trio.Event
) -> None:
    async def execute(slot: str, live: LiveRun) -> object:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(WINDOW_S - 1)
        return None

    slots = FakeSlots.of("slow")
    async with staged(slots, execute, release=release) as stage:
        await stage.offer("slow")
        await stage.finished()
        assert slots.ends_of("slow") == [("finish", TIMEOUT)]
        assert stage.probe.heard("run.abandoned") == []


@pytest.mark.case("slots", 50)
async def test_an_abandoned_run_that_returns_ten_minutes_later_writes_nothing_and_breaks_nothing(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute
) -> None:
    slots = FakeSlots.of("wedged", "next")
    async with staged(slots, wedging) as stage:
        await stage.offer("wedged")
        await until_abandoned(stage)
        await trio.sleep(600)
        release.set()
        await wait_all_tasks_blocked()
        assert slots.ends_of("wedged") == [("abandon", TIMEOUT)]
        assert [note["slot"] for note in stage.probe.heard("run.late")] == ["wedged"]
        assert stage.probe.heard("run.failed") == stage.probe.heard("actor.failed") == []
        await stage.offer("next")
        await stage.finished()
    assert [port for port, _ in slots.ends_of("next")] == ["finish"]


async def test_the_late_error_of_an_abandoned_run_is_said_and_reaches_nobody(
    autojump_clock: MockClock, release: trio.Event
) -> None:
    async def execute(slot: str, live: LiveRun) -> object:
        with trio.CancelScope(shield=True):
            await release.wait()
        raise Broken("late")

    slots = FakeSlots.of("wedged")
    async with staged(slots, execute) as stage:
        await stage.offer("wedged")
        await until_abandoned(stage)
        release.set()
        await wait_all_tasks_blocked()
        assert "Broken('late')" in str(stage.probe.heard("run.late"))
        assert slots.ends_of("wedged") == [("abandon", TIMEOUT)]
        assert stage.probe.heard("actor.failed") == []


@pytest.mark.parametrize("origin", [CancelOrigin.CONSUMER, CancelOrigin.LEASE_LOST])
async def test_a_wedged_run_is_abandoned_in_the_name_of_whoever_ended_it(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute, origin: CancelOrigin
) -> None:
    slots = FakeSlots.of("wedged")
    async with staged(slots, wedging, release=release) as stage:
        await stage.offer("wedged")
        await trio.sleep(10)
        await stage.cancel("wedged", origin)
        await until_abandoned(stage)
        assert trio.current_time() <= 10 + WINDOW_S + 1
        assert slots.ends_of("wedged") == [("abandon", Ended(origin))]


async def test_a_heart_does_not_beat_for_a_wedged_run(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute
) -> None:
    slots = FakeSlots.of("wedged", timeout_ms=100_000)
    async with staged(slots, wedging, release=release) as stage:
        await stage.offer("wedged")
        await trio.sleep(1_000)
    assert slots.beats == [("wedged", 30), ("wedged", 60), ("wedged", 90)]


async def test_at_a_stop_the_watcher_settles_a_wedged_run_after_the_grace_and_before_the_foundation_closes(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute
) -> None:
    slots = FakeSlots.of("wedged")
    settled_while = list[list[str]]()

    async def look(slot: str) -> None:
        settled_while.append(list(stage.ended))

    slots.meet["abandon"] = look
    async with staged(slots, wedging, release=release) as stage:
        await stage.offer("wedged")
        await trio.sleep(10)
        await stage.stop()
        [(names, at)] = stage.stuck
        assert names == ["runs"]
        assert 14 <= at <= 15
        assert settled_while == [[]], "the foundation was still there"
        assert stage.ended == ["foundation"]
    assert slots.ends_of("wedged") == [("abandon", SHUTDOWN)]
    assert slots.leases == {}


async def test_a_stop_inside_the_drain_window_settles_the_wedged_run_as_the_timeout_it_was(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute
) -> None:
    slots = FakeSlots.of("wedged")
    async with staged(slots, wedging, release=release) as stage:
        await stage.offer("wedged")
        await trio.sleep(TIMEOUT_S + 10)
        await stage.stop()
    assert slots.ends_of("wedged") == [("abandon", TIMEOUT)]


async def test_a_run_abandoned_before_the_stop_is_not_settled_again_by_it(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute
) -> None:
    slots = FakeSlots.of("wedged")
    async with staged(slots, wedging, release=release) as stage:
        await stage.offer("wedged")
        await until_abandoned(stage)
        await stage.stop()
        assert [names for names, _ in stage.stuck] == [["runs"]]
    assert slots.ends_of("wedged") == [("abandon", TIMEOUT)]


async def test_a_run_whose_settlement_is_under_way_when_its_watcher_runs_out_of_time_is_settled_once(
    autojump_clock: MockClock,
) -> None:
    async def execute(slot: str, live: LiveRun) -> object:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(3.9)  # of a grace of four
        return None

    async def slowly(slot: str) -> None:
        await trio.sleep(0.4)

    slots = FakeSlots.of("slow")
    slots.meet["finish"] = slowly
    async with staged(slots, execute) as stage:
        await stage.offer("slow")
        await trio.sleep(10)
        await stage.stop()
    assert [(each.port, each.end, type(each.answer)) for each in slots.settlements] == [("finish", SHUTDOWN, Verdict)]


async def test_a_failing_abandonment_is_said_at_once_and_frees_the_lane_all_the_same(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute, started: list[tuple[str, float]]
) -> None:
    async def fail(slot: str) -> None:
        raise OSError("disk")

    slots = FakeSlots.of("wedged", "next")
    slots.meet["abandon"] = fail
    async with staged(slots, wedging, release=release) as stage:
        await stage.offer("wedged")
        await stage.offer("next")
        await stage.finished()
        assert [slot for slot, _ in started] == ["wedged", "next"]
        assert "OSError('disk')" in str(stage.probe.notes)
        assert stage.probe.heard("actor.failed") == []


@pytest.mark.parametrize("hangs_s", [2, 4.5])
async def test_a_claim_that_comes_only_after_the_word_to_stop_is_given_back(
    autojump_clock: MockClock, started: list[tuple[str, float]], wedging: Execute, hangs_s: float
) -> None:
    async def hang(slot: str) -> None:
        await trio.sleep(hangs_s)

    slots = FakeSlots.of("a")
    slots.meet["begin"] = hang
    async with staged(slots, wedging) as stage:
        await stage.offer("a")
        await wait_all_tasks_blocked()
        await stage.stop()
    assert slots.ends_of("a") == [("finish", SHUTDOWN)]
    assert slots.leases == {}
    assert started == []


async def test_a_run_that_another_process_took_over_while_it_was_wedged_is_told_so_when_abandoned(
    autojump_clock: MockClock, release: trio.Event, wedging: Execute
) -> None:
    slots = FakeSlots.of("wedged")
    async with staged(slots, wedging, release=release) as stage:
        await stage.offer("wedged")
        await trio.sleep(TIMEOUT_S + 1)
        slots.leases["wedged"] = "another process"
        await until_abandoned(stage)
    assert [each.answer for each in slots.settlements] == [Lost()]
    assert slots.leases == {"wedged": "another process"}


@pytest.mark.parametrize("abandon_on_cancel", [True, False])
async def test_threads_that_never_return_hold_up_neither_lane_nor_the_threads_of_the_next_run(
    abandon_on_cancel: bool,
) -> None:
    """All eight that a run may have."""
    asleep = threading.Event()

    async def execute(slot: str, live: LiveRun) -> object:
        blocking, threads = (asleep.wait, 8) if slot == "wedged" else (threading.get_ident, 1)
        call = partial(trio.to_thread.run_sync, blocking, abandon_on_cancel=abandon_on_cancel, limiter=live.threads)
        async with trio.open_nursery() as nursery:
            for _ in range(threads):
                nursery.start_soon(call)
        return None

    slots = FakeSlots.of("wedged", "next")
    slots.admissions["wedged"] = Admitted("plan", "lane", 1, 20)
    try:
        async with staged(slots, execute, drain_window_ms=20) as stage:
            await stage.offer("wedged")
            await stage.offer("next")
            with trio.fail_after(LIMIT_S):
                await stage.finished(times=2 if abandon_on_cancel else 1)
            assert stage.runs.live == {}
            asleep.set()
    finally:
        asleep.set()
    end = ("finish" if abandon_on_cancel else "abandon", Ended(CancelOrigin.TIMEOUT, "Execution timeout after 20ms"))
    assert slots.ends_of("wedged") == [end]
    assert [port for port, _ in slots.ends_of("next")] == ["finish"]
