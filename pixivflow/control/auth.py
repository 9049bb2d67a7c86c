"""Who may ask. One family's token never opens another's routes, and a family without a token has no open routes."""

from enum import Enum, auto
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from pixivflow.config.mask import Secret
from pixivflow.scheduling.disposition import Disposition

SCHEME: Final = "bearer "

DISABLED: Final = "endpoint disabled: token not configured"
UNAUTHORIZED: Final = "unauthorized"
CHALLENGE: Final = {"www-authenticate": "Bearer"}


class Entry(Enum):
    """What a token opens."""

    OPEN = auto()
    DISABLED = auto()
    UNAUTHORIZED = auto()


def judge(expected: Secret, authorization: str | None) -> Entry:
    """Whether the header `Authorization` opens what `expected` closes. A blank `expected` is never opened.

    Compared by digest, so that neither the time nor the length tells how much of a guess was right.
    """
    token = expected.reveal().strip()
    if not token:
        return Entry.DISABLED
    given = authorization or ""
    if given[: len(SCHEME)].lower() != SCHEME:
        return Entry.UNAUTHORIZED
    matches = compare_digest(_digest(token), _digest(given[len(SCHEME) :].strip()))
    return Entry.OPEN if matches else Entry.UNAUTHORIZED


def refusal(entry: Entry) -> Disposition | None:
    """How a request that did not get in is called; None for one that did."""
    match entry:
        case Entry.OPEN:
            return None
        case Entry.DISABLED:
            return Disposition.DISABLED
        case Entry.UNAUTHORIZED:
            return Disposition.UNAUTHORIZED


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogateescape")).digest()
