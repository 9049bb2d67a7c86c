"""Ranked lists: one a mode and a day, the same whenever it is asked for."""

from typing import Any

import pytest

from pixivflow.sandbox.rankings import MODES
from tests.edges.sandbox.test_lists import all_of, ids, walked
from tests.fixtures.sandboxes import Asker


def ranked(ask: Asker, mode: str, day: str | None = None) -> list[Any]:
    return all_of(walked(ask, "/v1/illust/ranking", mode=mode, **({"date": day} if day else {})))


def test_the_list_of_a_day_is_full_and_has_no_repeats(ask: Asker) -> None:
    listed = ids(ranked(ask, "day", "2026-01-14"))
    assert len(listed) == len(set(listed)) == 500


def test_without_a_day_it_is_yesterdays(ask: Asker) -> None:
    assert ranked(ask, "day") == ranked(ask, "day", "2026-01-14")


def test_every_day_and_mode_has_a_list_of_its_own(ask: Asker) -> None:
    lists = {(mode, day): tuple(ids(ranked(ask, mode, day))) for mode in ("day", "month") for day in DAYS}
    assert len(set(lists.values())) == len(lists)


DAYS = ("2026-01-01", "2026-01-07", "2026-01-13")


@pytest.mark.parametrize("mode", sorted(MODES))
def test_every_mode_answers_and_only_one_is_empty(ask: Asker, mode: str) -> None:
    listed = ranked(ask, mode, "2026-01-13")
    assert (listed == []) == (mode == "week_r18g")
    assert {work["x_restrict"] for work in listed} <= {int("_r18" in mode)}


@pytest.mark.parametrize(
    ("mode", "holds"),
    [
        ("day_manga", lambda work: work["type"] == "manga"),
        ("day_ai", lambda work: work["illust_ai_type"] == 2),
        ("week_original", lambda work: "オリジナル" in {tag["name"] for tag in work["tags"]}),
    ],
)
def test_a_mode_holds_what_it_is_named_after(ask: Asker, mode: str, holds: Any) -> None:
    assert all(map(holds, ranked(ask, mode)))


def test_no_work_is_ranked_before_it_was_there(ask: Asker) -> None:
    assert all(work["create_date"] < "2026-01-08" for work in ranked(ask, "day", "2026-01-07"))


def test_before_the_data_there_is_an_empty_list(ask: Asker) -> None:
    assert ask.data("/v1/illust/ranking", mode="day", date="2025-12-31") == {"illusts": [], "next_url": None}
    assert ranked(ask, "day", "2026-01-01")


@pytest.mark.parametrize("day", ["2026-01-15", "2026-01-16"])
def test_for_today_and_later_there_is_none(ask: Asker, day: str) -> None:
    assert ask.call("/v1/illust/ranking", mode="day", date=day).status == 400


def test_the_week_is_not_ready_for_the_newest_day(ask: Asker) -> None:
    assert ask.call("/v1/illust/ranking", mode="week", date="2026-01-14").status == 400
    assert ranked(ask, "week", "2026-01-13")


def test_a_new_day_has_a_list_once_it_is_over(ask: Asker) -> None:
    ask.tell("/clock", {"advance_ms": 12 * 3_600_000})
    ask = _logged_in_again(ask)
    assert ranked(ask, "day", "2026-01-15")


def _logged_in_again(ask: Asker) -> Asker:
    ask._bearer = {}
    return ask


def test_a_list_can_be_set_by_hand(ask: Asker) -> None:
    ask.tell("/rankings", {"mode": "week", "date": "2026-01-14", "ids": [100_003, 100_001, 101_301, 999]})
    assert ids(ranked(ask, "week", "2026-01-14")) == [100_003, 100_001, 101_301]
