"""What is kept of an answer beside its meaning: when to come back, and what the receiver made of the media."""

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from pixivflow.config.texts import shortened
from pixivflow.providers.hearing import Said

SHOWN_CHARS: Final = 200

LONGEST_WISH_MS: Final = 7 * 86_400_000
_KEPT: Final = ("media_fallback", "media_fallback_reason", "document_fallback", "document_fallback_reason", "fallback")


def retry_after_ms(said: Said, now: int) -> int | None:
    """The receiver's wish, from `Retry-After` in seconds or as a date; None where it has none that can be read."""
    wish = said.headers.get("retry-after", "").strip()
    if wish.isascii() and wish.isdecimal():
        return min(int(wish[:9]) * 1_000, LONGEST_WISH_MS)
    try:
        at = parsedate_to_datetime(wish)
    except (ValueError, TypeError, OverflowError):
        return None
    in_utc = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0, min(round(in_utc.timestamp() * 1_000) - now, LONGEST_WISH_MS))


def audited(body: object) -> Mapping[str, object] | None:
    """The few facts of an answer that the audit reads; the rest of it is not kept."""
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, dict):
        return None
    kept = {name: data[name] for name in _KEPT if isinstance(data.get(name), str | bool)}
    return {"data": {name: _short(value) for name, value in kept.items()}} if kept else None


def word_of(value: object) -> str:
    """A state in lower case; empty for what is no text."""
    return value.strip().lower() if isinstance(value, str) else ""


def text_of(value: object) -> str | None:
    """A text that says something; None for anything else."""
    return value.strip() or None if isinstance(value, str) else None


def _short(value: object) -> object:
    return shortened(value, SHOWN_CHARS) if isinstance(value, str) else value
