"""What exists in the fake service: works by their authors, and the lists that were drawn up of them."""

from collections.abc import Hashable, Iterable
from datetime import date
from enum import StrEnum
from typing import Any, Final, Literal

import msgspec

VIEWER: Final = 9_000_001
"""The account that every token belongs to."""


class Visibility(StrEnum):
    """What the service shows of a work when it is asked for it by id."""

    SHOWN = "shown"
    DELETED = "deleted"
    RESTRICTED = "restricted"
    HIDDEN = "hidden"  # the work is there, its author is not
    LIMIT_SANITY = "limit_sanity_level"  # the last three: hollow, with a grey picture in place of the work
    LIMIT_UNVIEWABLE = "limit_unviewable"
    LIMIT_MYPIXIV = "limit_mypixiv"


HOLLOW: Final = frozenset({Visibility.LIMIT_SANITY, Visibility.LIMIT_UNVIEWABLE, Visibility.LIMIT_MYPIXIV})


class Tag(msgspec.Struct, frozen=True):
    name: str
    translated_name: str | None = None


class User(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    name: str
    account: str


class Frame(msgspec.Struct, frozen=True):
    """One picture of an animation and how long it stands, in ms."""

    file: str
    delay: int


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One illustration, manga or animation. The names are those of the service's answers where it has one."""

    id: int
    user_id: int
    created_at: int
    type: Literal["illust", "manga", "ugoira"] = "illust"
    title: str = ""
    caption: str = ""
    tags: tuple[Tag, ...] = ()
    page_count: int = 1
    width: int = 1_200
    height: int = 1_600
    sanity_level: int = 2
    x_restrict: int = 0
    restrict: int = 0
    illust_ai_type: int = 1
    total_view: int = 0
    total_bookmarks: int = 0
    series_id: int | None = None
    visibility: Visibility = Visibility.SHOWN
    ext: Literal["jpg", "png", "gif"] = "jpg"
    image_bytes: int = 40_000
    """The size of each page's original."""
    frames: tuple[Frame, ...] = ()


class Series(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    title: str
    user_id: int
    works: tuple[int, ...]


class Bookmark(msgspec.Struct, frozen=True):
    """`id` grows with time and is the cursor of the list; `tag` is the owner's own word for it."""

    id: int
    work: int
    tag: str | None


class World:
    """Everything there is. Whoever changes a part says `changed()`, which forgets what was derived from it."""

    def __init__(self, seed: int, start_day: date, page_size: int) -> None:
        self.seed, self.start_day, self.page_size = seed, start_day, page_size
        self.works: dict[int, Work] = {}
        self.users: dict[int, User] = {}
        self.series: dict[int, Series] = {}
        self.bookmarks: dict[tuple[int, str], tuple[Bookmark, ...]] = {}
        self.follows: dict[str, frozenset[int]] = {}
        self.rankings: dict[tuple[str, date], tuple[int, ...]] = {}
        """The lists that were set by hand; the others are made from the seed when they are asked for."""
        self.derived: dict[Hashable, Any] = {}
        """What follows from the rest, kept until something changes."""
        self.files: dict[str, Any] = {}
        """Some of the files of the image host, by their path."""

    def copy(self) -> "World":
        """A world that can be changed without this one."""
        other = World(self.seed, self.start_day, self.page_size)
        for name in ("works", "users", "series", "bookmarks", "follows", "rankings"):
            setattr(other, name, dict(getattr(self, name)))
        return other

    def changed(self) -> None:
        """Forget every list and every rendered answer."""
        self.derived.clear()
        self.files.clear()

    def add(self, works: Iterable[Work] = (), users: Iterable[User] = ()) -> None:
        """Add the items, or put them in the place of those with the same id."""
        self.works.update((work.id, work) for work in works)
        self.users.update((user.id, user) for user in users)
        self.changed()

    def author(self, work: Work) -> User:
        """The author; one that nobody described is named after the id."""
        return self.users.get(work.user_id) or plain_user(work.user_id)


def plain_user(user_id: int) -> User:
    return User(id=user_id, name=f"author-{user_id}", account=f"author{user_id}")
