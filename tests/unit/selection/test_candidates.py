"""The door of the room: what is asked of Pixiv for each kind of target, and what comes of its answers."""

from collections.abc import Sequence
from random import Random

import pytest

from pixivflow.config.model import Target
from pixivflow.errors import AuthNeeded, ConfigError, Gone, Rejected, Unavailable
from pixivflow.ids import WorkId
from pixivflow.selection.candidates import Candidates
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.ports import Pages
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.slots.ports import Choice, Seen, Unfit
from pixivflow.times import from_utc_text
from tests.fixtures.slots import NOW
from tests.fixtures.walks import FakeSource, a_target, a_work

WEDNESDAY = from_utc_text("2026-09-09 03:00:00")


class ByWord(FakeSource):
    """Finds for each word the works that carry it as a tag."""

    def __init__(self, found: dict[str, list[WorkDetail]]) -> None:
        super().__init__()
        self.found = found

    def search(self, target: Target) -> Pages:
        self.works = self.found.get(target.tag or "", [])
        return super().search(target)


async def choose(
    source: FakeSource, target: Target, wanted: int = 1, stage: int = 0, now: int = NOW, known: Seen | None = None
) -> Choice:
    async def look(works: Sequence[BoundWork]) -> Seen:
        return known or Seen()

    return await Candidates(source, 5, lambda: Random(7)).choose(target, wanted, stage, now, look)


def queue(choice: Choice) -> list[str]:
    return [work.work_id for work in choice.queue]


def works(*ids: int) -> list[WorkDetail]:
    return [a_work(each) for each in ids]


async def test_several_words_are_one_search_where_all_of_them_are_wanted() -> None:
    source = FakeSource(works(1, 2))
    assert queue(await choose(source, a_target(tag="sky sea"))) == ["1", "2"]
    assert source.asked == ["search sky sea"]


@pytest.mark.case("download", 34)
async def test_any_of_several_words_is_one_search_a_word_joined_sorted_and_cut() -> None:
    common = a_work(3, created_at=NOW - 1)
    sky = [a_work(each, created_at=NOW - each * 1000) for each in range(10, 60)]
    sea = [a_work(each, created_at=NOW - each * 1000 - 1) for each in range(100, 160)]
    source = ByWord({"sky": [*sky[:9], common], "sea": [common, *sea]})
    target = a_target(tag="sky sea", tag_relation="or", limit=8)
    choice = await choose(source, target, wanted=8)
    assert source.asked == ["search sky", "search sea"]
    assert queue(choice)[:2] == ["3", "10"]
    assert len(queue(choice)) == len(set(queue(choice))) == 8
    assert choice.read == 16


async def test_no_further_word_is_asked_for_when_the_first_ones_brought_enough() -> None:
    source = ByWord({"sky": works(*range(1, 30)), "sea": works(99)})
    await choose(source, a_target(tag="sky sea", tag_relation="or", limit=8), wanted=8)
    assert source.asked == ["search sky"]


async def test_the_most_popular_work_of_a_popular_search_is_tried_first_whatever_order_it_came_in() -> None:
    source = FakeSource([a_work(each, bookmarks=each % 7) for each in range(1, 31)])
    assert queue(await choose(source, a_target(sort="popular_desc"), wanted=1))[0] == "6"


async def test_a_ranking_is_tried_in_its_own_order_and_no_further_than_it_may_be_needed() -> None:
    source = FakeSource([a_work(each, bookmarks=each) for each in range(1, 200)])
    choice = await choose(source, a_target(mode="ranking", limit=7, ranking_date="YESTERDAY"), wanted=7)
    assert source.asked == ["ranking day 2026-09-07"]
    assert queue(choice) == [str(each) for each in range(1, 8)]


async def test_a_ranking_with_a_filter_tag_is_a_search_of_its_day_by_popularity() -> None:
    day = from_utc_text("2026-09-07T12:00:00+09:00")
    today = [a_work(each, created_at=day - each, bookmarks=each) for each in range(1, 9)]
    source = FakeSource([a_work(99, created_at=day + 86_400_000), *today, a_work(98, created_at=day - 86_400_000)])
    target = a_target(mode="ranking", filter_tag="sea", ranking_date="2026-09-07", sort="date_asc")
    assert queue(await choose(source, target)) == ["8", "7", "6", "5", "4"]
    assert source.asked == ["search sea"]


@pytest.mark.case("download", 36)
async def test_a_weekly_ranking_that_is_not_made_yet_falls_back_to_mondays_and_then_to_a_day() -> None:
    source = FakeSource(works(1))
    source.list_fails = [Rejected("week", "pixiv", "answered 400")] * 2
    target = a_target(mode="ranking", ranking_mode="week", ranking_date="TODAY")
    assert queue(await choose(source, target, now=WEDNESDAY)) == ["1"]
    assert source.asked == ["ranking week 2026-09-09", "ranking week 2026-09-07", "ranking day 2026-08-31"]


@pytest.mark.parametrize("error", [AuthNeeded("default"), Unavailable("rate limit")], ids=["a dead login", "a limit"])
async def test_no_other_week_is_asked_for_when_pixiv_will_not_serve_this_account_now(error: Exception) -> None:
    source = FakeSource(works(1), list_fails=[error])
    with pytest.raises(type(error)):
        await choose(source, a_target(mode="ranking", ranking_mode="week"))
    assert len(source.asked) == 1


async def test_a_week_that_no_fallback_serves_fails_with_the_last_answer() -> None:
    source = FakeSource(works(1), list_fails=[Rejected("week", "pixiv", f"answer {each}") for each in (1, 2, 3)])
    with pytest.raises(Rejected, match="answer 3"):
        await choose(source, a_target(mode="ranking", ranking_mode="week"))


async def test_works_below_the_wanted_bookmarks_are_all_counted_as_filtered() -> None:
    choice = await choose(FakeSource(works(1, 2, 3)), a_target(min_bookmarks=10))
    assert (queue(choice), [skip.code.value for skip in choice.skips]) == ([], ["filtered"] * 3)


async def test_a_work_by_its_id_is_tried_although_its_files_were_stored_before() -> None:
    source = FakeSource()
    stored = Seen(stored=frozenset({WorkId("5")}))
    assert queue(await choose(source, a_target(illust_id=5, min_bookmarks=9), known=stored)) == ["5"]
    assert source.asked == []


async def test_a_work_by_its_id_goes_to_no_route_twice() -> None:
    choice = await choose(FakeSource(), a_target(illust_id=5), known=Seen(served=frozenset({WorkId("5")})))
    assert (queue(choice), [skip.code.value for skip in choice.skips]) == ([], ["duplicate"])


async def test_a_target_that_cannot_be_served_is_refused_before_any_request() -> None:
    with pytest.raises(ConfigError, match="unsupported target type novel"):
        Candidates(FakeSource(), 5).wish(a_target(type="novel"))


async def test_a_work_that_pixiv_hides_is_unfit_and_one_that_is_shown_comes_whole() -> None:
    source = FakeSource([a_work(1), a_work(2, is_visible=False)])
    door = Candidates(source, 5)
    assert await door.detail(_bound("1")) == source.works[0]
    with pytest.raises(Unfit) as unfit:
        await door.detail(_bound("2"))
    assert unfit.value.code == "access_denied"
    with pytest.raises(Gone):
        await door.detail(_bound("3"))


@pytest.mark.parametrize("broken", ["abc", "12abc", "-5", "", "1.5", "１２"])
async def test_an_id_that_is_no_number_is_never_sent_anywhere(broken: str) -> None:
    source = FakeSource()
    with pytest.raises(Unfit, match="not the number of any work"):
        await Candidates(source, 5).detail(_bound(broken))
    assert source.asked == []


def _bound(work_id: str) -> BoundWork:
    return BoundWork(work_id=WorkId(work_id), work_type=WorkType.ILLUSTRATION)
