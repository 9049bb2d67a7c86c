"""What each kind of receiver takes, and how a route may narrow that."""

from typing import Final

import msgspec

from pixivflow.config.model import Capabilities
from pixivflow.config.model.routes import TruncatePolicy

UNLIMITED: Final = 0


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
    max_upload_bytes: int = UNLIMITED
    album_min: int = UNLIMITED
    album_max: int = UNLIMITED
    truncate_policy: TruncatePolicy = "error"


WEBHOOK: Final = Profile()
"""A gateway takes everything, unless its route says otherwise. No other kind of receiver is asked what it takes."""

ALBUM: Final = (2, 10)
"""The fewest and the most pictures of an album, where nobody says otherwise."""


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
        max_upload_bytes=_tighter(profile.max_upload_bytes, given.max_upload_bytes),
        album_min=low,
        album_max=high,
        truncate_policy=given.truncate_policy or profile.truncate_policy,
    )


def _tighter(limit: int, given: int | None) -> int:
    wish = given or UNLIMITED
    if wish <= UNLIMITED:
        return limit
    return min(limit, wish) if limit else wish


def _bounds(profile: Profile, given: Capabilities) -> tuple[int, int]:
    if given.album is None and given.album_min is None and given.album_max is None:
        return profile.album_min, profile.album_max
    low, high = (profile.album_min or ALBUM[0]), (profile.album_max or ALBUM[1])
    return max(low, given.album_min or low), min(high, given.album_max or high)
