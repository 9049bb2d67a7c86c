"""Errors, sorted by what the caller should do.

    PixivflowError
    ├── ConfigError           the operator must change something
    ├── Unavailable           try again later
    │   ├── StorageFailed     ... once the disk takes files again
    │   │   └── StorageFull   ... once there is room on it
    │   └── Outage            ... once the other side serves anybody at all
    ├── LedgerLost            nothing can be recorded any more: stop in order
    ├── LedgerRefused         this file must not be opened by this program
    ├── AuthNeeded            nothing works until the login is renewed
    ├── ItemError             never retry this item; the run goes on
    │   ├── Gone              it was there and is no longer
    │   └── Rejected          the other side will not have it
    └── Conflict              the row moved on before us: read again, decide again

Anything else is a bug and belongs to the supervisor. Edges translate once, with `raise ... from error`, and say there
what the matter is, as a `Cause`: nobody above has to read their words.
"""

from enum import StrEnum
from pathlib import Path


class Cause(StrEnum):
    """What the matter is with something that may be had another time. The values are kept in reports of cells."""

    LIMITED = "limited"
    """Too many requests: the service has said so, and may not even be asked for a while."""
    LOGIN = "login"
    DOWN = "down"
    """The service as a whole does not serve (502, 503, 504 that stay)."""
    SERVER = "server"
    """The service says that it has a fault."""
    NONSENSE = "nonsense"
    """What came is no answer of this service: a page for people, a redirect, a list that leads nowhere."""
    UNREADABLE = "unreadable"
    """The service's own answer, which does not tell what it should."""
    TOO_SLOW = "too_slow"
    UNREACHABLE = "unreachable"
    """Refused, reset, cut, or a name without an address."""
    REFUSED = "refused"
    """The service will not have the request itself."""
    FILE_TOO_SLOW = "file_too_slow"
    FILE_BROKEN = "file_broken"
    """A file that did not come, or not whole, or is none of the kind it should be."""
    STORAGE = "storage"
    LEDGER = "ledger"
    SETTINGS = "settings"
    DEFECT = "defect"
    """Nobody said: a bug."""


class PixivflowError(Exception):
    """The root of everything that this program raises on purpose."""


class ConfigError(PixivflowError):
    """A setting that only the operator can mend."""

    def __init__(self, key: str, value: object, hint: str) -> None:
        super().__init__(f"{key}: {value!r}: {hint}")
        self.key, self.value, self.hint = key, value, hint


class Unavailable(PixivflowError):
    """Try again later, after `retry_after_s` seconds where that is known. `cause`: what the matter is; a family of its
    own has one of its own."""

    cause: Cause = Cause.DEFECT

    def __init__(self, message: str, retry_after_s: float | None = None, *, cause: Cause | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        if cause is not None:
            self.cause = cause


class StorageFailed(Unavailable):
    """Nothing can be written where the settings want it: no room, no right, no folder, or a disk with a fault."""

    cause = Cause.STORAGE


class StorageFull(StorageFailed):
    """The disk has no room for one more transaction; nothing of it was kept."""


class Outage(Unavailable):
    """The other side as a whole does not serve now: no other request will fare better, so none is made."""

    cause = Cause.DOWN


class LedgerLost(PixivflowError):
    """The ledger's writer is gone. What became of the batch in flight is unknown until the next start reads it."""


class LedgerRefused(PixivflowError):
    """A file that this program must not open as its ledger; it was not touched."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class AuthNeeded(PixivflowError):
    """The account's login must be renewed by a person. `why`: what is wrong with it."""

    def __init__(self, account: str, why: str = "Pixiv refused its refresh token") -> None:
        super().__init__(f"account {account} must log in again: {why}; put a new one into pixiv.refreshToken")
        self.account = account


class ItemError(PixivflowError):
    """One item that is never retried."""

    def __init__(self, item_id: str, source: str, hint: str) -> None:
        super().__init__(f"{source} {item_id}: {hint}")
        self.item_id, self.source, self.hint = item_id, source, hint


class Gone(ItemError):
    """The item existed and does no longer."""


class Rejected(ItemError):
    """The other side refuses the item."""


class Conflict(PixivflowError):
    """A row was found in another state than the change expected."""

    def __init__(self, expected: str, found: str | None) -> None:
        super().__init__(f"expected {expected}, found {found or 'no row'}")
        self.expected, self.found = expected, found
