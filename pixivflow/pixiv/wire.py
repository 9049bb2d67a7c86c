"""Answers as they arrive. Unknown fields are passed over, and whatever may be missing may be null as well.

Lists hold their items raw, so that one odd item does not take its whole page with it.
Source: the replies of the App API as open clients have written them down.
"""

from typing import Any

import msgspec

Id = int | str | None


class Urls(msgspec.Struct, frozen=True):
    square_medium: str | None = None
    medium: str | None = None
    large: str | None = None
    original: str | None = None


class SinglePage(msgspec.Struct, frozen=True):
    original_image_url: str | None = None


class MetaPage(msgspec.Struct, frozen=True):
    image_urls: Urls | None = None


class User(msgspec.Struct, frozen=True):
    id: Id = None
    name: str | None = None


class Tag(msgspec.Struct, frozen=True):
    name: str | None = None
    translated_name: str | None = None


class Illust(msgspec.Struct, frozen=True):
    """An item of a list, or the whole of a detail. `type` is called `illust_type` in some replies."""

    id: Id = None
    title: str | None = None
    caption: str | None = None
    type: str | None = None
    illust_type: str | None = None
    create_date: str | None = None
    page_count: int | None = None
    user: User | None = None
    tags: list[Tag] | None = None
    image_urls: Urls | None = None
    meta_single_page: SinglePage | None = None
    meta_pages: list[MetaPage] | None = None
    total_view: int | None = None
    view_count: int | None = None
    total_bookmarks: int | None = None
    bookmark_count: int | None = None
    x_restrict: int | None = None
    illust_ai_type: int | None = None
    visible: bool | None = None


class DetailReply(msgspec.Struct, frozen=True):
    illust: Illust | None = None


class ListReply(msgspec.Struct, frozen=True):
    illusts: list[msgspec.Raw] | None = None
    next_url: str | None = None


class ApiError(msgspec.Struct, frozen=True):
    """`message` is for programs, `user_message` for people; clients look at both."""

    user_message: str | None = None
    message: str | None = None
    reason: str | None = None


class Envelope(msgspec.Struct, frozen=True):
    """Any answer of the App API, looked at for its error alone."""

    error: ApiError | str | None = None


class Granted(msgspec.Struct, frozen=True):
    """What the login service grants. `expires_in`: seconds."""

    access_token: str
    refresh_token: str
    expires_in: float
    token_type: str = "bearer"  # noqa: S105 - a kind, no secret


class Nested(msgspec.Struct, frozen=True):
    """The same, as older replies wrap it."""

    response: Granted


class RefusedGrant(msgspec.Struct, frozen=True):
    """Why the login service grants nothing. `errors`: `{"system": {"message", "code"}}`."""

    error: Any = None
    errors: Any = None
