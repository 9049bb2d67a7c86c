"""What somebody may have meant who wrote a key that does not exist."""

import re
from collections.abc import Iterable

_PREFIX = re.compile(r"^(supports?|has|is|enables?|allows?)(?=[A-Z_-])")
_SUFFIX = re.compile(r"(Supported|Support|Enabled|Enable)$")


def nearest(key: str, known: Iterable[str]) -> str:
    """`; did you mean "album"?`, or nothing when no known key is close."""
    from difflib import get_close_matches  # only for files with a fault

    if len(key) > 64:
        return ""
    plain = {_plain(each): each for each in known}
    close = get_close_matches(_plain(_SUFFIX.sub("", _PREFIX.sub("", key))), plain, n=1, cutoff=0.75)
    return f'; did you mean "{plain[close[0]]}"?' if close else ""


def _plain(key: str) -> str:
    return re.sub(r"[-_ ]", "", key).lower()
