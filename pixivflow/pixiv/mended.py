"""Bodies made readable: one character that nobody can hold must not take a whole list with it."""

import re
from typing import Final

_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def mended(body: bytes) -> bytes:
    """The same JSON with the mark of a lost character for bytes that are no UTF-8, and for half a surrogate pair."""
    text = body.decode("utf-8", "replace")
    if _HALF.search(text) is not None:
        text = _ESCAPE.sub(lambda found: "\\ufffd" if found["half"] else found[0], text)
    return text.encode()
