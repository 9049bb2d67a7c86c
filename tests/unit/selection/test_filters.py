"""Which works a target does not want, and what is said of them."""

from datetime import date

import pytest

from pixivflow.selection.filters import declined, is_ai, unwanted
from pixivflow.selection.model import Tag, WorkDetail, WorkKind
from pixivflow.selection.target import day_window
from tests.fixtures.walks import a_target, a_work

WINDOW = day_window(date(2026, 9, 8), date(2026, 9, 8))
ALL = a_target(min_bookmarks=100, exclude_ai=True)


def test_a_work_that_passes_every_rule_is_wanted() -> None:
    assert unwanted(a_work(bookmarks=100), ALL, WINDOW) is None


@pytest.mark.parametrize(
    ("work", "code", "reason"),
    [
        pytest.param(a_work(is_visible=False), "access_denied", "not shown to this account", id="a placeholder"),
        pytest.param(a_work(bookmarks=99), "filtered", "too few bookmarks", id="too few bookmarks"),
        pytest.param(a_work(), "filtered", "too few bookmarks", id="a work whose counter is missing"),
        pytest.param(a_work(bookmarks=100, created_at=0), "filtered", "outside the days", id="an old one"),
        pytest.param(a_work(bookmarks=100, created_at=None), "filtered", "outside the days", id="one without a day"),
        pytest.param(a_work(bookmarks=100, ai_type=2), "filtered", "made by a machine", id="a machine's"),
    ],
)
def test_the_first_rule_that_applies_gives_code_and_reason(work: WorkDetail, code: str, reason: str) -> None:
    skip = unwanted(work, ALL, WINDOW)
    assert skip is not None
    assert (skip.code, skip.reason, skip.work_id) == (code, reason, work.id)


def test_a_target_that_asks_for_nothing_in_particular_wants_all_that_is_shown() -> None:
    assert unwanted(a_work(ai_type=2, created_at=None), a_target(), None) is None


@pytest.mark.case("download", 49)
@pytest.mark.parametrize(
    "tag",
    [
        Tag("AI-Generated"),
        Tag("AI生成"),
        Tag("生成AI"),
        Tag("Generative AI"),
        Tag("ai_generated（仮）"),
        Tag("風景", translated="AI Generated"),
    ],
    ids=lambda tag: tag.name,
)
def test_a_tag_says_that_a_machine_made_it_also_where_the_field_says_nothing(tag: Tag) -> None:
    work = a_work(ai_type=0, tags=(Tag("sky"), tag))
    assert unwanted(work, a_target(exclude_ai=True), None) is not None
    assert unwanted(work, a_target(), None) is None


@pytest.mark.parametrize("ai_type", [None, 0, 1])
@pytest.mark.parametrize("name", ["風景", "paint", "aichi", "generated"])
def test_a_work_that_nothing_calls_a_machines_is_kept(ai_type: int | None, name: str) -> None:
    assert not is_ai(a_work(ai_type=ai_type, tags=(Tag(name),)))


def test_the_rule_about_machines_is_for_pictures() -> None:
    assert not is_ai(a_work(ai_type=2, kind=WorkKind.NOVEL))


@pytest.mark.parametrize(("pages", "limit", "is_declined"), [(11, 10, True), (10, 10, False), (500, None, False)])
def test_a_work_of_more_pages_than_wanted_is_declined(pages: int, limit: int | None, is_declined: bool) -> None:
    assert (declined(a_work(page_count=pages), a_target(max_page_count=limit)) is not None) is is_declined
