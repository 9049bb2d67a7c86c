"""Which occurrence an instant names, and when a trigger may still name it."""

import pytest

from pixivflow.errors import ConfigError
from pixivflow.ids import ScheduleId, SlotId, TargetId
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.occurrence import Occurrence, membership, misfit, occurrence_for, occurrence_of
from pixivflow.times import from_utc_text

MINUTE = 60_000
HOUR = 60 * MINUTE
GRACE = 90 * MINUTE
FIRE = from_utc_text("2026-09-08 02:00:00")
"""Ten o'clock in Shanghai."""


def plan(cron: str = "0 10 * * *", timezone: str = "Asia/Shanghai") -> Plan:
    return Plan(id=ScheduleId("p"), enabled=True, cron=cron, timezone=timezone)


def named(cron: str, at: str, timezone: str = "UTC") -> str:
    return occurrence_for(plan(cron, timezone), from_utc_text(at)).slot_id


@pytest.mark.case("slots", 1)
def test_a_late_trigger_names_the_fire_on_the_wall_clock_of_its_plan() -> None:
    assert occurrence_for(plan(), from_utc_text("2026-09-08 02:30:00")) == Occurrence(
        slot_id=SlotId("p@2026-09-08T1000"),
        schedule_id=ScheduleId("p"),
        at=FIRE,
        date="2026-09-08",
        label="10:00",
        timezone="Asia/Shanghai",
    )


def test_a_tick_and_a_trigger_ten_minutes_later_are_one_occurrence() -> None:
    assert occurrence_of(plan(), FIRE) == occurrence_for(plan(), FIRE + 10 * MINUTE)


@pytest.mark.case("slots", 3)
@pytest.mark.parametrize(
    ("early_ms", "slot"),
    [(10 * MINUTE, "p@2026-09-08T1000"), (15 * MINUTE, "p@2026-09-08T1000"), (15 * MINUTE + 1, "p@2026-09-07T1000")],
)
def test_a_little_early_names_the_coming_fire(early_ms: int, slot: str) -> None:
    assert occurrence_for(plan(), FIRE - early_ms).slot_id == slot


@pytest.mark.case("slots", 4)
@pytest.mark.parametrize("at", ["2026-09-08 10:00:00", "2026-09-08 10:00:30"])
def test_a_plan_that_fires_often_is_never_named_too_early(at: str) -> None:
    assert named("*/5 * * * *", at) == "p@2026-09-08T1000"


def test_the_lead_of_a_plan_that_fires_often_is_half_of_its_gap() -> None:
    assert named("*/5 * * * *", "2026-09-08 10:02:29") == "p@2026-09-08T1000"
    assert named("*/5 * * * *", "2026-09-08 10:02:30") == "p@2026-09-08T1005"


@pytest.mark.case("slots", 5)
def test_a_plan_that_fires_four_times_a_day_has_as_many_slots() -> None:
    assert named("0 */6 * * *", "2026-09-08 13:30:00") == "p@2026-09-08T1200"
    assert named("0 */6 * * *", "2026-09-08 18:30:00") == "p@2026-09-08T1800"


@pytest.mark.case("slots", 6)
@pytest.mark.parametrize(("delay_min", "slot"), [(704, "p@2026-09-08T1000"), (705, "p@2026-09-08T2200")])
def test_a_second_clock_is_safe_until_it_meets_the_lead_of_the_next_fire(delay_min: int, slot: str) -> None:
    at = FIRE + delay_min * MINUTE
    found = occurrence_for(plan("0 10,22 * * *"), at)
    assert found.slot_id == slot
    assert misfit(found, at, 720 * MINUTE) is None


@pytest.mark.case("slots", 10)
def test_a_fixed_hour_that_a_day_skips_has_one_slot_there_and_is_itself_again_the_next_day() -> None:
    athens = plan("0 3 * * *", "Europe/Athens")
    asked = [from_utc_text(f"2026-03-29 {hour:02}:{minute:02}:00") for hour in range(1, 24) for minute in (0, 30)]
    slots = [occurrence_for(athens, at).slot_id for at in asked]
    assert list(dict.fromkeys(slots)) == ["p@2026-03-29T0400"]
    assert occurrence_for(athens, from_utc_text("2026-03-30 01:00:00")).slot_id == "p@2026-03-30T0300"


def test_both_passes_of_a_repeated_hour_are_one_slot() -> None:
    athens = plan("0 * * * *", "Europe/Athens")
    passes = [occurrence_for(athens, from_utc_text(f"2026-10-25 {hour}:00:00")) for hour in ("00", "01")]
    assert [each.slot_id for each in passes] == ["p@2026-10-25T0300"] * 2
    assert passes[1].at - passes[0].at == HOUR


@pytest.mark.parametrize("zone", ["", "  "])
def test_a_plan_without_a_zone_lives_in_utc(zone: str) -> None:
    assert occurrence_of(plan(timezone=zone), FIRE).slot_id == "p@2026-09-08T0200"


def test_a_plan_without_a_cron_line_has_no_occurrence() -> None:
    with pytest.raises(ConfigError, match=r"schedules\.p\.cron"):
        occurrence_for(plan(""), FIRE)


def test_a_plan_whose_line_or_zone_cannot_be_read_is_a_fault_of_the_configuration() -> None:
    for broken in (plan("61 * * * *"), plan(timezone="Mars/Olympus")):
        with pytest.raises(ConfigError):
            occurrence_for(broken, FIRE)


def test_a_plan_that_has_not_fired_yet_is_named_by_its_first_fire() -> None:
    once = plan("0 0 29 2 *", "UTC")
    assert occurrence_for(once, from_utc_text("2028-02-28 23:50:00")).slot_id == "p@2028-02-29T0000"


@pytest.mark.parametrize(
    ("from_fire_ms", "fits"),
    [
        pytest.param(-15 * MINUTE - 1, False, id="too early"),
        pytest.param(-15 * MINUTE, True, id="the first instant"),
        pytest.param(GRACE, True, id="the last instant"),
        pytest.param(GRACE + 1, False, id="too late"),
    ],
)
def test_the_window_of_a_trigger_holds_both_of_its_ends(from_fire_ms: int, fits: bool) -> None:
    found = misfit(occurrence_of(plan(), FIRE), FIRE + from_fire_ms, GRACE)
    assert (found is None) is fits


def test_a_trigger_at_the_wrong_time_is_told_which_slot_it_missed_and_by_which_instant() -> None:
    occurrence = occurrence_of(plan(), FIRE)
    assert f"{misfit(occurrence, FIRE - 2 * HOUR, GRACE)}" == (
        "too early for p@2026-09-08T1000: it opens at 2026-09-08T01:45:00.000Z"
    )
    assert f"{misfit(occurrence, FIRE + 2 * HOUR, GRACE)}" == (
        "too late for p@2026-09-08T1000: it closed at 2026-09-08T03:30:00.000Z"
    )


def test_a_plan_without_targets_of_its_own_has_all_of_them() -> None:
    a, b, c = (TargetId(name) for name in "abc")
    every = Plan(id=ScheduleId("p"))
    some = Plan(id=ScheduleId("p"), target_ids=(c, a))
    assert membership(every, [a, b, c]) == (a, b, c)
    assert membership(some, [a, b, c]) == (c, a)
    assert membership(some, [b, c]) == (c,)
