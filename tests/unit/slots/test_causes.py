"""Which reason a failed or empty target gets."""

import pytest

from pixivflow.errors import Cause
from pixivflow.slots.causes import TEXT_READ, reason_for_empty, reason_for_failure, reason_from_text, reason_of
from pixivflow.slots.model import ReasonCode

R = ReasonCode

TEXTS = [
    ("Pixiv answered 429", R.RATE_LIMITED),
    ("Rate limit exceeded while downloading image", R.RATE_LIMITED),
    ("rate_limit: wait", R.RATE_LIMITED),
    ("HTTP 401", R.AUTH_FAILED),
    ("Unauthorized", R.AUTH_FAILED),
    ("invalid_grant", R.AUTH_FAILED),
    ("Invalid refresh token", R.AUTH_FAILED),
    ("authentication failed", R.AUTH_FAILED),
    ("需要重新登录", R.AUTH_FAILED),
    ("download timeout after 30000ms", R.DOWNLOAD_TIMEOUT),
    ("image 3 timed out", R.DOWNLOAD_TIMEOUT),
    ("timeout of url", R.DOWNLOAD_TIMEOUT),
    ("fetch timed out", R.DOWNLOAD_TIMEOUT),
    ("Execution timeout after 1800000ms", R.EXECUTION_TIMEOUT),
    ("telegram timed out", R.EXECUTION_TIMEOUT),
    ("download failed: 503", R.DOWNLOAD_FAILED),
    ("image fetch error", R.DOWNLOAD_FAILED),
    ("write failed: no space", R.DOWNLOAD_FAILED),
    ("HTTP 503", R.REMOTE_HTTP_ERROR),
    ("bad gateway", R.REMOTE_HTTP_ERROR),
    ("Service Unavailable", R.REMOTE_HTTP_ERROR),
    ("internal server error", R.REMOTE_HTTP_ERROR),
    ("telegram refused the photo", R.TELEGRAM_FAILED),
    ("account not configured", R.CONFIGURATION_ERROR),
    ("missing config key", R.CONFIGURATION_ERROR),
    ("invalid configuration", R.CONFIGURATION_ERROR),
    ("metadata could not be parsed: parse error", R.METADATA_FAILED),
    ("metadata failed", R.METADATA_FAILED),
    ("telepost rejected it", R.TELEPOST_REJECTED),
    ("telepost: invalid body", R.TELEPOST_REJECTED),
    ("telepost 422", R.TELEPOST_REJECTED),
    ("delivery went wrong", R.DELIVERY_FAILED),
    ("submit refused", R.DELIVERY_FAILED),
    ("publish refused", R.DELIVERY_FAILED),
    ("post refused", R.DELIVERY_FAILED),
    ("telepost is silent", R.DELIVERY_FAILED),
    ("postcard: reset connection", R.NETWORK_ERROR),
    ("outbox is gone", R.DELIVERY_FAILED),
    ("ECONNRESET", R.NETWORK_ERROR),
    ("getaddrinfo ENOTFOUND", R.NETWORK_ERROR),
    ("connection refused", R.NETWORK_ERROR),
    ("socket hang up", R.NETWORK_ERROR),
    ("host unreachable", R.NETWORK_ERROR),
    ("invalid value", R.CONFIGURATION_ERROR),
    ("target is missing", R.CONFIGURATION_ERROR),
    ("something else", R.INTERNAL_ERROR),
    ("", R.INTERNAL_ERROR),
    ("work 14295555 vanished", R.INTERNAL_ERROR),
]


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (Cause.LIMITED, R.RATE_LIMITED),
        (Cause.LOGIN, R.AUTH_FAILED),
        (Cause.DOWN, R.NETWORK_ERROR),
        (Cause.SERVER, R.REMOTE_HTTP_ERROR),
        (Cause.NONSENSE, R.REMOTE_HTTP_ERROR),
        (Cause.UNREADABLE, R.METADATA_FAILED),
        (Cause.TOO_SLOW, R.NETWORK_ERROR),
        (Cause.UNREACHABLE, R.NETWORK_ERROR),
        (Cause.REFUSED, R.REMOTE_HTTP_ERROR),
        (Cause.FILE_TOO_SLOW, R.DOWNLOAD_TIMEOUT),
        (Cause.FILE_BROKEN, R.DOWNLOAD_FAILED),
        (Cause.STORAGE, R.DOWNLOAD_FAILED),
        (Cause.LEDGER, R.NETWORK_ERROR),
        (Cause.SETTINGS, R.CONFIGURATION_ERROR),
        (Cause.DEFECT, R.INTERNAL_ERROR),
        (None, R.INTERNAL_ERROR),
    ],
)
def test_each_cause_has_its_reason(cause: Cause | None, reason: ReasonCode) -> None:
    assert reason_of(cause) is reason


def test_no_cause_is_without_a_reason() -> None:
    assert all(reason_of(cause) in ReasonCode for cause in Cause)


@pytest.mark.parametrize(("text", "reason"), TEXTS, ids=[text or "nothing" for text, _ in TEXTS])
def test_an_error_from_elsewhere_is_classified_by_its_first_telling_words(text: str, reason: ReasonCode) -> None:
    assert reason_from_text(text) is reason


def test_only_the_beginning_of_an_error_is_read() -> None:
    assert reason_from_text("." * (TEXT_READ - 3) + "429") is R.RATE_LIMITED
    assert reason_from_text("." * (TEXT_READ - 2) + "429") is R.INTERNAL_ERROR


@pytest.mark.parametrize(
    ("outages", "reason"),
    [
        (("pixiv_auth_failure", "network_outage"), R.AUTH_FAILED),
        (("delivery_unavailable",), R.DELIVERY_FAILED),
        (("network_outage",), R.NETWORK_ERROR),
        (("database_unavailable",), R.NETWORK_ERROR),
        ((), R.RATE_LIMITED),
        (("something_new", "network_outage"), R.RATE_LIMITED),
    ],
)
def test_the_first_thing_that_stopped_a_search_says_more_than_the_words(
    outages: tuple[str, ...], reason: ReasonCode
) -> None:
    assert reason_for_failure("HTTP 429", outages) is reason


@pytest.mark.parametrize(
    ("skips", "reason"),
    [
        pytest.param("", R.NO_CANDIDATE, id="nothing was seen"),
        pytest.param("duplicate duplicate", R.DUPLICATE_EXHAUSTED, id="all that was seen is published"),
        pytest.param("duplicate unavailable", R.FILTER_EXHAUSTED, id="half of it is published"),
        pytest.param("deleted filtered", R.FILTER_EXHAUSTED, id="nothing of it was unreachable"),
        pytest.param("duplicate unavailable filtered", R.NO_CANDIDATE, id="something was unreachable"),
    ],
)
def test_an_empty_search_says_what_it_passed_over(skips: str, reason: ReasonCode) -> None:
    assert reason_for_empty(skips.split()) is reason
