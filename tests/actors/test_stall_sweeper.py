"""The sweep: recover first, then end what nobody can rescue, and never what this process runs."""

from collections.abc import Callable, Sequence

import pytest
import trio
from trio.testing import MockClock

from actors.kit import Mailbox
from actors.kit.testing import Probe, running
from actors.ports import Admitted, Busy, Course, Refused, Tick, Unfinished
from actors.runs import LiveRun, Runs
from actors.stall_sweeper import Parts, stall_sweeper
from tests.actors.fake_sweep import FakeSweep

TICK_MS = 60_000


ADMITTED = Admitted(plan="p", lane="lane", capacity=1, timeout_ms=1_000)


def parts(sweep: FakeSweep, *refused: str, runs: Runs | None = None, on_offer: Callable[[str], object] = str) -> Parts:
    async def offer(slot: str) -> Admitted | Refused:
        sweep.did.append(("offered", slot))
        on_offer(slot)
        return Refused("scheduler_busy") if slot in refused else ADMITTED

    return Parts(slots=sweep, offer=offer, runs=runs or Runs(), tick_ms=TICK_MS)


def enter(runs: Runs, slot: str) -> None:
    """A live run of `slot`, as far as the registry is asked."""
    runs._live[slot] = LiveRun(Busy(slot, "p", "lane"))


async def swept(sweep: FakeSweep, joined: Parts) -> Probe:
    """One tick: the one that belongs to the start, and is over when whoever comes after may start."""
    probe = Probe()
    async with running(lambda ctx: stall_sweeper(ctx, Mailbox[Tick](1), joined), probe.hooks()):
        done = [*sweep.did]
    assert done == sweep.did
    return probe


async def test_the_first_sweep_is_part_of_the_start_and_recovers_before_it_ends() -> None:
    sweep = FakeSweep({"run": Course.DISPATCH, "settle": Course.SETTLE, "wait": Course.WAIT}, ["gone"])
    probe = await swept(sweep, parts(sweep))

    assert sweep.did == [("offered", "run"), ("settled", "settle"), ("ended", "gone")]
    assert probe.heard("stall.ended") == [
        {"actor": "under-test", "slot": "gone", "reason_code": "queued_too_long", "cells_failed": 2}
    ]


async def test_what_recovery_took_care_of_is_spared_and_what_it_could_not_start_is_not() -> None:
    needs = {"run": Course.DISPATCH, "refused": Course.DISPATCH, "settle": Course.SETTLE, "wait": Course.WAIT}
    sweep = FakeSweep(needs, [*needs])
    probe = await swept(sweep, parts(sweep, "refused"))

    assert [slot for what, slot in sweep.did if what == "ended"] == ["refused"]
    assert probe.heard("recovery.refused") == [
        {"actor": "under-test", "slot": "refused", "reason": "scheduler_busy", "schedule": "plan of refused"},
    ]


async def test_a_tick_that_found_something_adds_up_what_it_did() -> None:
    needs = {"run": Course.DISPATCH, "refused": Course.DISPATCH, "bad": Course.SETTLE, "wait": Course.WAIT}
    sweep = FakeSweep(needs, ["gone", "too", "bad"], breaks="bad")
    probe = await swept(sweep, parts(sweep, "refused"))

    who = {"actor": "under-test"}
    assert probe.heard("recovery.swept") == [{**who, "stale_slots_found": 3, "reclaimed": 1, "skipped": 2}]
    assert probe.heard("stall.swept") == [{**who, "scanned": 3, "queued_too_long": 2}]
    assert [fields["schedule"] for fields in probe.heard("recovery.failed")] == ["plan of bad"]


async def test_a_tick_that_found_nothing_but_deliveries_on_their_way_says_nothing() -> None:
    sweep = FakeSweep({"wait": Course.WAIT})
    probe = await swept(sweep, parts(sweep))
    assert [event for event, _ in probe.notes if event.endswith(".swept")] == []


async def test_a_live_run_of_this_process_is_spared_whatever_its_row_says() -> None:
    """Also one that began after the tick did."""
    runs = Runs()
    enter(runs, "ours")
    sweep = FakeSweep({"ours": Course.DISPATCH, "found": Course.DISPATCH}, ["ours", "late"])
    await swept(sweep, parts(sweep, "found", runs=runs, on_offer=lambda _: enter(runs, "late")))

    assert sweep.did == [("offered", "found")]
    assert sweep.spared == [frozenset({"ours", "late"})]


@pytest.mark.parametrize("course", [Course.SETTLE, None], ids=["recovered", "ended"])
async def test_one_bad_row_does_not_stop_the_sweep(course: Course | None) -> None:
    sweep = FakeSweep(breaks="bad")
    if course is None:
        sweep.beyond = ["bad", "good"]
    else:
        sweep.needs = {"bad": course, "good": course}
    probe = await swept(sweep, parts(sweep))

    assert [slot for _, slot in sweep.did] == ["good"]
    assert len(probe.heard("stall.failed" if course is None else "recovery.failed")) == 1


async def test_a_sweep_that_fails_is_said_and_tried_again_at_the_next_tick(autojump_clock: MockClock) -> None:
    class Locked(FakeSweep):
        async def unfinished(self, now: int, not_in: frozenset[str]) -> Sequence[Unfinished]:
            if trio.current_time() < 1:
                raise OSError("database is locked")
            return await super().unfinished(now, not_in)

    sweep, probe = Locked({"run": Course.DISPATCH}), Probe()
    joined = parts(sweep)
    async with running(lambda ctx: stall_sweeper(ctx, Mailbox[Tick](1), joined), probe.hooks()):
        assert len(probe.heard("sweep.failed")) == 1
        await trio.sleep(TICK_MS / 1000 - 1)
        assert sweep.did == []
        await trio.sleep(2)
        assert sweep.did == [("offered", "run")]
