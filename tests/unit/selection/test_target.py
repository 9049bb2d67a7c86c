"""What a target asks for when its run starts: days as Japan counts them, and what nobody here can serve."""

import os
import time
from collections.abc import Iterator
from datetime import date

import pytest

from pixivflow.config.model import Target
from pixivflow.selection.target import Window, day_of, day_window, monday, ranking_day, today, unserved, window_of
from pixivflow.times import from_utc_text
from tests.fixtures.walks import a_target

HALF_PAST_MIDNIGHT = from_utc_text("2026-09-07 15:30:00")
"""00:30 of 8 September in Japan."""


@pytest.fixture(params=["UTC", "America/Los_Angeles", "Pacific/Auckland"])
def host_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine stands somewhere else."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.case("download", 32)
@pytest.mark.usefixtures("host_zone")
def test_yesterday_is_the_day_before_in_japan_wherever_the_machine_stands() -> None:
    assert today(HALF_PAST_MIDNIGHT) == date(2026, 9, 8)
    assert day_of("YESTERDAY", HALF_PAST_MIDNIGHT) == date(2026, 9, 7)
    assert day_of("TODAY", HALF_PAST_MIDNIGHT) == date(2026, 9, 8)
    assert day_of("2026-02-28", HALF_PAST_MIDNIGHT) == date(2026, 2, 28)
    assert os.environ["TZ"]


@pytest.mark.case("download", 31)
@pytest.mark.usefixtures("host_zone")
def test_the_last_instant_of_a_day_and_the_first_of_the_next_belong_to_different_days() -> None:
    last, first = from_utc_text("2026-09-08T23:59:59+09:00"), from_utc_text("2026-09-09T00:00:00+09:00")
    eighth, ninth = (day_window(day, day) for day in (date(2026, 9, 8), date(2026, 9, 9)))
    assert eighth is not None
    assert ninth is not None
    assert [eighth.holds(last), eighth.holds(first)] == [True, False]
    assert [ninth.holds(last), ninth.holds(first)] == [False, True]
    assert eighth.holds(first - 1)


@pytest.mark.case("download", 33)
def test_two_runs_of_one_process_across_midnight_ask_for_different_days() -> None:
    target = a_target(start_date="YESTERDAY", end_date="YESTERDAY")
    before, after = window_of(target, HALF_PAST_MIDNIGHT - 3_600_000), window_of(target, HALF_PAST_MIDNIGHT)
    assert before is not None
    assert after is not None
    assert (after.start_at or 0) - (before.start_at or 0) == 86_400_000


def test_a_window_without_one_end_is_open_on_that_side() -> None:
    until = day_window(None, date(2026, 9, 8))
    assert until == Window(start_at=None, end_at=from_utc_text("2026-09-09T00:00:00+09:00") - 1)
    assert until.holds(0)
    assert day_window(None, None) is None


def test_a_work_without_an_instant_is_in_no_window() -> None:
    assert not Window(start_at=None, end_at=10).holds(None)


@pytest.mark.parametrize(
    ("named", "asked"),
    [(None, None), ("YESTERDAY", "2026-09-07"), ("TODAY", "2026-09-08"), ("2026-01-02", "2026-01-02")],
)
def test_the_ranking_of_no_day_in_particular_is_the_newest_one(named: str | None, asked: str | None) -> None:
    assert ranking_day(a_target(mode="ranking", ranking_date=named), HALF_PAST_MIDNIGHT) == asked


def test_a_ranking_with_a_filter_tag_wants_works_of_its_day_alone() -> None:
    target = a_target(mode="ranking", filter_tag="sky", ranking_date="YESTERDAY", start_date="2020-01-01")
    assert window_of(target, HALF_PAST_MIDNIGHT) == day_window(date(2026, 9, 7), date(2026, 9, 7))


def test_mondays_are_those_of_japan() -> None:
    sunday_in_utc = from_utc_text("2026-09-06 15:30:00")
    assert monday(sunday_in_utc) == "2026-09-07"
    assert monday(sunday_in_utc, weeks_ago=1) == "2026-08-31"


@pytest.mark.parametrize(
    ("target", "key"),
    [
        pytest.param(a_target(), None, id="a search"),
        pytest.param(a_target(mode="ranking"), None, id="a ranking"),
        pytest.param(a_target(illust_id=5, mode="topic", topic="sky"), None, id="a work by its id, whatever the mode"),
        pytest.param(a_target(type="novel"), "type", id="a novel"),
        pytest.param(a_target(mode="topic", topic="sky"), "mode", id="a topic"),
        pytest.param(a_target(mode="follow"), "mode", id="a feed"),
        pytest.param(a_target(series_id=3), "seriesId", id="a series"),
        pytest.param(a_target(user_id="7"), "userId", id="the works of a user"),
    ],
)
def test_a_target_that_nobody_here_can_serve_is_refused_by_the_setting_that_asks_for_it(
    target: Target, key: str | None
) -> None:
    refusal = unserved(target)
    assert (refusal.key if refusal else None) == key
