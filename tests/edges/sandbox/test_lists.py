"""Lists: what is in them, in which order, and how they are walked."""

from typing import Any

import msgspec
import pytest

from pixivflow.sandbox.options import Options
from tests.fixtures.sandboxes import Asker


def walked(ask: Asker, path: str, **params: object) -> list[list[Any]]:
    """All pages of a list."""
    pages, told = [], ask.data(path, **params)
    while True:
        pages.append(told["illusts"])
        if told["next_url"] is None:
            return pages
        told = ask.data(told["next_url"])


def ids(works: list[Any]) -> list[int]:
    return [work["id"] for work in works]


def all_of(pages: list[list[Any]]) -> list[Any]:
    return [work for page in pages for work in page]


@pytest.mark.case("sandbox", 24)
def test_a_series_of_65_is_three_pages_without_repeats(ask: Asker) -> None:
    pages = walked(ask, "/v1/illust/series", illust_series_id=310_002)
    assert [len(page) for page in pages] == [30, 30, 5]
    assert len(set(ids(all_of(pages)))) == 65
    assert {work["series"]["id"] for work in all_of(pages)} == {310_002}


def test_a_series_can_hold_a_deleted_work(ask: Asker) -> None:
    (page,) = walked(ask, "/v1/illust/series", illust_series_id=310_003)
    statuses = [ask.call("/v1/illust/detail", illust_id=work).status for work in ids(page)]
    assert statuses == [200, 404, 200]


def test_the_address_of_the_next_page_is_the_same_call_further_on(ask: Asker) -> None:
    told = ask.data("/v1/search/illust", word="風景 海", sort="date_asc", search_target="keyword", offset=30)
    told = ask.data("/v1/search/illust", word="風景", sort="date_asc")
    assert told["next_url"] == f"{ask.base}/app/v1/search/illust?word=%E9%A2%A8%E6%99%AF&sort=date_asc&offset=30"
    assert told["search_span_limit"] == 31_536_000


@pytest.mark.case("sandbox", 7)
def test_the_filter_keeps_works_with_an_age_limit_out_of_lists(ask: Asker) -> None:
    everything = all_of(walked(ask, "/v1/search/illust", word="オリジナル"))
    filtered = all_of(walked(ask, "/v1/search/illust", word="オリジナル", filter="for_ios"))
    assert any(work["x_restrict"] for work in everything)
    assert ids(filtered) == ids([work for work in everything if work["x_restrict"] == 0])
    for path, params in (
        ("/v1/user/illusts", {"user_id": 5_050}),
        ("/v1/illust/ranking", {"mode": "day"}),
        ("/v2/illust/follow", {"restrict": "all"}),
        ("/v1/user/bookmarks/illust", {"user_id": 9_000_001, "restrict": "public"}),
    ):
        listed = all_of(walked(ask, path, filter="for_ios", **params))
        assert listed
        assert {work["x_restrict"] for work in listed} == {0}


def test_a_ranking_of_works_with_an_age_limit_is_not_emptied_by_the_filter(ask: Asker) -> None:
    listed = all_of(walked(ask, "/v1/illust/ranking", mode="day_r18", filter="for_ios"))
    assert {work["x_restrict"] for work in listed} == {1}


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("date_desc", lambda work: (work["create_date"], work["id"])),
        ("date_asc", lambda work: (work["create_date"], work["id"])),
        ("popular_desc", lambda work: (work["total_bookmarks"], work["create_date"], work["id"])),
    ],
)
def test_a_search_is_in_the_asked_order(ask: Asker, order: str, key: Any) -> None:
    found = all_of(walked(ask, "/v1/search/illust", word="猫", sort=order))
    assert found == sorted(found, key=key, reverse=order != "date_asc")
    assert len(found) > 60


def test_an_account_without_premium_gets_the_newest_in_place_of_the_most_popular(ask: Asker) -> None:
    ask.tell("/options", {"premium": "off"})
    newest = ask.data("/v1/search/illust", word="猫", sort="date_desc")
    assert ask.data("/v1/search/illust", word="猫", sort="popular_desc")["illusts"] == newest["illusts"]


def tags_of(work: Any) -> set[str]:
    return {tag["name"] for tag in work["tags"]}


def test_an_exact_search_wants_the_tag_and_a_partial_one_a_part_of_it(ask: Asker) -> None:
    exact = all_of(walked(ask, "/v1/search/illust", word="夜", search_target="exact_match_for_tags"))
    partial = all_of(walked(ask, "/v1/search/illust", word="夜", search_target="partial_match_for_tags"))
    assert exact == []
    assert partial
    assert all("夜景" in tags_of(work) for work in partial)


def test_several_words_must_all_match(ask: Asker) -> None:
    found = all_of(walked(ask, "/v1/search/illust", word="オリジナル　女の子", search_target="exact_match_for_tags"))
    assert found
    assert all({"オリジナル", "女の子"} <= tags_of(work) for work in found)


def test_width_and_case_of_a_word_do_not_count(ask: Asker) -> None:
    one, other = (ask.data("/v1/search/illust", word=word)["illusts"] for word in ("R-18", "ｒ－１８"))
    assert one == other != []


def test_titles_are_searched_on_demand(ask: Asker) -> None:
    found = ask.data("/v1/search/illust", word="work 10000", search_target="title_and_caption", sort="date_asc")
    assert set(ids(found["illusts"])) == set(range(100_001, 100_010))


def test_the_days_of_a_search_are_japanese_and_inclusive(ask: Asker) -> None:
    days = {"start_date": "2026-01-13", "end_date": "2026-01-13", "search_target": "title_and_caption"}
    found = all_of(walked(ask, "/v1/search/illust", word="work 10160", **days))
    assert set(ids(found)) == {101_601, 101_602}


def test_the_second_page_of_one_search_repeats_the_end_of_the_first(ask: Asker) -> None:
    pages = walked(ask, "/v1/search/illust", word="dup")
    assert ids(pages[1])[:10] == ids(pages[0])[-10:]
    assert len(set(ids(all_of(pages)))) == 50


def test_a_search_gives_nothing_out_from_offset_5000_on() -> None:
    ask = Asker(Options(clock="manual", works=5_300))
    told = ask.data("/v1/search/illust", word="work", search_target="title_and_caption", offset=4_950)
    assert told["next_url"].endswith("offset=4980")
    assert ask.data(told["next_url"])["next_url"] is None
    assert ask.call("/v1/search/illust", word="work", offset=5_000).status == 400


@pytest.mark.parametrize("restrict", ["public", "private", "all"])
def test_the_feed_holds_the_works_of_who_is_followed_the_newest_first(ask: Asker, restrict: str) -> None:
    found = all_of(walked(ask, "/v2/illust/follow", restrict=restrict))
    dates = [(work["create_date"], work["id"]) for work in found]
    authors = {"public": {5_001, 5_002, 5_003}, "private": {5_004}, "all": {5_001, 5_002, 5_003, 5_004}}
    assert dates == sorted(dates, reverse=True)
    assert {work["user"]["id"] for work in found} == authors[restrict]
    assert {work["user"]["is_followed"] for work in found} == {True}


@pytest.mark.case("sandbox", 23)
def test_bookmarks_are_walked_by_their_own_ids_and_private_ones_are_the_owners_alone(ask: Asker) -> None:
    mine = walked(ask, "/v1/user/bookmarks/illust", user_id=9_000_001, restrict="public")
    assert [len(page) for page in mine] == [30, 30, 30, 5]
    assert len(set(ids(all_of(mine)))) == 95
    hidden = all_of(walked(ask, "/v1/user/bookmarks/illust", user_id=9_000_001, restrict="private"))
    assert len(hidden) == 12
    assert ask.call("/v1/user/bookmarks/illust", user_id=5_001, restrict="private").status == 403


def test_the_cursor_of_bookmarks_is_no_offset(ask: Asker) -> None:
    told = ask.data("/v1/user/bookmarks/illust", user_id=9_000_001, restrict="public")
    assert "max_bookmark_id=" in told["next_url"]
    assert "offset" not in told["next_url"]


def test_bookmarks_hold_a_deleted_work_and_a_placeholder(ask: Asker) -> None:
    mine = all_of(walked(ask, "/v1/user/bookmarks/illust", user_id=9_000_001, restrict="public"))
    gone = [work for work in mine if ask.call("/v1/illust/detail", illust_id=work["id"]).status == 404]
    assert len(gone) == 1
    assert sum(not work["visible"] for work in mine) == 1


@pytest.mark.parametrize("tag", ["好き", "参考"])
def test_bookmarks_can_be_asked_for_by_the_owners_word(ask: Asker, tag: str) -> None:
    of_tag = all_of(walked(ask, "/v1/user/bookmarks/illust", user_id=9_000_001, restrict="public", tag=tag))
    assert 30 <= len(of_tag) < 35


def test_the_works_of_a_user_are_theirs_the_newest_first_and_manga_apart(ask: Asker) -> None:
    busy = walked(ask, "/v1/user/illusts", user_id=5_050, type="illust")
    assert [len(page) for page in busy] == [30, 30, 30, 5]
    assert all_of(busy) == sorted(all_of(busy), key=lambda work: (work["create_date"], work["id"]), reverse=True)
    assert all_of(walked(ask, "/v1/user/illusts", user_id=5_051)) == []
    assert all_of(walked(ask, "/v1/user/illusts", user_id=5_052, type="illust")) == []
    assert len(all_of(walked(ask, "/v1/user/illusts", user_id=5_052, type="manga"))) == 10
    assert len(all_of(walked(ask, "/v1/user/illusts", user_id=5_052))) == 10


def test_the_lists_of_a_user_begin_with_the_user(ask: Asker) -> None:
    told = ask.data("/v1/user/illusts", user_id=5_007)
    assert (told["user"]["id"], told["user"]["name"]) == (5_007, "author-5007")


@pytest.mark.parametrize("path", ["/v1/user/illusts", "/v1/user/detail"])
def test_an_unknown_user_is_no_empty_list(ask: Asker, path: str) -> None:
    reply = ask.call(path, user_id=4_999)
    assert reply.status == 404
    assert msgspec.json.decode(reply.body)["error"]["user_message"].startswith("該当ユーザー")


def test_a_user_is_told_with_counts(ask: Asker) -> None:
    told = ask.data("/v1/user/detail", user_id=5_050)
    assert told["profile"]["total_illusts"] == 95
    assert {"user", "profile", "profile_publicity", "workspace"} <= set(told)


def test_completions_hold_the_word_in_the_new_shape_and_in_the_old(ask: Asker) -> None:
    new = ask.data("/v2/search/autocomplete", word="イラ")["tags"]
    ask.tell("/options", {"autocomplete_shape": "old"})
    old = ask.data("/v2/search/autocomplete", word="イラ")["search_auto_complete_keywords"]
    assert {"name": "イラスト", "translated_name": "illustration"} in new
    assert old == [tag["name"] for tag in new]


def test_related_works_share_a_tag_and_leave_the_work_out(ask: Asker) -> None:
    work = ask.data("/v1/illust/detail", illust_id=100_007)["illust"]
    told = ask.data("/v2/illust/related", illust_id=100_007)
    assert told["next_url"] is None
    assert work["id"] not in ids(told["illusts"]) != []
    assert all(tags_of(other) & tags_of(work) for other in told["illusts"])


def test_a_trending_tag_stands_with_its_most_popular_work(ask: Asker) -> None:
    (first, *_) = ask.data("/v1/trending-tags/illust")["trend_tags"]
    best = ask.data("/v1/search/illust", word=first["tag"], search_target="exact_match_for_tags", sort="popular_desc")
    assert first["illust"] == best["illusts"][0]


@pytest.mark.parametrize(
    ("path", "params", "named"),
    [
        pytest.param("/v1/illust/detail", {}, "illust_id", id="no id"),
        pytest.param("/v1/illust/detail", {"illust_id": "1x"}, "illust_id", id="no number"),
        pytest.param("/v1/illust/detail", {"illust_id": "0"}, "illust_id", id="zero"),
        pytest.param("/v1/search/illust", {}, "word", id="no word"),
        pytest.param("/v1/search/illust", {"word": "　 "}, "word", id="a word of blanks"),
        pytest.param("/v1/search/illust", {"word": "a", "sort": "best"}, "sort", id="an unknown order"),
        pytest.param("/v1/search/illust", {"word": "a", "search_target": "tags"}, "search_target", id="another target"),
        pytest.param("/v1/search/illust", {"word": "a", "offset": "-30"}, "offset", id="an offset below zero"),
        pytest.param("/v1/search/illust", {"word": "a", "start_date": "2026-1-1"}, "start_date", id="a short date"),
        pytest.param("/v1/search/illust", {"word": "a", "end_date": "2026-02-30"}, "end_date", id="a day that is none"),
        pytest.param("/v1/illust/ranking", {}, "mode", id="no mode"),
        pytest.param("/v1/illust/ranking", {"mode": "daily"}, "mode", id="an unknown mode"),
        pytest.param("/v1/user/illusts", {}, "user_id", id="no user"),
        pytest.param("/v1/user/illusts", {"user_id": 5_001, "type": "novel"}, "type", id="an unknown kind"),
        pytest.param("/v1/user/bookmarks/illust", {"user_id": 5_001}, "restrict", id="no restriction"),
        pytest.param("/v2/illust/follow", {"restrict": "some"}, "restrict", id="an unknown restriction"),
        pytest.param("/v1/illust/series", {}, "illust_series_id", id="no series"),
    ],
)
def test_a_bad_parameter_is_named(ask: Asker, path: str, params: dict[str, object], named: str) -> None:
    reply = ask.call(path, **params)
    assert reply.status == 400
    assert named in msgspec.json.decode(reply.body)["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/illust/details", "/v3/illust/detail", "/v1/novel/text", "/"])
def test_a_route_that_there_is_not_is_called_an_end_point(ask: Asker, path: str) -> None:
    reply = ask.call(path)
    assert reply.status == 404
    assert "end-point" in msgspec.json.decode(reply.body)["error"]["message"]
