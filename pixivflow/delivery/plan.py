"""What of a content a route can show, where the route says that it cannot show everything.

Nothing is dropped in silence: what is left out is named, and an attempt that would show none of the media is none.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from pixivflow.config.model import Capabilities
from pixivflow.delivery.content import Content
from pixivflow.delivery.media import AlbumPart, Media, Part, SinglePart, TextPart, kind_of, single
from pixivflow.delivery.profile import WEBHOOK, Profile, overridden

TOO_LARGE: Final = "upload_too_large"
NO_ALBUM: Final = "album_not_supported"
_ORDER: Final = (NO_ALBUM, "image_not_supported", "file_not_supported", "video_not_supported")


class Unsendable(ValueError):
    """A promise that no retry can make sendable."""


class Dropped(msgspec.Struct, frozen=True):
    """One thing that the receiver does not get."""

    kind: str
    reason: str


class Downgrade(msgspec.Struct, frozen=True):
    """How often something was shown in a lesser way, or not at all, because the receiver has no such thing."""

    reason: str
    count: int


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """`parts` are shown; `unsupported` are not, for the reasons in `dropped`, one each."""

    parts: tuple[Part, ...]
    unsupported: tuple[SinglePart, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    downgrades: tuple[Downgrade, ...] = ()


def plan(content: Content, profile: Profile) -> Plan:
    """What a receiver of this profile shows of the content."""
    parts: list[Part] = []
    left_out: list[tuple[SinglePart, str]] = []
    broken_albums = 0
    for part in content.parts:
        if isinstance(part, TextPart):
            parts += [part] if profile.text and part.text.strip() else []
            continue
        judged = [(media, _obstacle(media, profile)) for media in _media(part)]
        parts += _shown([media for media, why in judged if why is None], profile)
        left_out += [(single(media), why) for media, why in judged if why is not None]
        broken_albums += 0 if profile.album or not isinstance(part, AlbumPart) else len(part.items)
    lesser = Counter({NO_ALBUM: broken_albums} | Counter(why for _, why in left_out if why != TOO_LARGE))
    return Plan(
        parts=tuple(parts),
        unsupported=tuple(part for part, _ in left_out),
        dropped=tuple(Dropped(kind_of(part.media.path), why) for part, why in left_out),
        downgrades=tuple(Downgrade(reason, lesser[reason]) for reason in _ORDER if lesser[reason]),
    )


def planned(content: Content, given: Capabilities | None) -> tuple[str, tuple[Part, ...], tuple[Dropped, ...]]:
    """Text, parts and what is left out, for a gateway; without any word of its own it is sent everything.

    Errors: `Unsendable` when all its media would be left out, or its text is longer than it takes.
    """
    if given is None:
        return _text(content.parts) or content.text, content.parts, ()
    profile = overridden(WEBHOOK, given)
    found = plan(content, profile)
    if found.unsupported and all(isinstance(part, TextPart) for part in found.parts):
        raise Unsendable("this route can show none of the media: " + ", ".join(each.reason for each in found.dropped))
    return _fitting(_text(found.parts), profile), found.parts, found.dropped


def _obstacle(media: Media, profile: Profile) -> str | None:
    kind = kind_of(media.path)
    if not {"image": profile.image, "file": profile.file, "video": profile.video}[kind]:
        return f"{kind}_not_supported"
    too_large = profile.max_upload_bytes and (media.size or 0) > profile.max_upload_bytes
    return TOO_LARGE if too_large else None


def _shown(media: Sequence[Media], profile: Profile) -> list[Part]:
    fits = profile.album_min <= len(media) <= (profile.album_max or len(media))
    if len(media) > 1 and profile.album and fits:
        return [AlbumPart(tuple(media))]
    return [single(each) for each in media]


def _media(part: Part) -> tuple[Media, ...]:
    match part:
        case TextPart():
            return ()
        case AlbumPart(items=items):
            return items
        case _:
            return (part.media,)


def _text(parts: Sequence[Part]) -> str:
    return next((part.text for part in parts if isinstance(part, TextPart)), "")


def _fitting(text: str, profile: Profile) -> str:
    """The text, shortened where the route says so. One document holds one text, so it cannot be split."""
    if not profile.max_text_length or len(text) <= profile.max_text_length:
        return text
    if profile.truncate_policy != "truncate":
        raise Unsendable(f"the text has {len(text)} characters, and this route takes {profile.max_text_length}")
    return text[: profile.max_text_length - 1] + "…"
