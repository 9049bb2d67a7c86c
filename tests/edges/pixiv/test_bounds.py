"""Numbers that no service names in earnest: none of them is counted up to, kept, or waited for."""

import json
from typing import Any

import msgspec
import pytest
from trio.testing import MockClock

from pixivflow.pixiv import bounds, translate, urls
from pixivflow.pixiv.answers import WISH_MOST_MS, wait_of
from pixivflow.pixiv.wire import Illust
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.ports import SkipCode, Unfit
from tests.edges.pixiv.stage import Stage
from tests.edges.pixiv.test_source import a_work

HUGE = 2**62
NUMBER = 100_001


def read(**told: Any) -> WorkDetail | None:
    return translate.work(msgspec.json.decode(json.dumps({"id": 1, "user": {"id": 7}, **told}), type=Illust))


@pytest.mark.parametrize("field", ["total_bookmarks", "total_view", "x_restrict", "illust_ai_type"])
@pytest.mark.parametrize(("told", "kept"), [(10**30, bounds.COUNT_MOST), (-(10**30), 0), (7, 7)])
def test_a_count_is_one_that_a_row_can_hold(field: str, told: int, kept: int) -> None:
    work = read(**{field: told})
    assert work is not None
    assert kept in (work.bookmarks, work.views, work.x_restrict, work.ai_type)


@pytest.mark.parametrize("told", [0, -5, 10**18, 10**4000, "9" * 4000, "../../x", "", None])
def test_what_is_no_number_of_a_work_is_no_work(told: object) -> None:
    assert read(id=told) is None


@pytest.mark.parametrize("told", [10**4000, "../..", "9" * 4000])
def test_an_artist_without_a_number_has_none(told: object) -> None:
    work = read(user={"id": told})
    assert work is not None
    assert work.user_id == ""


@pytest.mark.parametrize(("told", "kept"), [(HUGE, 1_001), (1_001, 1_001), (1_000, 1_000), (0, 1), (-HUGE, 1)])
def test_a_number_of_pages_is_never_larger_than_one_beyond_the_most(told: int, kept: int) -> None:
    work = read(page_count=told)
    assert work is not None
    assert work.page_count == kept


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param({"page_count": 1_001}, id="a number of pages"),
        pytest.param({"meta_pages": [{"image_urls": {"original": "https://i.pximg.net/a.png"}}] * 5_000}, id="a list"),
    ],
)
async def test_a_work_that_claims_more_pages_than_any_has_is_refused(
    claim: dict[str, Any], autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage()
    whole = translate.work

    def claiming(illust: Illust) -> WorkDetail | None:
        return whole(msgspec.convert({**msgspec.to_builtins(illust), **claim}, type=Illust))

    monkeypatch.setattr(translate, "work", claiming)
    with pytest.raises(Unfit, match="more than 1000 pages") as raised:
        await stage.source.detail(a_work(NUMBER))
    assert raised.value.code is SkipCode.INVALID_METADATA


@pytest.mark.parametrize("asked", ["9" * 9, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_nobody_is_parked_for_years(asked: str) -> None:
    assert wait_of(asked, 0) == WISH_MOST_MS


def test_a_page_that_begins_nowhere_near_begins_at_the_beginning() -> None:
    assert urls.offset_of("https://app-api.pixiv.net/v1/search/illust?offset=" + "9" * 5_000) == 0
    assert urls.offset_of("https://app-api.pixiv.net/v1/search/illust?offset=30") == 30
