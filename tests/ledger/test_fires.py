"""The fires of this process's own clock, on a real ledger."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.ports import Busy, Fire, Refused
from pixivflow.config.model import SchedulerRuntime
from pixivflow.daemon import resolved
from pixivflow.ids import ScheduleId, SlotId, TargetId
from pixivflow.ledger import executions, runs, slots
from pixivflow.ledger.connection import Db
from pixivflow.ledger.fires import FireLedger
from pixivflow.ledger.ledger import Ledger
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.scheduling.ticks import next_at
from pixivflow.slots.machine import ExecutionStatus
from pixivflow.times import from_utc_text
from tests.fixtures.slots import HOUR, MINUTE, NOW, PLAN, SLOT, A, B, a_plan, a_slot, plans, states

DAY = 24 * HOUR
TICK = Fire("p", NOW)
Q = ScheduleId("q")
BUSY = Busy(slot="p@earlier", plan="p", lane="l")


def a_clock(
    ledger: Ledger, *found: Plan, busy: tuple[Busy, ...] = (), ticking: bool = True, catching_up: bool = True
) -> FireLedger:
    runtime = SchedulerRuntime(mode="internal" if ticking else "external", catch_up_missed_runs=catching_up)
    configured = plans(*(found or (a_plan(timezone="Asia/Shanghai"),)))
    return FireLedger(
        ledger,
        plans=lambda: configured,
        targets=lambda: (A, B),
        busy=lambda: busy,
        owing=lambda: resolved.catching_up(runtime, configured.values()),
    )


def shanghai(**fields: Any) -> Plan:
    return a_plan(timezone="Asia/Shanghai", **fields)


def ran(db: Db, ended_at: int, plan: ScheduleId = PLAN) -> None:
    executions.record(db, plan, ExecutionStatus.SUCCESS, ended_at - MINUTE, ended_at)


async def opened(ledger: Ledger) -> list[tuple[str, str | None, int | None]]:
    def read(db: Db) -> list[tuple[str, str | None, int | None]]:
        return db.execute("SELECT id, trigger_source, occurrence_at FROM schedule_slots ORDER BY id").fetchall()

    return await ledger.read(read)


async def test_a_tick_opens_its_occurrence_with_all_that_is_known_of_it(ledger: Ledger) -> None:
    assert await a_clock(ledger).open(TICK, NOW + 20) == SLOT
    found = await ledger.read(slots.read, SLOT)
    assert found == a_slot(created_at=(NOW + 20) // 1000 * 1000)
    assert await ledger.read(states) == {"a": "pending", "b": "pending"}


async def test_opening_it_again_is_the_same_slot(ledger: Ledger) -> None:
    clock = a_clock(ledger)
    assert await clock.open(TICK, NOW) == await clock.open(TICK, NOW + MINUTE) == SLOT
    assert await opened(ledger) == [(SLOT, "cron", NOW)]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(lambda led: a_clock(led, busy=(BUSY,)), "scheduler_busy", id="the plan runs another slot"),
        pytest.param(lambda led: a_clock(led, a_plan(enabled=False)), "scheduler_not_instantiated", id="it is off"),
        pytest.param(lambda led: a_clock(led, a_plan(armed_at=None)), "scheduler_not_instantiated", id="not armed"),
        pytest.param(lambda led: a_clock(led, a_plan(id=Q)), "scheduler_not_instantiated", id="it is gone"),
        pytest.param(lambda led: a_clock(led, a_plan(stopped=True)), "schedule_stopped", id="it was stopped"),
        pytest.param(
            lambda led: a_clock(led, a_plan(target_ids=(TargetId("gone"),))), "no_targets", id="it selects no target"
        ),
    ],
)
async def test_a_tick_that_its_plan_cannot_take_opens_nothing(
    ledger: Ledger, make: Callable[[Ledger], FireLedger], reason: str
) -> None:
    assert await make(ledger).open(TICK, NOW) == Refused(reason)
    assert await opened(ledger) == []


async def test_a_limit_that_was_reached_opens_nothing(ledger: Ledger) -> None:
    await ledger.write(ran, NOW - MINUTE)
    assert await a_clock(ledger, a_plan(max_executions=1)).open(TICK, NOW) == Refused("max_executions")
    assert await a_clock(ledger, a_plan(min_interval_ms=HOUR)).open(TICK, NOW) == Refused("min_interval")
    assert await opened(ledger) == []


async def test_where_a_clock_outside_fires_nothing_is_caught_up(ledger: Ledger) -> None:
    await ledger.write(ran, NOW - DAY)
    assert await a_clock(ledger, shanghai(), ticking=False).missed(NOW) == []


@pytest.mark.case("slots", 71)
async def test_what_was_missed_runs_once_as_the_latest_fire(ledger: Ledger) -> None:
    await ledger.write(ran, NOW - 40 * DAY)
    clock = a_clock(ledger, shanghai())
    [fire] = await clock.missed(NOW + HOUR)
    assert fire == Fire("p", NOW, "catchup")
    assert await clock.open(fire, NOW + HOUR) == SLOT
    assert await opened(ledger) == [(SLOT, "catchup", NOW)]


@pytest.mark.case("slots", 72)
async def test_nothing_is_caught_up_where_nothing_was_missed_or_nobody_wants_it(ledger: Ledger) -> None:
    never_ran = a_clock(ledger, shanghai())
    assert await never_ran.missed(NOW + HOUR) == []
    await ledger.write(ran, NOW - DAY)
    assert await a_clock(ledger, shanghai()).missed(NOW + HOUR) != []
    assert await a_clock(ledger, shanghai(), catching_up=False).missed(NOW + HOUR) == []
    assert await a_clock(ledger, shanghai(), ticking=False).missed(NOW + HOUR) == []
    await ledger.write(ran, NOW + MINUTE)
    assert await a_clock(ledger, shanghai()).missed(NOW + HOUR) == []


@pytest.mark.case("slots", 73)
async def test_shortly_before_a_fire_the_missed_one_is_caught_up_and_not_the_coming_one(ledger: Ledger) -> None:
    await ledger.write(ran, NOW - 2 * DAY + MINUTE)
    assert await a_clock(ledger, shanghai()).missed(NOW - 10 * MINUTE) == [Fire("p", NOW - DAY, "catchup")]


async def test_a_run_that_was_skipped_is_no_end_that_catch_up_goes_by(ledger: Ledger) -> None:
    await ledger.write(ran, NOW - DAY + MINUTE)

    def skipped(db: Db) -> None:
        executions.record(db, ScheduleId("p"), ExecutionStatus.SKIPPED, NOW, NOW + MINUTE)

    await ledger.write(skipped)
    assert await a_clock(ledger, shanghai()).missed(NOW + HOUR) == [Fire("p", NOW, "catchup")]


@pytest.mark.case("slots", 11)
async def test_the_second_pass_of_a_repeated_hour_finds_the_slot_of_the_first(ledger: Ledger) -> None:
    hourly = a_plan(cron="0 * * * *", timezone="Europe/Athens")
    clock = a_clock(ledger, hourly)
    first, second = from_utc_text("2026-10-25 00:00:00"), from_utc_text("2026-10-25 01:00:00")
    assert next_at([hourly], first - 1) == first
    assert next_at([hourly], first) == second
    one = await clock.open(Fire("p", first), first)

    def end(db: Db) -> None:
        db.execute("UPDATE schedule_slots SET status = 'success'")

    await ledger.write(end)
    assert await clock.open(Fire("p", second), second) == one == "p@2026-10-25T0300"
    assert await opened(ledger) == [("p@2026-10-25T0300", "cron", first)]
    assert await ledger.write(runs.admit, SlotId("p@2026-10-25T0300"), plans(), (), Governance(), second) == Refused(
        "already_completed"
    )
