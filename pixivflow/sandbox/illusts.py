"""The data routes of illustrations. Each takes a call and gives the JSON of its answer."""

from datetime import timedelta
from typing import Any, Final, get_args

from pixivflow.sandbox import render
from pixivflow.sandbox.calls import Answer, Call, page
from pixivflow.sandbox.clock import jst_day
from pixivflow.sandbox.envelope import DELETED, NO_USER, RESTRICTED, bad_parameter, error_reply, no_work
from pixivflow.sandbox.message import Refused
from pixivflow.sandbox.model import HOLLOW, VIEWER, Visibility, Work
from pixivflow.sandbox.rankings import MODES, ranking
from pixivflow.sandbox.search import Order, Search, Where, by_popularity, find, normal

ORDERS: Final = get_args(Order)
PLACES: Final = get_args(Where)
SEARCH_END: Final = 5_000
SPAN_S: Final = 31_536_000
KINDS: Final = {"illust": ("illust", "ugoira"), "manga": ("manga",)}
EVERY_KIND: Final = ("illust", "manga", "ugoira")


def shown(call: Call, ids: Any) -> list[Any]:
    """The works as list items."""
    works = call.world.works
    return [render.illust(call.world, works[each], call.bases) for each in ids if each in works]


def detail(call: Call) -> Answer:
    work = a_work(call)
    return {"illust": render.illust(call.world, work, call.bases, call.switches.detail_type_key)}


def a_work(call: Call) -> Work:
    """The work that is asked for by id, if the service shows it."""
    work = call.world.works.get(call.need_id("illust_id"))
    if work is None or work.visibility is Visibility.DELETED:
        raise no_work()
    if work.visibility is Visibility.RESTRICTED:
        raise Refused(error_reply(403, "", RESTRICTED))
    return work


def search(call: Call) -> Answer:
    """The walk ends at an offset that the real service ends near, whatever there is beyond it."""
    order = call.one_of("sort", ORDERS, "date_desc")
    if order.startswith("popular") and call.switches.premium == "off":
        order = "date_desc"
    asked = Search(
        word=call.need("word"),
        where=call.one_of("search_target", PLACES, "partial_match_for_tags"),  # type: ignore[arg-type]
        order=order,  # type: ignore[arg-type]
        safe=call.is_safe,
        first_day=call.day("start_date"),
        last_day=call.day("end_date"),
    )
    ids, following = page(call, find(call.world, asked), SEARCH_END)
    return {"illusts": shown(call, ids), "next_url": following, "search_span_limit": SPAN_S, "show_ai": True}


def ranked(call: Call) -> Answer:
    """Lists whose mode asks for an age limit keep their works also for clients that would not see them otherwise."""
    mode = call.one_of("mode", tuple(MODES))
    newest = jst_day(call.now) - timedelta(days=1)
    day = call.day("date") or newest
    if day > newest:
        raise bad_parameter("date", "must be before today")
    if mode == "week" and day == newest and (mode, day) not in call.world.rankings:
        raise bad_parameter("date", "not ready yet")
    every = ranking(call.world, mode, day)
    ids, following = page(call, every if "_r18" in mode else safe(call, every))
    return {"illusts": shown(call, ids), "next_url": following}


def safe(call: Call, ids: Any) -> list[int]:
    """The ids without those that the call's filter keeps out."""
    works = call.world.works
    return [each for each in ids if not (call.is_safe and each in works and works[each].x_restrict > 0)]


def newest_first(call: Call, authors: Any, kinds: Any = EVERY_KIND) -> list[int]:
    """The ids of all works of those authors, the newest ahead."""
    works = [each for each in call.world.works.values() if each.user_id in authors and each.type in kinds]
    return safe(call, [each.id for each in sorted(works, key=lambda work: (work.created_at, work.id), reverse=True)])


def of_user(call: Call) -> Answer:
    user_id = known_user(call)
    kinds = KINDS[call.one_of("type", ("illust", "manga"))] if "type" in call.params else EVERY_KIND
    ids, following = page(call, newest_first(call, {user_id}, kinds))
    user = render.user(call.world, user_id, call.bases.img)
    return {"user": user, "illusts": shown(call, ids), "next_url": following}


def known_user(call: Call) -> int:
    user_id = call.need_id("user_id")
    if user_id not in call.world.users:
        raise Refused(error_reply(404, "", NO_USER))
    return user_id


def follow(call: Call) -> Answer:
    restrict = call.one_of("restrict", ("public", "private", "all"), "all")
    groups = call.world.follows
    authors = frozenset[int]().union(*(groups[each] for each in groups if restrict in (each, "all")))
    ids, following = page(call, newest_first(call, authors))
    return {"illusts": shown(call, ids), "next_url": following}


def bookmarks(call: Call) -> Answer:
    """The cursor is the id of the last bookmark that was given out."""
    user_id, restrict = known_user(call), call.one_of("restrict", ("public", "private"))
    if restrict == "private" and user_id != VIEWER:
        raise Refused(error_reply(403, "", RESTRICTED))
    before = call.number("max_bookmark_id") or None
    every = call.world.bookmarks.get((user_id, restrict), ())
    fits = [
        each for each in every if (before is None or each.id < before) and call.params.get("tag", each.tag) == each.tag
    ]
    now = fits[: call.world.page_size]
    following = call.next_url(max_bookmark_id=now[-1].id) if len(fits) > len(now) else None
    return {"illusts": shown(call, safe(call, [each.work for each in now])), "next_url": following}


def series(call: Call) -> Answer:
    known = call.world.series.get(call.need_id("illust_series_id"))
    if known is None:
        raise no_work()
    ids, following = page(call, known.works)
    told = {
        "id": known.id,
        "title": known.title,
        "caption": "",
        "series_work_count": len(known.works),
        "user": render.user(call.world, known.user_id, call.bases.img),
    }
    return {"illust_series_detail": told, "illusts": shown(call, ids), "next_url": following}


def related(call: Call) -> Answer:
    work = a_work(call)
    asked = Search(word=work.tags[-1].name if work.tags else "-", where="exact_match_for_tags", safe=call.is_safe)
    ids = [each for each in find(call.world, asked) if each != work.id]
    return {"illusts": shown(call, ids[: call.world.page_size]), "next_url": None}


def ugoira(call: Call) -> Answer:
    work = a_work(call)
    if work.type != "ugoira":
        raise Refused(error_reply(404, "", DELETED))
    folder = f"{call.bases.img}/img-zip-ugoira/img/{render.date_path(work.created_at)}"
    frames = [{"file": frame.file, "delay": frame.delay} for frame in work.frames]
    medium = f"{folder}/{work.id}_ugoira600x600.zip"
    return {"ugoira_metadata": {"zip_urls": {"medium": medium}, "frames": frames}}


def known_tags(call: Call) -> dict[str, str | None]:
    """Every tag that a visible work carries, the most popular works' first."""
    if "tags" not in call.world.derived:
        there = [work for work in call.world.works.values() if work.visibility not in HOLLOW]
        ranked_works = sorted(there, key=by_popularity, reverse=True)
        call.world.derived["tags"] = {tag.name: tag.translated_name for work in ranked_works for tag in work.tags}
    tags: dict[str, str | None] = call.world.derived["tags"]
    return tags


def autocomplete(call: Call) -> Answer:
    word = normal(call.need("word"))
    fits = [(name, told) for name, told in known_tags(call).items() if word in normal(name)][:10]
    if call.switches.autocomplete_shape == "old":
        return {"search_auto_complete_keywords": [name for name, _ in fits]}
    return {"tags": [{"name": name, "translated_name": told} for name, told in fits]}


def trending(call: Call) -> Answer:
    found = []
    for name, told in list(known_tags(call).items())[:20]:
        ids = find(call.world, Search(word=name, where="exact_match_for_tags", order="popular_desc", safe=call.is_safe))
        if ids:
            (work,) = shown(call, ids[:1])
            found.append({"tag": name, "translated_name": told, "illust": work})
    return {"trend_tags": found}


def user_detail(call: Call) -> Answer:
    user_id = known_user(call)
    counts = {kind: len(newest_first(call, {user_id}, (kind,))) for kind in ("illust", "manga")}
    profile = {"total_illusts": counts["illust"], "total_manga": counts["manga"], "total_novels": 0, "webpage": None}
    user = {**render.user(call.world, user_id, call.bases.img), "comment": ""}
    return {"user": user, "profile": profile, "profile_publicity": {"gender": "public"}, "workspace": {"pc": ""}}
