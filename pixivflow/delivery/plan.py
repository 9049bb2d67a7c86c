"""What of a content a route can show, where the route says that it cannot show everything.

Nothing is dropped in silence: what is left out is named, and an attempt that would show none of the media is none.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from pixivflow.config.model import Capabilities
from pixivflow.delivery.content import AlbumPart, Content, Media, Part, SinglePart, TextPart, kind_of, single

TruncatePolicy = Literal["split", "truncate", "error"]
UNLIMITED: Final = 0


class Unsendable(ValueError):
    """A promise that no retry can make sendable."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of receiver takes. Units: characters, bytes, items; 0 is no declared limit.

    `album_max` 0: an album may be of any length, as far as there are albums at all.
    """

    text: bool = True
    image: bool = True
    file: bool = True
    video: bool = True
    album: bool = True
    max_text_length: int = UNLIMITED
    max_caption_length: int = UNLIMITED
    max_upload_bytes: int = UNLIMITED
    max_attachments: int = UNLIMITED
    album_min: int = UNLIMITED
    album_max: int = UNLIMITED
    truncate_policy: TruncatePolicy = "error"


MULTIPART: Final = Profile()
WEBHOOK: Final = Profile()
TELEGRAM: Final = Profile(
    max_caption_length=1_024,
    max_upload_bytes=52_428_800,
    max_attachments=10,
    album_min=2,
    album_max=10,
    truncate_policy="split",
)
ANY_OTHER: Final = Profile(image=False, file=False, video=False, album=False, max_text_length=4_096)

_ALBUM: Final = (2, 10)


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


def overridden(profile: Profile, given: Capabilities) -> Profile:
    """The profile as a route narrows it: switches replace, limits only tighten."""
    album = profile.album if given.album is None else given.album
    low, high = _bounds(profile, given) if album else (UNLIMITED, UNLIMITED)
    return Profile(
        text=profile.text if given.text is None else given.text,
        image=profile.image if given.image is None else given.image,
        file=profile.file if given.file is None else given.file,
        video=profile.video if given.video is None else given.video,
        album=album,
        max_text_length=_tighter(profile.max_text_length, given.max_text_length),
        max_caption_length=_tighter(profile.max_caption_length, given.max_caption_length),
        max_upload_bytes=_tighter(profile.max_upload_bytes, given.max_upload_bytes),
        max_attachments=_tighter(profile.max_attachments, given.max_attachments_per_message),
        album_min=low,
        album_max=high,
        truncate_policy=given.truncate_policy or profile.truncate_policy,
    )


def plan(content: Content, profile: Profile) -> Plan:
    """What a receiver of this profile shows of the content."""
    parts: list[Part] = []
    unsupported: list[SinglePart] = []
    dropped: list[Dropped] = []
    lesser: Counter[str] = Counter()
    for part in content.parts:
        if isinstance(part, TextPart):
            parts += [part] if profile.text and part.text.strip() else []
            continue
        shown: list[Media] = []
        for media in _media(part):
            reason = _obstacle(media, profile)
            if reason is None:
                shown.append(media)
                continue
            unsupported.append(single(media))
            dropped.append(Dropped(kind_of(media.path), reason))
            lesser[reason] += reason != TOO_LARGE
        if isinstance(part, AlbumPart) and not profile.album:
            lesser["album_not_supported"] += len(part.items)
        parts += _shown(shown, profile)
    return Plan(
        parts=tuple(parts),
        unsupported=tuple(unsupported),
        dropped=tuple(dropped),
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


TOO_LARGE: Final = "upload_too_large"
_ORDER: Final = ("album_not_supported", "image_not_supported", "file_not_supported", "video_not_supported")


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


def _tighter(limit: int, given: int | None) -> int:
    wish = given or UNLIMITED
    if wish <= UNLIMITED:
        return limit
    return min(limit, wish) if limit else wish


def _bounds(profile: Profile, given: Capabilities) -> tuple[int, int]:
    if given.album is None and given.album_min is None and given.album_max is None:
        return profile.album_min, profile.album_max
    low, high = (profile.album_min or _ALBUM[0]), (profile.album_max or _ALBUM[1])
    return max(low, given.album_min or low), min(high, given.album_max or high)
