"""No secret leaves this process in words: texts without credentials, fields without secret values.

Three nets, one behind the other: what a secret's name stands before is masked whole; every text loses what looks like
a credential; and the secrets that this process knows disappear wherever they stand.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from pixivflow.config.mask import MASK, Secret, is_secret
from pixivflow.observe.faults import told

TEXT_CHARS: Final = 8_000
"""A longer text is cut before it is looked through, which bounds what the look costs."""

DEPTH: Final = 6
"""What lies deeper in a field is not told."""

SHORTEST: Final = 6
"""A known secret of fewer characters is not looked for: it would be found in the middle of ordinary words."""

_KEY: Final = r"(?:token|secret|cookie|passw(?:or)?d|passphrase|credential|api[_-]?key|authorization)s?"
_VALUE: Final = r"""(?:(?:bearer|basic)\s{1,4})?(?:\\*"[^"]{0,4000}"|'[^']{0,4000}'|[^\s"'&,;)\]}<>]+)"""
_URL: Final = re.compile(
    r"""\b([a-z][a-z0-9+.-]{1,20}://)  # scheme
        ([^\s/?#"'<>]*@)?             # who
        ([^\s?#"'<>]*)                # where
        (\?[^\s#"'<>]*)?              # with what""",
    re.IGNORECASE | re.VERBOSE,
)

_PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"(/bot)\d+:[^/\s\"']+", rf"\1{MASK}"),
        (r"\b((?:set-)?cookie\s{0,4}:\s{0,4})[^\r\n]+", rf"\1{MASK}"),
        (rf"""({_KEY}(?:\\*["'])?\s{{0,4}}[=:]\s{{0,4}}){_VALUE}""", rf"\1{MASK}"),
        (r"\b(bearer|basic)(\s{1,4})[^\s\"',;]+", rf"\1\2{MASK}"),
    )
)

_TORN: Final = re.compile(r"://[^\s/?#]*$")
"""An address that was cut where its user may have stood; half a credential no longer looks like one."""


def redact_text(text: str) -> str:
    """`text` without users and queries in its addresses, and without anything that looks like a credential."""
    if len(text) > TEXT_CHARS:
        text = _TORN.sub("", text[:TEXT_CHARS].rpartition(" ")[0] or text[:TEXT_CHARS]) + " …"
    text = _URL.sub(_bare_url, text)
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


class Redactor:
    """Knows the secrets of this process, and lets none of them pass."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: tuple[str, ...] = ()
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """From now on these texts are masked too, also inside of others; blank and very short ones are not."""
        from urllib.parse import quote  # needed here alone

        fresh = {each.strip() for each in secrets}
        spellings = fresh | {quote(each, safe="") for each in fresh}
        known = {each for each in spellings if len(each) >= SHORTEST} | set(self._known)
        self._known = tuple(sorted(known, key=len, reverse=True))  # a secret inside of another one comes later

    def text(self, text: str) -> str:
        """`text` without secrets."""
        for secret in self._known:
            text = text.replace(secret, MASK)
        return redact_text(text)

    def field(self, value: object, at: tuple[str, ...] = ()) -> object:
        """A field's value as it may be told, made of nothing but texts, numbers, lists and objects.

        `at`: the field's name, and the keys below it.
        """
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Secret) or is_secret(at):
            return MASK
        if isinstance(value, str):
            return self.text(str(value))
        if isinstance(value, int | float):
            return value if value == value and abs(value) != float("inf") else str(value)
        if len(at) > DEPTH:
            return "…"
        return self._composed(value, at)

    def _composed(self, value: object, at: tuple[str, ...]) -> object:
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.field(item, (*at, str(key))) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.field(item, (*at, "")) for item in value]
        if isinstance(value, BaseException):
            return self.field(told(value), at)
        if isinstance(value, bytes | bytearray | memoryview):
            return f"{len(value)} bytes"
        return self.text(_spelled(value))


def _bare_url(found: re.Match[str]) -> str:
    scheme, user, place, query = found.groups()
    return f"{scheme}{'redacted@' if user else ''}{place}{'?…' if query else ''}"


def _spelled(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
