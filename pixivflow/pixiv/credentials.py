"""Which refresh tokens are tried, in which order, and what is written once one has worked. Pure.

A token of the settings counts as new only while its fingerprint differs from the last one that was seen to work there,
so a file that nobody touches never puts a rotated token back, and a person's new one wins.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

import msgspec

from pixivflow.pixiv.wire import Granted

ACCESS: Final = "pixiv_access_token"
REFRESH: Final = "pixiv_refresh_token"
SEEN: Final = "pixiv_config_token_sha256"

LIFETIME_MOST_S: Final = 366 * 86_400
"""No service means a longer lifetime; Pixiv's is an hour."""
TOKEN_MOST_CHARS: Final = 4_096


class Token(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An access token and what renews it, as the rows keep it. `expires_at`: epoch ms."""

    access_token: str
    expires_at: int
    refresh_token: str
    token_type: str = "bearer"  # noqa: S105 - a kind, no secret

    def __repr__(self) -> str:
        return f"Token(expires_at={self.expires_at})"


def is_sound(granted: Granted) -> bool:
    """Whether the grant is one that can be kept and sent: texts for a header's line, and a lifetime in this life."""
    fits = is_token(granted.access_token) and is_token(granted.refresh_token) and is_token(granted.token_type)
    return fits and 0 < granted.expires_in <= LIFETIME_MOST_S


def is_token(text: str) -> bool:
    """Whether a text can be sent as a token: printable ASCII without a gap."""
    return 0 < len(text) <= TOKEN_MOST_CHARS and all("!" <= sign <= "~" for sign in text)


def token_of(granted: Granted, now: int) -> Token:
    return Token(
        access_token=granted.access_token,
        expires_at=now + round(granted.expires_in * 1000),
        refresh_token=granted.refresh_token,
        token_type=granted.token_type,
    )


def read(text: str | None) -> Token | None:
    """The token of a row, None for an empty or foreign one."""
    try:
        token = msgspec.json.decode(text, type=Token) if text else None
    except (msgspec.MsgspecError, RecursionError):
        return None
    return token if token is not None and is_token(token.access_token) and is_token(token.refresh_token) else None


def order(configured: str | None, stored: str | None, seen: str | None) -> tuple[str, ...]:
    """The refresh tokens to be tried, best first. `seen`: the kept fingerprint of the settings' token."""
    is_new = configured is not None and fingerprint(configured) != seen
    tries = (configured, stored) if is_new else (stored, configured)
    return tuple(dict.fromkeys(each for each in tries if each))


def rows(token: Token, used: str, configured: str | None) -> Mapping[str, str]:
    """What is written after `used` was exchanged for `token`."""
    text = msgspec.json.encode(token).decode()
    kept = {ACCESS: text, REFRESH: text}
    return {**kept, SEEN: fingerprint(configured)} if used == configured else kept


def fingerprint(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
