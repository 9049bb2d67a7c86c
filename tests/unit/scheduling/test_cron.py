"""When a plan fires, also on the days on which clocks are changed.

The judge of the property is a list of all minutes around the instant, each looked at by itself.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pixivflow.scheduling.cron import LONGEST, cron, is_cron

MINUTE = 60_000
ATHENS = "Europe/Athens"
"""Clocks go forward at 03:00 of 2026-03-29 and back at 04:00 of 2026-10-25."""
AROUND = {"spring": datetime(2026, 3, 28, 12, tzinfo=UTC), "autumn": datetime(2026, 10, 24, 12, tzinfo=UTC)}


def ms(text: str, zone: str = "UTC") -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 1000


def fires(line: str, zone: str, since: datetime, hours: int) -> list[str]:
    """What the wall clock shows at each fire within so many hours, with its offset."""
    clock, at, shown = cron(line, zone), round(since.timestamp()) * 1000, []
    end = at + hours * 60 * MINUTE
    while (fire := clock.next_after(at)) is not None and fire <= end:
        assert fire > at
        assert clock.latest(fire) == fire
        assert clock.latest(fire - 1) != fire
        shown.append(datetime.fromtimestamp(fire / 1000, ZoneInfo(zone)).strftime("%d %H:%M"))
        at = fire
    return shown


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("0 3 * * *", ["29 04:00", "30 03:00"], id="a skipped instant fires at the first valid minute"),
        pytest.param("20 3 * * *", ["29 04:00", "30 03:20"], id="whatever its minute was"),
        pytest.param("0,20,40 3 * * *", ["29 04:00", "30 03:00", "30 03:20", "30 03:40"], id="several fire once"),
        pytest.param("0-59/20 3 * * *", ["29 04:00", "30 03:00", "30 03:20", "30 03:40"], id="a stepped range too"),
        pytest.param("0 3,4 * * *", ["29 04:00", "30 03:00", "30 04:00"], id="together with one that is there"),
        pytest.param("*/20 3 * * *", ["30 03:00", "30 03:20", "30 03:40"], id="what follows real time does not fire"),
        pytest.param("5,*/20 3 * * *", ["30 03:00", "30 03:05", "30 03:20", "30 03:40"], id="wherever its star is"),
        pytest.param("30 2-5/1 * * *", ["29 02:30", "29 04:00", "29 04:30", "29 05:30"], id="neighbours are as ever"),
    ],
)
def test_on_the_day_on_which_an_hour_is_skipped(line: str, expected: list[str]) -> None:
    assert fires(line, ATHENS, AROUND["spring"], 42)[: len(expected)] == expected


def test_every_hour_of_that_day_but_the_one_that_it_does_not_have() -> None:
    shown = fires("0 * * * *", ATHENS, AROUND["spring"], 16)
    assert shown[-5:] == ["29 02:00", "29 04:00", "29 05:00", "29 06:00", "29 07:00"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("30 3 * * *", ["25 03:30"], id="a fixed time fires in the first pass alone"),
        pytest.param("0,30 3 * * *", ["25 03:00", "25 03:30"], id="so do two"),
        pytest.param("*/30 3 * * *", ["25 03:00", "25 03:30", "25 03:00", "25 03:30"], id="real time has both passes"),
    ],
)
def test_on_the_night_in_which_an_hour_is_repeated(line: str, expected: list[str]) -> None:
    assert fires(line, ATHENS, AROUND["autumn"], 24) == expected


def test_in_the_second_pass_the_latest_fire_of_a_fixed_time_is_that_of_the_first() -> None:
    first = ms("2026-10-25T00:30:00")
    assert cron("30 3 * * *", ATHENS).latest(ms("2026-10-25T01:10:00")) == first
    assert cron("30 3 * * *", ATHENS).next_after(ms("2026-10-25T01:10:00")) == ms("2026-10-26T01:30:00")


@pytest.mark.case("slots", 104)
def test_a_line_has_five_fields_in_which_the_last_day_and_the_first_monday_can_be_said() -> None:
    with pytest.raises(ValueError, match="five fields"):
        cron("0 0 3 L * *", "UTC")
    assert first_days("0 3 L * *") == ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]
    assert first_days("0 3 * * MON#1") == ["2026-01-05", "2026-02-02", "2026-03-02", "2026-04-06"]


def first_days(line: str) -> list[str]:
    """The first four days of 2026 on which the line fires, at three."""
    at, found = ms("2026-01-01T00:00:00"), []
    for _ in range(4):
        fire = cron(line, "UTC").next_after(at)
        assert fire is not None
        at = fire
        found.append(datetime.fromtimestamp(at / 1000, UTC))
    assert {each.hour for each in found} == {3}
    return [each.date().isoformat() for each in found]


@pytest.mark.parametrize("line", ["0 0 10 * * *", "0 10 * *", "", "@daily", "60 3 * * *", "0 3 30 2 *", "0 3 * * MON-"])
def test_what_is_not_five_fields_that_fire_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        cron(line, "UTC")


def test_a_fire_that_is_decades_away_is_found() -> None:
    clock = cron("0 0 29 2 */7", "UTC")  # a leap day that is a Sunday
    assert clock.next_after(ms("2026-01-01T00:00:00")) == ms("2032-02-29T00:00:00")
    assert clock.latest(ms("2026-01-01T00:00:00")) == ms("2004-02-29T00:00:00")


def test_a_second_has_no_fire_of_its_own() -> None:
    clock = cron("*/5 * * * *", "UTC")
    fire = ms("2026-01-01T10:05:00")
    assert clock.next_after(fire - 1) == fire
    assert clock.next_after(fire) == fire + 5 * MINUTE
    assert clock.latest(fire + 5 * MINUTE - 1) == fire
    assert clock.latest(fire) == fire
    assert clock.latest(fire - 1) == fire - 5 * MINUTE


# --- the property ---

ZONES = ["UTC", ATHENS, "America/New_York", "Australia/Lord_Howe", "America/Havana", "Africa/Casablanca", "Asia/Tokyo"]
HOURS = 30


def changes(zone: str) -> list[int]:
    """The hours of 2026 at which the zone changes its clocks."""
    start = ms("2026-01-01T00:00:00")
    at = [start + hour * 60 * MINUTE for hour in range(365 * 24)]
    offsets = [datetime.fromtimestamp(each / 1000, ZoneInfo(zone)).utcoffset() for each in at]
    return [each for each, before, after in zip(at[1:], offsets, offsets[1:], strict=False) if before != after]


CHANGES = {zone: changes(zone) or [ms("2026-06-01T00:00:00")] for zone in ZONES}

numbers = st.lists(st.integers(0, 59), min_size=1, max_size=3).map(lambda found: ",".join(map(str, found)))
minutes = st.one_of(numbers, st.sampled_from(["*", "*/7", "*/20", "0-59/25", "5,*/30"]))
hours = st.one_of(
    st.lists(st.integers(0, 23), min_size=1, max_size=3).map(lambda found: ",".join(map(str, found))),
    st.sampled_from(["*", "*/3", "0-4", "1-3", "22-23"]),
)


def parsed(field: str, top: int) -> set[int]:
    found: set[int] = set()
    for term in field.split(","):
        body, _, step = term.partition("/")
        first, _, last = ("0", "-", str(top)) if body == "*" else body.partition("-")
        found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


def judged(minute: str, hour: str, zone: ZoneInfo, middle: int) -> list[int]:
    """Every fire of the line around `middle`, found minute by minute."""
    at_minutes, at_hours = parsed(minute, 59), parsed(hour, 23)
    found: set[int] = set()
    real = [middle + step * MINUTE for step in range(-HOURS * 60 * 2, HOURS * 60 * 2)]
    walls = {at: datetime.fromtimestamp(at / 1000, zone) for at in real}
    if "*" in minute or "*" in hour:
        return [at for at, wall in walls.items() if wall.minute in at_minutes and wall.hour in at_hours]
    readings = [wall.replace(tzinfo=None, fold=0) for wall in walls.values()]
    first_at = dict(zip(reversed(readings), reversed(real), strict=True))
    reading = readings[0]
    while reading <= readings[-1]:
        if reading.minute in at_minutes and reading.hour in at_hours:
            valid = reading
            while valid not in first_at and valid < readings[-1]:
                valid += timedelta(minutes=1)
            found |= {first_at[valid]} if valid in first_at else set()
        reading += timedelta(minutes=1)
    return sorted(found)


@settings(max_examples=60)
@example(minute="0", hour="0", zone="America/Havana", change=0, shift=0)
@example(minute="*/30", hour="0", zone="America/Havana", change=0, shift=-1)
@example(minute="0", hour="*", zone="Australia/Lord_Howe", change=0, shift=-20)
@given(minutes, hours, st.sampled_from(ZONES), st.integers(0, 1), st.integers(-120, 120))
def test_before_and_after_any_instant_around_a_change_of_clocks_lie_the_fires_that_a_minute_by_minute_look_finds(
    minute: str, hour: str, zone: str, change: int, shift: int
) -> None:
    middle = CHANGES[zone][change % len(CHANGES[zone])]
    at = middle + shift * MINUTE
    found = judged(minute, hour, ZoneInfo(zone), middle)
    clock = cron(f"{minute} {hour} * * *", zone)
    assert clock.latest(at) == max(fire for fire in found if fire <= at)
    assert clock.next_after(at) == min(fire for fire in found if fire > at)


EVERY = " ".join(",".join(map(str, range(*each))) for each in ((60,), (24,), (1, 32), (1, 13), (7,)))


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        pytest.param("0 3 * * *", True, id="every night"),
        pytest.param(EVERY, True, id="each field by all of its numbers"),
        pytest.param(EVERY + " " * LONGEST, False, id="longer than any line needs to be"),
        pytest.param("0 0 30 2 *", False, id="a day that never comes"),
        pytest.param("61 * * * *", False, id="out of range"),
        pytest.param("0 0 3 * * *", False, id="with seconds"),
        pytest.param(5, False, id="a number"),
    ],
)
def test_what_passes_as_a_line_is_what_a_plan_can_be_made_of(line: object, is_one: bool) -> None:
    assert is_cron(line) is is_one
    if isinstance(line, str) and not is_one:
        with pytest.raises(ValueError):
            cron(line, "UTC")
    elif isinstance(line, str):
        assert cron(line, "UTC").next_after(0) is not None
