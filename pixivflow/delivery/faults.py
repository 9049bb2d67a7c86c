"""Why an attempt failed and whether it is tried again, decided from types first and from words last.

By its words alone an error lies: a 408 answer looks like a bad request, a retry message that wants "to avoid a
duplicate" looks like a duplicate, a refusal that quotes "timeout" looks passing. So the kind of answer decides, then
what the edge knows about the exception, and only an exception that nobody could translate is read.
"""

import re
from enum import Enum, auto
from typing import Final, assert_never

import msgspec

from pixivflow.delivery.model import ErrorClass, Failure, PermanentFailure, RetryableFailure


class Signal(Enum):
    """What the edge knows about an exception of an attempt."""

    CONFIGURATION = auto()
    """Unknown route, unsupported type, missing URL or environment variable: only the operator can mend it."""
    PAYLOAD = auto()
    """The promise itself cannot be sent: a file gone, a limit exceeded, previews that do not match."""
    LOCAL = auto()
    """This machine could not do its part, and may be able to later: too many open files, a disk with a fault."""
    TIMEOUT = auto()
    TRANSPORT = auto()
    """Connecting, reading, TLS or name resolution failed."""
    OTHER = auto()


class Raised(msgspec.Struct, frozen=True, kw_only=True):
    """An exception that an attempt ended with. `name`: its class; `bytes_left`: the request may have left this
    machine."""

    signal: Signal
    text: str
    bytes_left: bool
    name: str = ""
    http_status: int | None = None
    retry_after_ms: int | None = None


class Fault(msgspec.Struct, frozen=True):
    """A failed attempt, classified."""

    error_class: ErrorClass
    retryable: bool


_READ_AT_MOST: Final = 2_000
"""Characters of an error text that are looked at; what a receiver sends back has no other bound."""

_CLIENT_ERROR: Final = re.compile(r"http 4[0-9][0-9]")

_WORDS: Final = (
    (
        ("does not configure", "unsupported delivery target", "configerror"),
        Fault(ErrorClass.CONFIGURATION_ERROR, False),
    ),
    (("timeout", "timed out", "abort"), Fault(ErrorClass.NETWORK_TIMEOUT, True)),
    (("429", "rate limit", "ratelimit", "rate-limit"), Fault(ErrorClass.RATE_LIMITED, True)),
    (("duplicate", "idempotent", "replay", "409"), Fault(ErrorClass.DUPLICATE, False)),
    (("invalid", "validation", "bad request", "payload", "http 4xx"), Fault(ErrorClass.INVALID_PAYLOAD, False)),
    (("telegram",), Fault(ErrorClass.TELEGRAM_SEND_FAILED, False)),
    (
        ("not ready", "refused", "unavailable", "connection", "network", "fetch", "econn"),
        Fault(ErrorClass.NETWORK_TIMEOUT, True),
    ),
)
"""Read from the top; the first line of which any word occurs decides."""

_UNREADABLE: Final = Fault(ErrorClass.INTERNAL_ERROR, True)


def failed(raised: Raised) -> Failure:
    """The answer that stands for an attempt which ended in an exception."""
    fault, unknown = fault_of(raised), raised.bytes_left and raised.http_status is None
    if fault.retryable:
        return RetryableFailure(
            error=raised.text,
            retry_after_ms=raised.retry_after_ms,
            http_status=raised.http_status,
            answer_unknown=unknown,
            error_class=fault.error_class,
        )
    return PermanentFailure(
        error=raised.text, http_status=raised.http_status, answer_unknown=unknown, error_class=fault.error_class
    )


def fault_of(raised: Raised) -> Fault:
    """Class and verdict of an exception, from the surest sign that it carries."""
    match raised.signal:
        case Signal.CONFIGURATION:
            return Fault(ErrorClass.CONFIGURATION_ERROR, False)
        case Signal.PAYLOAD:
            return Fault(ErrorClass.INVALID_PAYLOAD, False)
        case Signal.LOCAL:
            return Fault(ErrorClass.INTERNAL_ERROR, True)
        case _ if raised.http_status is not None and raised.http_status >= 400:
            return _fault_of_status(raised.http_status)
        case Signal.TIMEOUT | Signal.TRANSPORT:
            return Fault(ErrorClass.NETWORK_TIMEOUT, True)
        case Signal.OTHER:
            return _fault_of_words(raised.name, raised.text)
        case _:
            assert_never(raised.signal)


def error_class(failure: Failure) -> ErrorClass:
    """The class of a failed answer: what its author knew, else its HTTP status."""
    if failure.error_class is not None:
        return failure.error_class
    status = failure.http_status
    match failure:
        case PermanentFailure(provider=provider):
            if status is not None and 400 <= status <= 499:
                return _fault_of_status(status).error_class
            return ErrorClass.TELEGRAM_SEND_FAILED if provider == "telegram" else ErrorClass.INVALID_PAYLOAD
        case RetryableFailure():
            known = status is not None and (status in (408, 429) or status >= 500)
            return _fault_of_status(status).error_class if known and status else ErrorClass.INTERNAL_ERROR
        case _:
            assert_never(failure)


def _fault_of_status(status: int) -> Fault:
    """`status`: 400 or more."""
    match status:
        case 408:
            return Fault(ErrorClass.NETWORK_TIMEOUT, True)
        case 409:
            return Fault(ErrorClass.DUPLICATE, False)
        case 429:
            return Fault(ErrorClass.RATE_LIMITED, True)
        case _ if status >= 500:
            return Fault(ErrorClass.REMOTE_5XX, True)
        case _:
            return Fault(ErrorClass.REMOTE_4XX, False)


def _fault_of_words(name: str, text: str) -> Fault:
    read = f"{name} {text[:_READ_AT_MOST]}".lower()
    if _CLIENT_ERROR.search(read):
        read += " http 4xx"
    return next((fault for words, fault in _WORDS if any(word in read for word in words)), _UNREADABLE)
