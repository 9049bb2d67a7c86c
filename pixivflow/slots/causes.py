"""Which reason a failed or empty target gets, where nobody named one.

Whatever this program raises carries its cause as a value, and one table gives each cause its reason. Words are read
only of errors that came from elsewhere, as rows of an imported ledger bring them, and only their beginning, since
foreign text may be long. Each rule looks for words, first match wins.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pixivflow.errors import Cause
from pixivflow.slots.model import ReasonCode

TEXT_READ: Final = 600
"""How many characters of an error are looked at."""

_REASONS: Final[Mapping[Cause, ReasonCode]] = {
    Cause.LIMITED: ReasonCode.RATE_LIMITED,
    Cause.LOGIN: ReasonCode.AUTH_FAILED,
    Cause.DOWN: ReasonCode.NETWORK_ERROR,
    Cause.SERVER: ReasonCode.REMOTE_HTTP_ERROR,
    Cause.NONSENSE: ReasonCode.REMOTE_HTTP_ERROR,
    Cause.UNREADABLE: ReasonCode.METADATA_FAILED,
    Cause.TOO_SLOW: ReasonCode.NETWORK_ERROR,
    Cause.UNREACHABLE: ReasonCode.NETWORK_ERROR,
    Cause.REFUSED: ReasonCode.REMOTE_HTTP_ERROR,
    Cause.FILE_TOO_SLOW: ReasonCode.DOWNLOAD_TIMEOUT,
    Cause.FILE_BROKEN: ReasonCode.DOWNLOAD_FAILED,
    Cause.STORAGE: ReasonCode.DOWNLOAD_FAILED,
    Cause.LEDGER: ReasonCode.NETWORK_ERROR,
    Cause.SETTINGS: ReasonCode.CONFIGURATION_ERROR,
    Cause.DEFECT: ReasonCode.INTERNAL_ERROR,
}

_OUTAGES: Final = {
    "pixiv_auth_failure": ReasonCode.AUTH_FAILED,
    "delivery_unavailable": ReasonCode.DELIVERY_FAILED,
    "network_outage": ReasonCode.NETWORK_ERROR,
    "database_unavailable": ReasonCode.NETWORK_ERROR,
    "storage_unavailable": ReasonCode.DOWNLOAD_FAILED,
}

_STATUS_4XX: Final = re.compile(r"\b4\d\d\b")
_STATUS_5XX: Final = re.compile(r"\b5\d\d\b")

_Test = Callable[[str], bool]


def _any(*words: str) -> _Test:
    return lambda text: any(word in text for word in words)


def _all(*tests: _Test) -> _Test:
    return lambda text: all(test(text) for test in tests)


def _found(pattern: re.Pattern[str]) -> _Test:
    return lambda text: pattern.search(text) is not None


def _either(*tests: _Test) -> _Test:
    return lambda text: any(test(text) for test in tests)


_TIMEOUT: Final = _any("timeout", "timed out")

_RULES: Final[Sequence[tuple[_Test, ReasonCode]]] = (
    (_either(_found(re.compile(r"\b429\b")), _any("rate limit")), ReasonCode.RATE_LIMITED),
    (
        _either(
            _found(re.compile(r"\b401\b")),
            _any("unauthorized", "invalid grant", "invalid refresh token", "authentication failed", "登录"),
        ),
        ReasonCode.AUTH_FAILED,
    ),
    (_all(_TIMEOUT, _any("download", "image", "url", "fetch")), ReasonCode.DOWNLOAD_TIMEOUT),
    (_TIMEOUT, ReasonCode.EXECUTION_TIMEOUT),
    (
        _all(_any("download", "image fetch", "fetch image", "write"), _any("fail", "error", "could not", "unable")),
        ReasonCode.DOWNLOAD_FAILED,
    ),
    (
        _either(_found(_STATUS_5XX), _any("bad gateway", "service unavailable", "server error")),
        ReasonCode.REMOTE_HTTP_ERROR,
    ),
    (_any("telegram"), ReasonCode.TELEGRAM_FAILED),
    (
        _either(_any("not configured"), _all(_any("config"), _any("missing", "invalid"))),
        ReasonCode.CONFIGURATION_ERROR,
    ),
    (_all(_any("metadata"), _any("fail", "parse", "parsing")), ReasonCode.METADATA_FAILED),
    (
        _all(_any("telepost"), _either(_any("reject", "invalid"), _found(_STATUS_4XX))),
        ReasonCode.TELEPOST_REJECTED,
    ),
    (
        _either(
            _any("deliver", "submit", "submission", "publish", "telepost", "outbox"),
            _found(re.compile(r"\bpost(?:s|ed|ing)?\b")),
        ),
        ReasonCode.DELIVERY_FAILED,
    ),
    (
        _any("econn", "enotfound", "connection", "connect", "network", "socket", "unreachable", "hang up", "dns"),
        ReasonCode.NETWORK_ERROR,
    ),
    (_any("config", "missing", "invalid"), ReasonCode.CONFIGURATION_ERROR),
)


def reason_of(cause: Cause | None) -> ReasonCode:
    """The reason that a failure for `cause` gets; None: nobody named one, which is a bug."""
    return _REASONS[cause or Cause.DEFECT]


def reason_from_text(error: str) -> ReasonCode:
    """The reason that the words of `error` speak of, `internal_error` where they say nothing known."""
    text = error[:TEXT_READ].lower().replace("_", " ").replace("-", " ")
    return next((reason for test, reason in _RULES if test(text)), ReasonCode.INTERNAL_ERROR)


def reason_for_failure(error: str, outages: Sequence[str] = ()) -> ReasonCode:
    """The reason of a failed target. What made the whole search impossible says more than the words of the error."""
    for outage in outages[:1]:
        if outage in _OUTAGES:
            return _OUTAGES[outage]
    return reason_from_text(error)


def reason_for_empty(skips: Sequence[str]) -> ReasonCode:
    """The reason of a search that ended with nothing; `skips` holds one code for each work it passed over."""
    duplicates = sum(skip == "duplicate" for skip in skips)
    if skips and duplicates == len(skips):
        return ReasonCode.DUPLICATE_EXHAUSTED
    if skips and (duplicates * 2 >= len(skips) or "unavailable" not in skips):
        return ReasonCode.FILTER_EXHAUSTED
    return ReasonCode.NO_CANDIDATE
