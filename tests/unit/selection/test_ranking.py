"""In which order works are tried, and how much of a list is read for it."""

import math
from itertools import permutations

import pytest

from pixivflow.selection.ranking import by_popularity, by_sort, fetch_limit, search_limit
from tests.fixtures.walks import a_target, a_work


def test_bookmarks_count_then_a_thousand_views_for_one_then_the_newer_then_the_larger_id() -> None:
    order = [
        a_work(6, bookmarks=13, created_at=1),
        a_work(5, bookmarks=10, views=2000, created_at=1),
        a_work(4, bookmarks=11, views=999, created_at=9),
        a_work(3, bookmarks=11, created_at=2),
        a_work(9, bookmarks=11, created_at=1),
        a_work(2, bookmarks=11, created_at=1),
        a_work(1, bookmarks=-5, views=-5, created_at=1),
    ]
    for shuffled in permutations(order):
        assert [work.id for work in by_popularity(shuffled)] == [work.id for work in order]


def test_ids_are_compared_as_numbers() -> None:
    assert [work.id for work in by_popularity([a_work(9, created_at=1), a_work(10, created_at=1)])] == ["10", "9"]


@pytest.mark.parametrize(("sort", "ids"), [("date_desc", ["3", "1", "2"]), ("date_asc", ["1", "2", "3"])])
def test_works_of_one_instant_stay_as_they_came(sort: str, ids: list[str]) -> None:
    works = [a_work(1, created_at=5), a_work(2, created_at=5), a_work(3, created_at=9)]
    assert [work.id for work in by_sort(works, sort)] == ids


@pytest.mark.parametrize(
    ("wanted", "sort", "limit"),
    [
        (1, "date_desc", 50),
        (5, "date_asc", 50),
        (6, "date_desc", 12),
        (1, "popular_desc", 100),
        (5, "popular_desc", 100),
        (6, "popular_desc", 12),
    ],
)
def test_few_wanted_works_are_looked_for_in_many(wanted: int, sort: str, limit: int) -> None:
    assert search_limit(wanted, sort) == limit


@pytest.mark.parametrize(
    ("sort", "limit", "in_window", "reads"),
    [
        ("date_desc", 50, False, 50),
        ("popular_desc", 49, False, 245),
        ("popular_desc", 12, False, 100),
        ("popular_desc", 12, True, 120),
        ("popular_desc", 100, False, 200),
        ("popular_desc", 100, True, 300),
    ],
)
def test_a_list_that_is_sorted_here_is_read_further_than_it_is_kept(
    sort: str, limit: int, in_window: bool, reads: int
) -> None:
    assert fetch_limit(limit, a_target(sort=sort), in_window=in_window) == reads
    assert not math.isnan(reads)
