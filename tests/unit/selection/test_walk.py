"""Walking a list: where it stops, and that known works never eat the limit."""

from collections.abc import Sequence

import pytest

from pixivflow.ids import WorkId
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.ports import Pages
from pixivflow.selection.target import Window
from pixivflow.selection.walk import Step, Walked, kept, step, together, walk
from pixivflow.slots.model import BoundWork
from pixivflow.slots.ports import Seen
from tests.fixtures.walks import a_work

DAY = Window(start_at=100, end_at=200)


class Listed:
    """Pages of works, and how many of them were asked for; whether the walk closed it."""

    def __init__(self, *pages: Sequence[WorkDetail]) -> None:
        self.pages, self.read, self.closed = pages, 0, False

    async def __call__(self) -> Pages:
        try:
            for page in self.pages:
                self.read += 1
                yield tuple(page)
        finally:
            self.closed = True


def looking(*stored: int) -> "Looking":
    return Looking(frozenset(WorkId(str(each)) for each in stored))


class Looking:
    """Knows some works, and remembers what it was asked about."""

    def __init__(self, stored: frozenset[WorkId]) -> None:
        self.stored = stored
        self.asked: list[list[str]] = []

    async def __call__(self, works: Sequence[BoundWork]) -> Seen:
        self.asked.append([work.work_id for work in works])
        return Seen(stored=self.stored & {work.work_id for work in works})


def ids(walked: Walked) -> list[str]:
    return [work.id for work in walked.works]


def page(*numbers: int) -> list[WorkDetail]:
    return [a_work(each) for each in numbers]


async def test_a_walk_reads_until_it_has_enough_and_closes_the_list() -> None:
    pages = Listed(page(1, 2), page(3, 4), page(5, 6))
    walked = await walk(pages(), "date_desc", None, 3, looking())
    assert (ids(walked), pages.read, pages.closed) == (["1", "2", "3", "4"], 2, True)


async def test_known_works_never_eat_the_limit() -> None:
    pages = Listed(page(1, 2), page(3, 4), page(5, 6))
    look = looking(1, 2, 3, 4)
    walked = await walk(pages(), "date_desc", None, 1, look)
    assert ids(walked) == ["1", "2", "3", "4", "5", "6"]
    assert walked.seen == Seen(stored=look.stored)


@pytest.mark.case("download", 28)
async def test_a_page_that_repeats_works_brings_each_once_and_asks_about_each_once() -> None:
    look = looking()
    walked = await walk(Listed(page(1, 2), page(2, 1), page(3))(), "date_desc", None, 9, look)
    assert ids(walked) == ["1", "2", "3"]
    assert look.asked == [["1", "2"], ["3"]]


@pytest.mark.case("download", 30)
async def test_a_day_of_a_list_by_date_passes_what_is_newer_and_stops_at_the_first_older_one() -> None:
    days = [a_work(each, created_at=at) for each, at in ((1, 300), (2, 200), (3, 100), (4, 99), (5, 150))]
    pages = Listed(days[:2], days[2:], page(6))
    walked = await walk(pages(), "date_desc", DAY, 9, looking())
    assert (ids(walked), pages.read) == (["2", "3"], 2)


@pytest.mark.parametrize(
    ("sort", "at", "expected"),
    [
        ("date_desc", 201, Step.PASS),
        ("date_desc", 200, Step.TAKE),
        ("date_desc", 99, Step.STOP),
        ("date_asc", 99, Step.PASS),
        ("date_asc", 100, Step.TAKE),
        ("date_asc", 201, Step.STOP),
        ("popular_desc", 99, Step.PASS),
        ("popular_desc", 201, Step.PASS),
        ("date_desc", None, Step.PASS),
    ],
)
def test_a_list_stops_only_where_the_rest_of_it_lies_beyond_the_days(sort: str, at: int | None, expected: Step) -> None:
    assert step(a_work(created_at=at), sort, DAY) is expected


def test_a_work_without_an_instant_is_read_where_no_days_are_asked_for() -> None:
    assert step(a_work(created_at=None), "date_desc", None) is Step.TAKE


def test_the_first_works_that_hold_enough_new_ones_are_kept_with_the_known_ones_among_them() -> None:
    works = page(1, 2, 3, 4, 5)
    seen = Seen(stored=frozenset({WorkId("1")}), served=frozenset({WorkId("3")}))
    assert [work.id for work in kept(works, seen, 2)] == ["1", "2", "3", "4"]
    assert len(kept(works, seen, 9)) == 5


def test_two_lists_are_one_with_each_work_once() -> None:
    first, second = Walked(works=tuple(page(1, 2))), Walked(works=tuple(page(2, 3)))
    assert ids(together(first, second)) == ["1", "2", "3"]
