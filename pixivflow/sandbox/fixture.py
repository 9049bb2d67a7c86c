"""Items put into the world by hand: from a file at the start, or over the control routes while it runs."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from pixivflow.errors import ConfigError
from pixivflow.sandbox.clock import from_text
from pixivflow.sandbox.model import Frame, Tag, User, Visibility, Work, World, plain_user
from pixivflow.sandbox.rankings import MODES

Id: TypeAlias = Annotated[int, Meta(ge=1, lt=10**18)]
Side: TypeAlias = Annotated[int, Meta(ge=1, le=10_000)]


class WorkItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A work as it is written down; what is left out is as in the work that it replaces, or ordinary.

    `create_date`: an ISO instant, Japanese without a zone; a new work without one is as old as the clock says.
    """

    id: Id
    user_id: Id | UnsetType = UNSET
    create_date: str | UnsetType = UNSET
    type: Literal["illust", "manga", "ugoira"] | UnsetType = UNSET
    title: str | UnsetType = UNSET
    caption: str | UnsetType = UNSET
    tags: tuple[str | Tag, ...] | UnsetType = UNSET
    page_count: Annotated[int, Meta(ge=1, le=1_000)] | UnsetType = UNSET
    width: Side | UnsetType = UNSET
    height: Side | UnsetType = UNSET
    sanity_level: int | UnsetType = UNSET
    x_restrict: int | UnsetType = UNSET
    restrict: int | UnsetType = UNSET
    illust_ai_type: int | UnsetType = UNSET
    total_view: int | UnsetType = UNSET
    total_bookmarks: int | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    ext: Literal["jpg", "png", "gif"] | UnsetType = UNSET
    image_bytes: Annotated[int, Meta(ge=0, le=256 << 20)] | UnsetType = UNSET
    frames: tuple[Frame, ...] | UnsetType = UNSET


class UserItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: Id
    name: str | None = None
    account: str | None = None


class Fixture(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Items to add or to replace by id. `rankings`: mode -> day -> ids. `tags`: name -> translation.

    `novels`: the sandbox has none so far, so a fixture may only say that there are none.
    """

    works: tuple[WorkItem, ...] = ()
    novels: tuple[()] = ()
    users: tuple[UserItem, ...] = ()
    rankings: dict[str, dict[date, tuple[int, ...]]] = {}
    tags: dict[str, str | None] = {}


def load(world: World, path: Path, now: int) -> None:
    """Add the items of a file. Errors: `ConfigError` naming the file and the field."""
    try:
        put(world, msgspec.json.decode(path.read_bytes(), type=Fixture), now)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError("--fixture", str(path), str(error)) from error


def put(world: World, fixture: Fixture, now: int) -> None:
    """Add the items to the world.

    Errors: `ValueError` for a date or a mode that there is not; then nothing was added.
    """
    works = [_work(world, item, fixture.tags, now) for item in fixture.works]
    lists = {(known_mode(mode), day): ids for mode, days in fixture.rankings.items() for day, ids in days.items()}
    world.add(works, [_user(item) for item in fixture.users])
    world.add(users=[plain_user(user) for user in _unnamed(world, works)])
    world.rankings.update(lists)
    world.changed()


def known_mode(mode: str) -> str:
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}")
    return mode


def _work(world: World, item: WorkItem, translations: dict[str, str | None], now: int) -> Work:
    known = world.works.get(item.id) or Work(id=item.id, user_id=5_001, created_at=now, title=f"work {item.id}")
    told: dict[str, Any] = {
        name: value
        for name in item.__struct_fields__
        if (value := getattr(item, name)) is not UNSET and name != "create_date"
    }
    if "tags" in told:
        told["tags"] = tuple(_tag(tag, translations) for tag in told["tags"])
    if isinstance(item.create_date, str):
        told["created_at"] = from_text(item.create_date)
    return msgspec.structs.replace(known, **told)


def _tag(tag: str | Tag, translations: dict[str, str | None]) -> Tag:
    return tag if isinstance(tag, Tag) else Tag(tag, translations.get(tag))


def _user(item: UserItem) -> User:
    usual = plain_user(item.id)
    return User(id=item.id, name=usual.name if item.name is None else item.name, account=item.account or usual.account)


def _unnamed(world: World, works: Iterable[Work]) -> set[int]:
    return {work.user_id for work in works} - set(world.users)
