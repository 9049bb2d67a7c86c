"""Lists and single works as the rooms get them, and what answers that are none become."""

import json
import re
from contextlib import aclosing
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from pixivflow.errors import AuthNeeded, Gone, Outage, Rejected, Unavailable
from pixivflow.ids import WorkId
from pixivflow.pixiv import translate, urls
from pixivflow.pixiv.urls import PaginationError
from pixivflow.selection.model import WorkDetail, WorkKind
from pixivflow.selection.ports import Pages
from pixivflow.slots.model import BoundWork, WorkType
from tests.edges.pixiv.stage import Stage, a_search


def a_work(number: int) -> BoundWork:
    return BoundWork(work_id=WorkId(str(number)), work_type=WorkType.ILLUSTRATION)


async def read(pages: Pages, most: int = 100) -> list[tuple[WorkDetail, ...]]:
    found: list[tuple[WorkDetail, ...]] = []
    async with aclosing(pages) as open_pages:
        async for page in open_pages:
            found.append(page)
            if len(found) == most:
                break
    return found


@pytest.mark.case("download", 24)
async def test_pages_come_in_order_each_by_the_cursor_of_the_one_before(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.ask.service.state.world.page_size = 20
    pages = await read(stage.source.search(a_search()))
    asked = [request.url.params.get("offset") for _, request in stage.played.sent if "/search/" in request.url.path]
    ids = [int(work.id) for page in pages for work in page]
    assert asked == [None, "20", "40"]
    assert [len(page) for page in pages] == [20, 20, 20]
    assert list(dict.fromkeys(ids)) == sorted(set(ids), reverse=True)
    assert stage.played.times("/search/") == [0, 0.5, 1]


async def test_a_search_is_asked_for_as_the_target_says(autojump_clock: MockClock) -> None:
    stage = Stage()
    target = a_search(tag="dup", sort="popular_desc", search_target="exact_match_for_tags", r18=False)
    await read(stage.source.search(target), 1)
    assert dict(stage.played.sent[-1][1].url.params) == {
        "word": "dup",
        "search_target": "exact_match_for_tags",
        "include_translated_tag_results": "true",
        "sort": "popular_desc",
        "filter": "for_ios",
    }
    await read(stage.source.search(a_search(r18=True)), 1)
    assert "filter" not in stage.played.sent[-1][1].url.params


async def test_a_ranking_is_the_list_of_its_day_or_the_newest(autojump_clock: MockClock) -> None:
    stage = Stage()
    (first, *_) = await read(stage.source.ranking(a_search(ranking_mode="week"), "2026-01-10"), 1)
    assert stage.played.sent[-1][1].url.params["date"] == "2026-01-10"
    await read(stage.source.ranking(a_search(), None), 1)
    assert "date" not in stage.played.sent[-1][1].url.params
    assert first


async def test_a_ranking_that_is_not_made_yet_is_refused_and_no_empty_list(autojump_clock: MockClock) -> None:
    stage = Stage()
    with pytest.raises(Rejected):
        await read(stage.source.ranking(a_search(), "2026-02-01"))


@pytest.mark.parametrize(
    ("fault", "requests"),
    [
        pytest.param("stuck_cursor", 2, marks=pytest.mark.case("download", 25), id="a cursor that stands still"),
        pytest.param("cursor_cycle", 3, marks=pytest.mark.case("download", 26), id="cursors that go round"),
        pytest.param("foreign_cursor", 1, marks=pytest.mark.case("download", 27), id="a cursor on another host"),
    ],
)
async def test_a_list_that_leads_nowhere_is_an_error(fault: str, requests: int, autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault(fault, match={"route": "/v1/search/illust"})
    with pytest.raises(PaginationError):
        await read(stage.source.search(a_search()))
    assert len(stage.played.paths("/search/")) == requests
    assert {request.url.host for _, request in stage.played.sent} == {"127.0.0.1"}


@pytest.mark.case("download", 29)
async def test_an_empty_page_ends_the_walk(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("empty_page", match={"query": {"offset": "30"}})
    assert [len(page) for page in await read(stage.source.search(a_search()))] == [30]


async def test_items_without_an_id_are_left_out_and_counted(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.edit = partial(_with_items, {0: {"id": None}, 1: "no work", 2: {"id": 5, "title": {}}})
    pages = await read(stage.source.search(a_search()), 1)
    assert [len(page) for page in pages] == [27]
    assert stage.probe.heard("pixiv.items_dropped") == [{"source": "search", "item": "dup", "count": 3}]


def _with_items(items: dict[int, object], path: str, body: bytes) -> bytes:
    """The body, some items of its list replaced."""
    told = json.loads(body)
    for place, item in items.items() if "/search/" in path else ():
        told["illusts"][place] = item
    return json.dumps(told).encode()


async def test_a_list_of_which_nothing_can_be_read_is_an_outage_and_no_empty_list(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("drop_fields", match={"route": "/v1/search/illust"}, fields=["id"])
    with pytest.raises(Outage, match="none of the 30 works"):
        await read(stage.source.search(a_search()))
    assert stage.probe.heard("pixiv.items_dropped") == [{"source": "search", "item": "dup", "count": 30}]


async def test_an_answer_without_a_list_is_an_outage_and_no_empty_list(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("drop_fields", match={"route": "/v1/search/illust"}, fields=["illusts"])
    with pytest.raises(Outage, match="without a list"):
        await read(stage.source.search(a_search()))


@pytest.mark.parametrize(
    ("odd", "title"),
    [
        pytest.param(rb"\ud83d sea", "\ufffd sea", id="the first half of a surrogate pair"),
        pytest.param(rb"sea \udc00", "sea \ufffd", id="the second half"),
        pytest.param(rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600", id="half a pair before a whole one"),
        pytest.param(rb"\\ud83d", r"\ud83d", id="what only looks like one"),
        pytest.param(b"\xff sea", "\ufffd sea", id="a byte that is no text"),
    ],
)
async def test_one_title_that_nobody_can_hold_costs_one_character(
    odd: bytes, title: str, autojump_clock: MockClock
) -> None:
    stage = Stage()
    stage.played.edit = lambda path, body: (
        re.sub(rb'"title":\s*"[^"]*"', lambda _: b'"title":"' + odd + b'"', body, count=1)
        if "/search/" in path
        else body
    )
    (page,) = await read(stage.source.search(a_search()), 1)
    assert len(page) == 30
    assert page[0].title == title


async def test_fields_that_are_missing_break_nothing(autojump_clock: MockClock) -> None:
    stage = Stage()
    fields = ["title", "user", "tags", "create_date", "total_bookmarks", "image_urls", "page_count", "visible"]
    stage.played.fault("drop_fields", match={"route": "/v1/search/illust"}, fields=fields)
    (page,) = await read(stage.source.search(a_search()), 1)
    assert page[0].title == ""
    assert page[0].created_at is None
    assert page[0].is_visible


async def test_a_work_says_all_that_the_rooms_ask_of_it(autojump_clock: MockClock) -> None:
    stage = Stage()
    world = stage.played.ask.service.state.world
    work, true = await stage.source.detail(a_work(101_002)), world.works[101_002]
    assert (work.title, work.kind, work.page_count, len(work.pages)) == (true.title, WorkKind.ILLUSTRATION, 3, 3)
    assert (work.created_at, work.bookmarks, work.x_restrict) == (
        true.created_at,
        true.total_bookmarks,
        true.x_restrict,
    )
    assert [page.index for page in work.pages] == [1, 2, 3]
    assert all("/img-original/" in page.original_url for page in work.pages)
    assert all("_master1200" in (page.fallback_url or "") for page in work.pages)
    assert (await stage.source.detail(a_work(101_201))).pages == ()


async def test_the_kind_of_a_work_may_stand_under_its_older_name(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.ask.tell("/options", {"detail_type_key": "illust_type"})
    assert (await stage.source.detail(a_work(101_101))).kind is WorkKind.MANGA


@pytest.mark.parametrize("number", [101_321, 101_322, 101_323, 101_331])
async def test_a_placeholder_is_no_work_and_has_no_pages(number: int, autojump_clock: MockClock) -> None:
    work = await Stage().source.detail(a_work(number))
    assert (work.is_visible, work.pages, work.user_id) == (False, (), "")


async def test_a_work_that_is_gone_and_one_that_is_closed_are_told_apart(autojump_clock: MockClock) -> None:
    stage = Stage()
    with pytest.raises(Gone):
        await stage.source.detail(a_work(101_301))
    with pytest.raises(Rejected):
        await stage.source.detail(a_work(101_311))
    assert len(stage.played.paths("/detail")) == 2


FAULTS: list[tuple[str, dict[str, Any], type[Exception], int]] = [
    ("status", {"code": 503}, Outage, 4),
    ("status", {"code": 500}, Unavailable, 4),
    ("status", {"code": 418}, Rejected, 1),
    ("reset", {}, Unavailable, 4),
    ("truncate", {"after_bytes": 100}, Unavailable, 4),
    ("bad_json", {}, Unavailable, 4),
    ("empty", {}, Unavailable, 4),
    ("redirect", {"to": "https://evil.example/"}, Unavailable, 4),
    ("error_200", {"user_message": "該当作品は削除されたか、存在しない作品IDです。"}, Gone, 1),
    ("oauth_400", {}, AuthNeeded, 2),
    ("vanish", {"work": 100_001}, Gone, 1),
]


@pytest.mark.parametrize(("fault", "args", "error", "requests"), FAULTS)
async def test_what_an_answer_means_and_how_often_it_is_asked_for(
    fault: str, args: dict[str, Any], error: type[Exception], requests: int, autojump_clock: MockClock
) -> None:
    stage = Stage()
    stage.played.fault(fault, match={"kind": "api"}, **args)
    with pytest.raises(error) as raised:
        await stage.source.detail(a_work(100_001))
    assert type(raised.value) is error or error is Unavailable
    assert len(stage.played.paths("/detail")) == requests
    assert isinstance(raised.value, Outage) == (error is Outage)


@pytest.mark.parametrize(
    ("fault", "args"),
    [
        pytest.param("html", {}, marks=pytest.mark.case("download", 20), id="a page of HTML"),
        pytest.param("error_200", {"message": "?"}, marks=pytest.mark.case("download", 21), id="an error with 200"),
    ],
)
async def test_what_is_no_list_is_never_an_empty_list(
    fault: str, args: dict[str, Any], autojump_clock: MockClock
) -> None:
    stage = Stage()
    stage.played.fault(fault, match={"kind": "api"}, **args)
    with pytest.raises(Unavailable):
        await read(stage.source.search(a_search()))
    assert stage.played.times("/search/") == [0, 1, 3, 6]


@pytest.mark.case("download", 19)
async def test_an_answer_that_stalls_ends_at_its_deadline_and_is_asked_for_again(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.played.fault("stall", match={"kind": "api"}, count=1, after_bytes=100)
    assert (await stage.source.detail(a_work(100_001))).id == "100001"
    assert stage.played.times("/detail") == [0, 31]


@pytest.mark.parametrize(("fault", "words"), [("reset", "ReadError"), ("stall", "no whole answer")])
async def test_a_line_that_broke_names_the_host_and_nothing_more_of_the_address(
    fault: str, words: str, autojump_clock: MockClock
) -> None:
    stage = Stage(retries=0)
    stage.played.fault(fault, match={"kind": "api"})
    with pytest.raises(Unavailable, match=r"Pixiv \(127\.0\.0\.1:8000\)") as raised:
        await stage.source.detail(a_work(100_001))
    assert words in str(raised.value)
    assert "illust_id" not in str(raised.value)


async def test_a_walk_that_is_cancelled_raises_the_cancellation_and_asks_for_no_more(autojump_clock: MockClock) -> None:
    stage, pages = Stage(), list[object]()
    with trio.move_on_after(0.25) as scope:
        pages += await read(stage.source.search(a_search()))
    assert scope.cancelled_caught
    assert pages == []
    assert len(stage.played.paths("/search/")) == 1


async def test_a_search_ends_where_pixiv_ends_it(autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    monkeypatch.setattr(urls, "SEARCH_END", 30)
    assert len(await read(stage.source.search(a_search()))) == 1
    assert urls.offset_of("https://app-api.pixiv.net/v1/search/illust?word=a&offset=30") == urls.SEARCH_END


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-01-15T12:00:00+09:00", 1_768_446_000_000),
        ("9999-12-31T23:59:59-14:00", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
    ],
)
def test_a_work_has_a_date_only_where_every_calendar_has_it(text: str, at: int | None) -> None:
    assert translate.instant(text) == at


async def test_an_answer_that_repeats_the_token_is_told_without_it(autojump_clock: MockClock) -> None:
    stage = Stage()
    await stage.source.detail(a_work(100_001))
    token = stage.played.sent[-1][1].headers["authorization"].split()[1]
    body = json.dumps({"error": {"message": f"{token} may not see this"}})
    stage.played.fault("status", match={"kind": "api"}, code=400, body=body)
    with pytest.raises(Rejected, match=r"\*\*\* may not see this") as raised:
        await stage.source.detail(a_work(100_001))
    assert token not in str(raised.value)
