"""The one door through which words of the outside enter the ledger.

A receiver's error text may be megabytes long, hold NUL, terminal escapes or half a surrogate pair, and may quote our
own request with everything secret in it.
"""

import re
from typing import Final

ERROR_CHARS: Final = 1_000
"""The longest error text that a row keeps."""

REMOTE_CHARS: Final = 500
"""The longest name or status of a receiver that a row keeps."""

_CONTROLS: Final = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " ")

_URL: Final = re.compile(
    r"""([a-z][a-z0-9+.-]{1,20}://)   # scheme
        ([^\s/?#"'<>]*@)?             # who
        ([^\s?#"'<>]*)                # where
        (\?[^\s#"'<>]*)?              # with what
        (\#[^\s"'<>]*)?""",
    re.IGNORECASE | re.VERBOSE,
)
_MASKS: Final = (
    (re.compile(r"(\bbearer\s+)[^\s\"',;]+", re.IGNORECASE), r"\1***"),
    (re.compile(r"/bot[0-9]+:[^/\s\"']+"), "/bot***"),
)


def stored_text(text: str, limit: int = ERROR_CHARS) -> str:
    """`text` as a row may keep it: one line of at most `limit` characters, valid UTF-8, URLs without user and query."""
    room = 4 * limit
    if len(text) > room:
        text = text[:room].rpartition(" ")[0] or text[:room]  # half an address could no longer be told for one
    shown = well_formed(text).translate(_CONTROLS)
    shown = _URL.sub(_shown_url, shown)
    for secret, mask in _MASKS:
        shown = secret.sub(mask, shown)
    return shown[:limit].strip()


def well_formed(text: str) -> str:
    """`text` with every half of a surrogate pair replaced, so that it can be encoded at all."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _shown_url(found: re.Match[str]) -> str:
    scheme, user, place, query, _fragment = found.groups()
    return f"{scheme}{'redacted@' if user else ''}{place}{'?…' if query else ''}"
