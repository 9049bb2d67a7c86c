"""What a caller says about itself in headers: cleaned, cut, and never part of any decision."""

import re
from typing import Final

from pixivflow.config.texts import SHORTEST

ATTEMPT_MAX: Final = 64
PROVIDER_MAX: Final = 32

_NOT_IN_ATTEMPT: Final = re.compile(r"[^A-Za-z0-9._:-]")
_NOT_IN_PROVIDER: Final = re.compile(r"[^A-Za-z0-9._-]")


def attempt_id(header: str | None, fallback: str | None, secret: str = "") -> str | None:
    """The attempt's name from the first of two headers that was sent; None if nothing is left of it, never made up."""
    return _cleaned(header if header is not None else fallback, _NOT_IN_ATTEMPT, ATTEMPT_MAX, secret)


def provider(header: str | None, secret: str = "") -> str | None:
    """Which clock says that it called."""
    return _cleaned(header, _NOT_IN_PROVIDER, PROVIDER_MAX, secret)


def _cleaned(text: str | None, unwanted: re.Pattern[str], limit: int, secret: str) -> str | None:
    """`text` without what is unwanted. One that holds `secret`, sent in the wrong header, is nobody's name."""
    cleaned = unwanted.sub("", (text or "").strip())
    hidden = unwanted.sub("", secret.strip())
    if len(hidden) >= SHORTEST and hidden in cleaned:
        return None
    return cleaned[:limit] or None
