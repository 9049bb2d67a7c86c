"""Why a search brought nothing, in a sentence for people: what was found, and what became of each of it."""

from collections.abc import Sequence
from typing import Final

from pixivflow.slots.ports import Skip, SkipCode

SHOWN: Final = 3
"""How many different reasons of filtered works are named."""

FATES: Final[dict[SkipCode, tuple[str, str]]] = {
    SkipCode.DUPLICATE: ("was known", "were known"),
    SkipCode.FILTERED: ("was filtered out", "were filtered out"),
    SkipCode.DELETED: ("no longer exists", "no longer exist"),
    SkipCode.ACCESS_DENIED: ("is not shown to this account", "are not shown to this account"),
    SkipCode.UNSUPPORTED_MEDIA: ("is of a kind that is not fetched", "are of a kind that is not fetched"),
    SkipCode.INVALID_METADATA: ("is not whole on Pixiv", "are not whole on Pixiv"),
    SkipCode.UNAVAILABLE: ("could not be had now", "could not be had now"),
}
"""What became of one work, and of several, in the order in which they are told."""


def nothing_new(read: int, skips: Sequence[Skip]) -> str:
    """The sentence. `read`: works in lists, of which some may never have been looked at.

    Shape: `nothing new: of 12 works read 9 were known, 2 were filtered out (too few bookmarks), 1 no longer exists`.
    """
    if not read and not skips:
        return "nothing new: no work was found"
    if len(skips) == 1 and read <= 1:
        return f"nothing new: work {skips[0].work_id} {_fate(skips[0].code, skips)}"
    fates = [f"{count} {_fate(code, skips)}" for code in FATES if (count := sum(skip.code is code for skip in skips))]
    left = read - len(skips)
    fates += [f"{left} {'was' if left == 1 else 'were'} not tried"] if left > 0 else []
    works = max(read, len(skips))
    return f"nothing new: of {works} {'work' if works == 1 else 'works'} read {', '.join(fates)}"


def _fate(code: SkipCode, skips: Sequence[Skip]) -> str:
    found = [skip for skip in skips if skip.code is code]
    words = FATES[code][len(found) > 1]
    if code is not SkipCode.FILTERED:
        return words
    return f"{words} ({', '.join(list(dict.fromkeys(skip.reason for skip in found))[:SHOWN])})"
