"""The same seed is the same world, and every block of it is what it is there for."""

from random import Random

import msgspec
import pytest

from pixivflow.sandbox.clock import MANUAL_START, jst_text
from pixivflow.sandbox.model import Visibility
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.state import generated
from tests.fixtures.sandboxes import MANUAL, PIXIV, Asker


def sampled(seed: int) -> list[str]:
    """A hundred addresses of every kind."""
    rng = Random(seed)
    ids = [rng.randint(100_001, 100_800) for _ in range(40)]
    details = [f"/app/v1/illust/detail?illust_id={work}" for work in ids]
    words = ("風景", "猫", "R-18", "空", "dup", "東京")
    searches = [f"/app/v1/search/illust?word={word}&offset={offset}" for word in words for offset in (0, 30, 60)]
    rankings = [f"/app/v1/illust/ranking?mode=day&date=2026-01-{day:02}" for day in range(1, 15)]
    users = [f"/app/v1/user/illusts?user_id={user}" for user in range(5_040, 5_060)]
    return [*details, *searches, *rankings, *users, "/app/v1/trending-tags/illust", "/web/ajax/illust/100005"]


def everything(asker: Asker) -> list[bytes]:
    answers = [asker("GET", target, headers=asker.bearer).body for target in sampled(1)]
    works = [msgspec.json.decode(body) for body in answers[:10]]
    pictures = [work["illust"]["meta_single_page"]["original_image_url"] for work in works]
    return answers + [asker("GET", address, headers=PIXIV).body for address in pictures]


@pytest.mark.case("sandbox", 1)
def test_two_sandboxes_of_one_seed_answer_the_same_bytes() -> None:
    one = everything(Asker())
    generated.cache_clear()
    other = everything(Asker())
    assert len(one) >= 100
    assert all(one)
    assert one == other


def test_another_seed_is_another_world() -> None:
    one, other = everything(Asker()), everything(Asker(msgspec.structs.replace(MANUAL, seed=2)))
    assert sum(a != b for a, b in zip(one, other, strict=True)) > 90


@pytest.mark.parametrize(("asked", "made"), [(2_000, 2_000), (3_000, 3_000), (10, 893)])
def test_there_are_as_many_works_as_asked_for_but_the_blocks_are_always_there(asked: int, made: int) -> None:
    asker = Asker(Options(clock="manual", works=asked))
    assert len(asker.service.state.world.works) == made
    assert asker.data("/v1/illust/detail", illust_id=100_800)["illust"]["id"] == 100_800


def test_no_work_is_younger_than_yesterday_or_older_than_thirty_days(ask: Asker) -> None:
    born = [work.created_at for work in ask.service.state.world.works.values()]
    midnight = MANUAL_START - 12 * 3_600_000
    assert midnight - 30 * 86_400_000 <= min(born)
    assert max(born) < midnight


def test_a_newer_work_has_a_higher_id_among_its_like(ask: Asker) -> None:
    plain = [work for work in ask.service.state.world.works.values() if not 100_801 <= work.id < 110_001]
    assert [work.id for work in sorted(plain, key=lambda work: (work.created_at, work.id))] == sorted(
        work.id for work in plain
    )


def test_about_a_tenth_has_an_age_limit_and_about_a_tenth_is_made_by_machines(ask: Asker) -> None:
    plain = [work for work in ask.service.state.world.works.values() if work.page_count == 1 and work.type == "illust"]
    tagged = [work for work in plain if any(tag.name == "AI生成" for tag in work.tags)]
    assert 0.07 < sum(work.x_restrict > 0 for work in plain) / len(plain) < 0.13
    assert 0.07 < sum(work.illust_ai_type == 2 for work in plain) / len(plain) < 0.13
    assert 0.03 < len(tagged) / len(plain) < 0.07
    assert {work.illust_ai_type for work in tagged} == {0}


def test_some_tags_are_common_and_others_rare(ask: Asker) -> None:
    def found(word: str) -> int:
        return sum(word in (tag.name for tag in work.tags) for work in ask.service.state.world.works.values())

    assert found("オリジナル") > 5 * found("静物") > 0


def test_the_works_of_many_pages_have_two_to_two_hundred(ask: Asker) -> None:
    works = [ask.data("/v1/illust/detail", illust_id=101_001 + at)["illust"] for at in range(20)]
    counts = [work["page_count"] for work in works]
    assert (min(counts), max(counts)) == (2, 200)
    assert [len(work["meta_pages"]) for work in works] == counts
    assert {str(work["meta_single_page"]) for work in works} == {"{}"}
    last = works[-1]["meta_pages"][199]["image_urls"]["original"]
    assert last.endswith(("101020_p199.jpg", "101020_p199.png", "101020_p199.gif"))


def test_a_deleted_work_is_found_by_a_search_and_gone_when_asked_for(ask: Asker) -> None:
    title = ask.data("/v1/search/illust", word="work 101301", search_target="title_and_caption")
    assert [work["id"] for work in title["illusts"]] == [101_301]
    reply = ask.call("/v1/illust/detail", illust_id=101_301)
    assert reply.status == 404
    assert "該当作品は削除されたか" in reply.body.decode()


def test_a_restricted_work_is_refused_with_the_text_that_clients_know(ask: Asker) -> None:
    reply = ask.call("/v1/illust/detail", illust_id=101_311)
    assert reply.status == 403
    assert msgspec.json.decode(reply.body)["error"]["user_message"].startswith("アクセスが制限されています")


@pytest.mark.parametrize(
    ("work", "name"),
    [(101_321, "limit_sanity_level"), (101_322, "limit_unviewable"), (101_323, "limit_mypixiv")],
)
def test_a_placeholder_is_hollow_and_grey(ask: Asker, work: int, name: str) -> None:
    found = ask.data("/v1/illust/detail", illust_id=work)["illust"]
    grey = f"https://s.pximg.net/common/images/{name}_360.png"
    assert (found["title"], found["user"]["name"], found["visible"], found["tags"]) == ("", "", False, [])
    assert (found["width"], found["height"], found["total_bookmarks"]) == (100, 100, 0)
    assert {*found["image_urls"].values(), found["meta_single_page"]["original_image_url"]} == {grey}
    assert found["create_date"].startswith("202")


def test_the_author_of_a_hidden_work_is_nobody(ask: Asker) -> None:
    found = ask.data("/v1/illust/detail", illust_id=101_331)["illust"]
    assert (found["user"]["id"], found["visible"]) == (0, False)
    assert found["title"] == "work 101331"


def test_the_odd_titles_and_authors_stand_in_the_answers_as_they_are(ask: Asker) -> None:
    works = [ask.data("/v1/illust/detail", illust_id=101_401 + at)["illust"] for at in range(20)]
    titles = {work["title"] for work in works}
    assert {"../../x", "before\0after", "CON", "", 'a/b:c*d?e"f<g>h|i', "trailing dots..."} <= titles
    assert {len(title) for title in titles} >= {300}
    assert {"..", "CON", "a/b", ""} <= {work["user"]["name"] for work in works}


def test_four_works_lie_on_the_two_sides_of_one_midnight(ask: Asker) -> None:
    dates = [ask.data("/v1/illust/detail", illust_id=101_601 + at)["illust"]["create_date"] for at in range(4)]
    assert dates == ["2026-01-13T23:59:59+09:00"] * 2 + ["2026-01-14T00:00:00+09:00"] * 2


def test_the_kind_can_stand_under_its_other_name_in_details(ask: Asker) -> None:
    ask.tell("/options", {"detail_type_key": "illust_type"})
    found = ask.data("/v1/illust/detail", illust_id=101_101)["illust"]
    assert (found.get("type"), found["illust_type"]) == (None, "manga")


def test_a_date_is_always_a_japanese_one() -> None:
    assert jst_text(MANUAL_START) == "2026-01-15T12:00:00+09:00"


def test_every_visibility_is_in_the_world(ask: Asker) -> None:
    assert {work.visibility for work in ask.service.state.world.works.values()} == set(Visibility)
