"""Error classes: types outrank words, and words are read only where nothing else is known."""

import pytest

from pixivflow.delivery.faults import Fault, Raised, Signal, error_class, failed, fault_of
from pixivflow.delivery.model import ErrorClass, Failure, PermanentFailure, RetryableFailure

E = ErrorClass


def raised(signal: Signal = Signal.OTHER, text: str = "", **fields: object) -> Raised:
    return Raised(signal=signal, text=text, bytes_left=True, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (PermanentFailure(error="", http_status=409), E.DUPLICATE),
        (PermanentFailure(error="", http_status=400), E.REMOTE_4XX),
        (PermanentFailure(error="", http_status=499), E.REMOTE_4XX),
        (PermanentFailure(error="", http_status=302), E.INVALID_PAYLOAD),
        (PermanentFailure(error="timeout", provider="webhook"), E.INVALID_PAYLOAD),
        (PermanentFailure(error="timeout", provider="telegram"), E.TELEGRAM_SEND_FAILED),
        (PermanentFailure(error="", provider="telegram", http_status=400), E.REMOTE_4XX),
        (PermanentFailure(error="", http_status=400, error_class=E.CONFIGURATION_ERROR), E.CONFIGURATION_ERROR),
        (RetryableFailure(error="", http_status=429), E.RATE_LIMITED),
        (RetryableFailure(error="", http_status=408), E.NETWORK_TIMEOUT),
        (RetryableFailure(error="", http_status=500), E.REMOTE_5XX),
        (RetryableFailure(error="", http_status=200), E.INTERNAL_ERROR),
        (RetryableFailure(error="duplicate"), E.INTERNAL_ERROR),
        (RetryableFailure(error="", error_class=E.NETWORK_TIMEOUT), E.NETWORK_TIMEOUT),
    ],
)
def test_a_failed_answer_is_classified_by_its_status_and_never_by_its_words(
    failure: Failure, expected: ErrorClass
) -> None:
    assert error_class(failure) is expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (raised(Signal.CONFIGURATION, "timeout", http_status=503), Fault(E.CONFIGURATION_ERROR, False)),
        (raised(Signal.PAYLOAD, "timeout", http_status=503), Fault(E.INVALID_PAYLOAD, False)),
        (raised(Signal.TIMEOUT, "bad request", http_status=400), Fault(E.REMOTE_4XX, False)),
        (raised(Signal.OTHER, http_status=429), Fault(E.RATE_LIMITED, True)),
        (raised(Signal.OTHER, http_status=408), Fault(E.NETWORK_TIMEOUT, True)),
        (raised(Signal.OTHER, http_status=409), Fault(E.DUPLICATE, False)),
        (raised(Signal.OTHER, http_status=404), Fault(E.REMOTE_4XX, False)),
        (raised(Signal.OTHER, http_status=503), Fault(E.REMOTE_5XX, True)),
        (raised(Signal.TIMEOUT, "duplicate"), Fault(E.NETWORK_TIMEOUT, True)),
        (raised(Signal.TRANSPORT, "invalid certificate"), Fault(E.NETWORK_TIMEOUT, True)),
        (raised(Signal.OTHER, "timeout", http_status=302), Fault(E.NETWORK_TIMEOUT, True)),
    ],
)
def test_what_the_edge_knows_outranks_what_the_error_says(given: Raised, expected: Fault) -> None:
    assert fault_of(given) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("route x Does Not Configure a URL", Fault(E.CONFIGURATION_ERROR, False)),
        ("unsupported delivery target: fax, timeout", Fault(E.CONFIGURATION_ERROR, False)),
        ("Request timed out (429)", Fault(E.NETWORK_TIMEOUT, True)),
        ("The operation was aborted", Fault(E.NETWORK_TIMEOUT, True)),
        ("HTTP 429", Fault(E.RATE_LIMITED, True)),
        ("rate-limit hit, duplicate", Fault(E.RATE_LIMITED, True)),
        ("HTTP 409", Fault(E.DUPLICATE, False)),
        ("idempotent replay, invalid", Fault(E.DUPLICATE, False)),
        ("answered HTTP 404", Fault(E.INVALID_PAYLOAD, False)),
        ("answered http 4x4", Fault(E.INTERNAL_ERROR, True)),
        ("validation of telegram failed", Fault(E.INVALID_PAYLOAD, False)),
        ("Telegram connection", Fault(E.TELEGRAM_SEND_FAILED, False)),
        ("connect ECONNREFUSED", Fault(E.NETWORK_TIMEOUT, True)),
        ("service unavailable", Fault(E.NETWORK_TIMEOUT, True)),
        ("", Fault(E.INTERNAL_ERROR, True)),
        ("division by zero", Fault(E.INTERNAL_ERROR, True)),
    ],
)
def test_an_error_that_nobody_translated_is_read_from_the_first_rule_down(text: str, expected: Fault) -> None:
    assert fault_of(raised(text=text)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ConfigError", Fault(E.CONFIGURATION_ERROR, False)), ("AbortError", Fault(E.NETWORK_TIMEOUT, True))],
)
def test_the_name_of_such_an_error_is_read_like_its_text(name: str, expected: Fault) -> None:
    assert fault_of(raised(text="x", name=name)) == expected


def test_only_the_beginning_of_a_huge_text_is_read() -> None:
    assert fault_of(raised(text="x" * 5_000_000 + "telegram")) == Fault(E.INTERNAL_ERROR, True)


def test_an_exception_becomes_the_answer_that_its_fault_asks_for() -> None:
    assert failed(raised(Signal.TIMEOUT, "slow", retry_after_ms=5)) == RetryableFailure(
        error="slow", retry_after_ms=5, answer_unknown=True, error_class=E.NETWORK_TIMEOUT
    )
    assert failed(Raised(signal=Signal.PAYLOAD, text="1.png is gone", bytes_left=False)) == PermanentFailure(
        error="1.png is gone", error_class=E.INVALID_PAYLOAD
    )


def test_an_exception_with_a_status_had_an_answer_and_one_before_the_first_byte_needs_none() -> None:
    answered = failed(raised(Signal.OTHER, http_status=503))
    never_left = failed(Raised(signal=Signal.TRANSPORT, text="refused", bytes_left=False))

    assert not answered.answer_unknown
    assert not never_left.answer_unknown
