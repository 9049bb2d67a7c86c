"""Texts of the outside, as they may be told and kept: the one place that knows what a credential looks like in words.

A receiver's answer and an exception may be megabytes long, hold NUL, terminal escapes or half a surrogate pair, and
quote our own request with everything secret in it.

    redacted       for a line of the log or of a command: users and queries of addresses, and credentials, are gone
    stored_text    for a row or an answer: the same, and one line of valid UTF-8 that is never longer than it may be
    without        what knows its secrets hides these first: no pattern finds one that stands alone
"""

import json
import re
from collections.abc import Collection, Iterable
from typing import Final, TypeVar
from urllib.parse import quote

from pixivflow.config.mask import MASK

TEXT_CHARS: Final = 8_000
"""A longer text is cut before it is looked through, which bounds what the look costs."""

SHORTEST: Final = 4
"""A secret of fewer characters occurs in every text, and hiding it would only garble what is told."""

T = TypeVar("T", str, str | None)

_CONTROLS: Final = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " ")

_ON: Final = r"\\(?!\\{0,3}[rn](?:\\{1,4}[rn]){0,3}[\w-]{1,40}:)"
"""A backslash, unless it begins the next header of a request that Python shows on one line, as in `\\r\\nCookie: `."""
_SCHEME: Final = r"[a-z][a-z0-9+.-]{0,20}:(?:\\*/){2}"
_URL: Final = re.compile(
    rf"""({_SCHEME})
        ([^\s/?#<>]*@)?     # who
        ([^\s?#"'<>]*)      # where
        (\?(?:[^\s#"'<>\\]|{_ON})*)?    # with what
        (\#[^\s"'<>]*)?""",
    re.IGNORECASE | re.VERBOSE,
)
_TORN: Final = re.compile(rf"{_SCHEME}[^\s/?#]*\Z", re.IGNORECASE)
"""An address that was cut where its user may have stood; half a credential no longer looks like one."""

_KEY: Final = (
    r"(?:(?:secret|cookie|passw(?:or)?d|passphrase|credential|api[_-]?key|authorization|signature)[\w-]{0,30}"
    r"|tokens?|(?<![a-z])(?:auth|pwd))"
)
_IS: Final = r"""(?:(?:\\*["'])?\s{0,4}[=:]|\\*["'],)\s{0,4}"""
"""`key=`, `key: `, `"key": `, and `'key', ` as libraries show their headers."""
_QUOTED: Final = r"""[bru]{0,2}(\\*["'])(?s:.*?)(?:(?<!\\)\2|\Z)"""
_DONE: Final = rf"""{re.escape(MASK)}(?![^\s"'&,;)\]}}<>])"""
"""A value that is masked already, or a second look would take what stands behind it."""
_VALUE: Final = rf"""(?:{_DONE}|(?:(?:bearer|basic)\s{{1,4}})?(?:{_QUOTED}|<?(?:[^\s"'&<>\\]|{_ON})+))"""

_PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"(/bot)\d+(?::|%3a)[^/\s\"']+", rf"\1{MASK}"),
        (r"((?:set-)?cookie\s{0,4}:\s{0,4})[^\r\n]+", rf"\1{MASK}"),
        (rf"""(authorization\s{{0,4}}:\s{{0,4}})[a-z][\w-]*\s{{1,4}}(?:[^\s"'&\\]|{_ON})+""", rf"\1{MASK}"),
        (rf"({_KEY}{_IS}){_VALUE}", rf"\1{MASK}"),
        (rf"""(?<![a-z])(bearer|basic)(\s{{1,4}})(?:[^\s"'\\]|{_ON})+""", rf"\1\2{MASK}"),
    )
)


def redacted(text: str) -> str:
    """`text` without users, queries and fragments in its addresses, and without what looks like a credential."""
    return _masked(shortened(text, TEXT_CHARS)) + (" …" if len(text) > TEXT_CHARS else "")


def stored_text(text: T, limit: int) -> T:
    """`text` as a row or an answer may hold it, None for None: redacted, one line, valid UTF-8, at most `limit` long.

    What went through once may go through again; nothing more is lost but what a smaller `limit` cuts.
    """
    if text is None:
        return text
    return _masked(well_formed(shortened(text, TEXT_CHARS)).translate(_CONTROLS))[:limit].strip()


def well_formed(text: str) -> str:
    """`text` with every half of a surrogate pair replaced, so that it can be encoded at all."""
    return text.encode("utf-8", "replace").decode("utf-8")


def shortened(text: str, limit: int) -> str:
    """The first `limit` characters of a text that is still to be redacted, without half of an address at their end."""
    return text if len(text) <= limit else _TORN.sub("", text[:limit])


def without(text: str, spellings: Iterable[str]) -> str:
    """`text` with `MASK` for each of `spellings`, in whatever case: who quotes a secret may have changed that.

    The longest go first, since one secret may stand inside another.
    """
    folded = text.casefold()
    there = sorted((each for each in spellings if each.casefold() in folded), key=len, reverse=True)
    return re.sub("|".join(map(re.escape, there)), MASK, text, flags=re.IGNORECASE) if there else text


def without_torn(text: str, spellings: Collection[str], shortest: int) -> str:
    """The same for a text that was cut: what its end holds of one, from `shortest` characters on, goes as well."""
    text = without(text, spellings)
    torn = (size for each in spellings for size in range(shortest, len(each)) if text.endswith(each[:size]))
    size = max(torn, default=0)
    return text[:-size] + MASK if size else text


def spellings_of(secret: str) -> frozenset[str]:
    """How a secret reads in plain, in an address, and in JSON; what is shorter than `SHORTEST` is not looked for."""
    plain = secret.strip()
    percent = quote(plain, safe="", errors="replace")
    made = {plain, percent, percent.replace("%20", "+"), *_in_json(plain)}
    return frozenset(each for each in made if len(each) >= SHORTEST)


def _in_json(plain: str) -> set[str]:
    made = {json.dumps(plain, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    return made | {each.replace("/", "\\/") for each in made}


def _masked(text: str) -> str:
    text = _URL.sub(_bare_url, text)
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


def _bare_url(found: re.Match[str]) -> str:
    scheme, user, place, query, _fragment = found.groups()
    return f"{scheme}{'redacted@' if user else ''}{place}{'?…' if query else ''}"
