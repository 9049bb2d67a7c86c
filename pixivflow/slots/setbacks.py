"""What one failed attempt at a work means: for that work, for a later attempt, or for everything else as well.

Types decide, never the words of an error, so a number in a title cannot look like a status.

    Passing      try the same work again after a pause; in the end it is passed over as `unavailable`, a bug is not
    OfTheWork    a fact about the work: pass it over at once
    OfTheRun     nothing else would fare better: stop looking, the cell stays as it is and is worth another run
"""

from typing import Final

import msgspec

from pixivflow.errors import AuthNeeded, Cause, ConfigError, Gone, ItemError, Outage, StorageFailed, Unavailable
from pixivflow.slots.model import BoundWork
from pixivflow.slots.ports import LedgerBusy, Skip, SkipCode, Unfit

DATABASE: Final = "database_unavailable"
AUTH: Final = "pixiv_auth_failure"
NETWORK: Final = "network_outage"
STORAGE: Final = "storage_unavailable"

LONGEST: Final = 4
"""No pause of our own choosing is longer than so many times the first."""


class Passing(msgspec.Struct, frozen=True):
    """`skip`: what to say of the work once it has been tried often enough. `is_bug`: nobody raised this on purpose."""

    skip: Skip
    is_bug: bool = False


class OfTheWork(msgspec.Struct, frozen=True):
    """`skip`: why the work is passed over."""

    skip: Skip


class OfTheRun(msgspec.Struct, frozen=True):
    """`outage`: one word for what is out of order."""

    outage: str


Setback = Passing | OfTheWork | OfTheRun


def setback(error: Exception, work: BoundWork) -> Setback:
    """What `error`, raised while `work` was tried, means."""
    if (outage := outage_of(error)) is not None:
        return OfTheRun(outage)
    match error:
        case Unavailable():
            return Passing(_passing(work, error))
        case Unfit(code=code):
            return OfTheWork(_skip(work, code, error))
        case Gone():
            return OfTheWork(_skip(work, SkipCode.DELETED, error))
        case ItemError():
            return OfTheWork(_skip(work, SkipCode.ACCESS_DENIED, error))
        case _:
            return Passing(_passing(work, error), is_bug=True)


def outage_of(error: BaseException) -> str | None:
    """What is out of order for every work alike; None: this error is about one request."""
    match error:
        case StorageFailed():
            return STORAGE
        case LedgerBusy():
            return DATABASE
        case AuthNeeded():
            return AUTH
        case Outage():
            return NETWORK
        case _:
            return None


def cause_of(error: BaseException) -> Cause:
    """What the matter is, as whoever raised the error knew it; a bug where nobody did."""
    match error:
        case Unavailable(cause=cause):
            return cause
        case AuthNeeded():
            return Cause.LOGIN
        case ConfigError():
            return Cause.SETTINGS
        case ItemError():
            return Cause.REFUSED
        case _:
            return Cause.DEFECT


def pause_ms(error: Exception, failed: Passing, tries: int, base_ms: int) -> int:
    """How long to wait before the next attempt, after `tries` of them. The other side's own wish goes first."""
    match error:
        case Unavailable(retry_after_s=float() | int() as wish):
            return round(wish * 1000)
        case _:
            grown = base_ms * tries if failed.is_bug else base_ms * 2 ** (tries - 1)
            return min(grown, LONGEST * base_ms)


def told(error: BaseException) -> str:
    """The error in one line, for a row. Errors of our own speak for themselves; a bug is named."""
    return str(error) if isinstance(error, Unavailable | ItemError | AuthNeeded) else f"{type(error).__name__}: {error}"


def _passing(work: BoundWork, error: Exception) -> Skip:
    code = SkipCode.UNAVAILABLE
    return Skip(code=code, work_id=work.work_id, reason=told(error), cause=cause_of(error))


def _skip(work: BoundWork, code: SkipCode, error: Exception) -> Skip:
    return Skip(code=code, work_id=work.work_id, reason=told(error))
