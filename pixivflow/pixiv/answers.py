"""What an answer of the App API means. Total; the first line that fits decides, statuses and words together.

| answer | meaning |
| --- | --- |
| an error whose text names the OAuth process; 401 | the access token is no good: an expired one gets 400 |
| 429; an error that speaks of a rate limit (403) | too fast: cool down, ask again |
| 404; an error that speaks of a deleted or unknown work | gone |
| 400, 403, other 4xx; an error that speaks of a restriction | never for us |
| 502, 503, 504 | Pixiv as a whole does not serve |
| other 5xx; a redirect; 408; no JSON; a nameless error with 200 | broken, may pass |
"""

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from pixivflow.config.texts import shortened, spellings_of, without
from pixivflow.errors import Cause
from pixivflow.pixiv.mended import mended
from pixivflow.pixiv.wire import ApiError, Envelope

DELETED: Final = ("該当作品は削除されたか",)
RESTRICTED: Final = ("アクセスが制限されています", "Your access is currently restricted")
OAUTH: Final = "Error occurred at the OAuth process"
DOWN: Final = (502, 503, 504)
SHOWN_CHARS: Final = 120
WISH_MOST_MS: Final = 3_600_000
"""No wish to be left alone is believed for longer."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as it arrived, header names in lower case."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Served(msgspec.Struct, frozen=True):
    body: bytes


class Limited(msgspec.Struct, frozen=True):
    """`wait_ms`: what the answer asks for; None: it does not say."""

    wait_ms: int | None


class TokenRefused(msgspec.Struct, frozen=True):
    pass


class Missing(msgspec.Struct, frozen=True):
    text: str


class Refused(msgspec.Struct, frozen=True):
    text: str


class Down(msgspec.Struct, frozen=True):
    text: str


class Broken(msgspec.Struct, frozen=True):
    text: str
    cause: Cause


Meaning = Served | Limited | TokenRefused | Missing | Refused | Down | Broken


def meaning(reply: Reply, now: int, token: str = "") -> Meaning:
    """What follows from the answer. `now`: epoch ms, for limits that name an instant. `token`: not to be repeated."""
    status, body = reply.status, mended(reply.body)
    error, is_json = _error_of(body)
    words = " ".join(filter(None, (error.message, error.user_message, error.reason))) if error else ""
    text = f"HTTP {status}{': ' if words else ''}{shortened(without(words, spellings_of(token)), SHOWN_CHARS)}"
    if status == 401 or OAUTH in words:
        return TokenRefused()
    if status == 429 or "rate limit" in words.lower():
        return Limited(wait_of(reply.headers.get("retry-after"), now))
    if status == 404 or words.startswith(DELETED):
        return Missing(text)
    if any(each in words for each in RESTRICTED) or (400 <= status < 500 and status != 408):
        return Refused(text)
    if status in DOWN:
        return Down(text)
    if status == 408:
        return Broken(text, Cause.TOO_SLOW)
    if status >= 500 or error is not None:
        return Broken(text, Cause.SERVER)
    if not 200 <= status < 300:
        return Broken(text, Cause.NONSENSE)
    if not is_json:
        return Broken(f"HTTP {status} with a body that is no JSON object", Cause.NONSENSE)
    return Served(body)


def _error_of(body: bytes) -> tuple[ApiError | None, bool]:
    """The error that a body carries, and whether the body is a JSON object at all."""
    try:
        told = msgspec.json.decode(body, type=Envelope).error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None, False
    return (ApiError(message=told) if isinstance(told, str) else told), True


def wait_of(header: str | None, now: int) -> int | None:
    """Milliseconds that a `Retry-After` asks for, from seconds or an HTTP date; None for nothing and for nonsense.

    Never more than `WISH_MOST_MS`, whatever it asks for.
    """
    text = (header or "").strip()
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return min(int(text) * 1000, WISH_MOST_MS)
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    asked_ms = round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000) - now
    return max(0, min(asked_ms, WISH_MOST_MS))
