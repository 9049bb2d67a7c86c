"""When this process's own clock wakes, and for which plans."""

from typing import Any

from actors.ports import Fire
from pixivflow.ids import ScheduleId
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.ticks import PlanTicks, between, next_at, owed
from tests.fixtures.slots import HOUR, MINUTE, NOW, a_plan

DAY = 24 * HOUR
TICK = Fire("p", NOW)
Q = ScheduleId("q")


def shanghai(**fields: Any) -> Plan:
    return a_plan(timezone="Asia/Shanghai", **fields)


def test_a_plan_fires_on_its_own_wall_clock() -> None:
    assert next_at([shanghai()], NOW - 1) == NOW
    assert next_at([shanghai()], NOW) == NOW + DAY
    assert between([shanghai()], NOW - 1, NOW) == [TICK]
    assert between([shanghai()], NOW, NOW + DAY - 1) == []


def test_after_a_long_sleep_only_the_latest_fire_of_each_plan_is_left() -> None:
    often = a_plan(id=Q, cron="*/5 * * * *")
    found = between([shanghai(), often], NOW - 9 * DAY, NOW + 7 * MINUTE)
    assert sorted(found, key=lambda fire: fire.plan) == [TICK, Fire("q", NOW + 5 * MINUTE)]


def test_the_earliest_of_all_plans_wakes_the_clock() -> None:
    assert next_at([shanghai(), a_plan(id=Q, cron="59 1 * * *")], NOW - HOUR) == NOW - MINUTE


def test_a_plan_that_is_off_not_armed_yet_or_without_a_cron_line_never_fires_by_itself() -> None:
    silent = [shanghai(enabled=False), a_plan(id=Q, armed_at=None), shanghai(cron=" ")]
    assert next_at(silent, NOW) is None
    assert between(silent, NOW - 9 * DAY, NOW) == []
    assert owed(silent, {plan.id: NOW - 9 * DAY for plan in silent}, NOW) == []


def test_what_was_missed_is_told_apart_from_a_tick() -> None:
    assert owed([shanghai()], {ScheduleId("p"): NOW - DAY}, NOW + HOUR) == [Fire("p", NOW, "catchup")]


def test_plans_that_have_changed_are_seen_at_the_next_question() -> None:
    plans: list[Plan] = []
    ticks = PlanTicks(lambda: plans)
    assert (ticks.next_at(NOW - 1), ticks.between(NOW - 1, NOW)) == (None, [])
    plans.append(shanghai())
    assert (ticks.next_at(NOW - 1), ticks.between(NOW - 1, NOW)) == (NOW, [TICK])
