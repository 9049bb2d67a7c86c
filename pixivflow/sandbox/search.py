"""Which works a search finds, and in which order."""

import unicodedata
from collections.abc import Callable
from datetime import date
from typing import Final, Literal

import msgspec

from pixivflow.sandbox.clock import jst_day
from pixivflow.sandbox.model import HOLLOW, Work, World

Where = Literal["partial_match_for_tags", "exact_match_for_tags", "title_and_caption", "keyword"]
Order = Literal["date_desc", "date_asc", "popular_desc", "popular_male_desc", "popular_female_desc"]


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for. The days are inclusive and Japanese."""

    word: str
    where: Where = "partial_match_for_tags"
    order: Order = "date_desc"
    safe: bool = False
    """Whether works with an age limit stay out."""
    first_day: date | None = None
    last_day: date | None = None


class Entry(msgspec.Struct, frozen=True):
    """A work as the search sees it."""

    work: Work
    day: date
    tags: frozenset[str]
    text: str


def normal(text: str) -> str:
    """The form in which words are compared: full width and case do not count."""
    return unicodedata.normalize("NFKC", text).lower()


def find(world: World, search: Search) -> tuple[int, ...]:
    """The ids that the search finds, in its order."""
    if search not in world.derived:
        world.derived[search] = tuple(_found(world, search))
    found: tuple[int, ...] = world.derived[search]
    return found


def _found(world: World, search: Search) -> list[int]:
    words = normal(search.word).split()
    hits = [
        entry.work
        for entry in _index(world)
        if all(MATCHES[search.where](entry, word) for word in words) and _within(entry, search)
    ]
    ids = [work.id for work in sorted(hits, key=_ORDER[search.order], reverse=search.order != "date_asc")]
    if words == ["dup"]:  # what a list does that grows while it is read: the second page repeats the end of the first
        return ids[: world.page_size] + ids[max(0, world.page_size - 10) :]
    return ids


def _index(world: World) -> list[Entry]:
    if "index" not in world.derived:
        world.derived["index"] = [_entry(work) for work in world.works.values() if work.visibility not in HOLLOW]
    entries: list[Entry] = world.derived["index"]
    return entries


def _entry(work: Work) -> Entry:
    tags = frozenset(normal(tag.name) for tag in work.tags)
    return Entry(work, jst_day(work.created_at), tags, normal(f"{work.title}\n{work.caption}"))


def _within(entry: Entry, search: Search) -> bool:
    late = search.last_day is not None and entry.day > search.last_day
    early = search.first_day is not None and entry.day < search.first_day
    return not (late or early or (search.safe and entry.work.x_restrict > 0))


MATCHES: Final[dict[str, Callable[[Entry, str], bool]]] = {
    "exact_match_for_tags": lambda entry, word: word in entry.tags,
    "partial_match_for_tags": lambda entry, word: any(word in tag for tag in entry.tags),
    "title_and_caption": lambda entry, word: word in entry.text,
    "keyword": lambda entry, word: word in entry.text or any(word in tag for tag in entry.tags),
}


def _by_date(work: Work) -> tuple[int, ...]:
    return work.created_at, work.id


def by_popularity(work: Work) -> tuple[int, ...]:
    """Grows with the bookmarks; of two equally popular works the newer one is ahead."""
    return work.total_bookmarks, work.created_at, work.id


_ORDER: Final[dict[str, Callable[[Work], tuple[int, ...]]]] = {
    "date_desc": _by_date,
    "date_asc": _by_date,
    "popular_desc": by_popularity,
    "popular_male_desc": by_popularity,
    "popular_female_desc": by_popularity,
}
