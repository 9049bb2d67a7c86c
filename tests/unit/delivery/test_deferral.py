"""A row that waits for its receiver is told of, but not at every look."""

import pytest

from pixivflow.delivery.audit import AuditEvent
from pixivflow.delivery.deferral import Unready, deferral
from pixivflow.delivery.model import ErrorClass

WHY = Unready(reason="http_503", status=503)
NOW = 1_800_000_000_000


def test_a_deferral_is_no_attempt_and_says_why() -> None:
    assert deferral(WHY, None, NOW, 60_000) == AuditEvent(
        event="outbox.deferred",
        error_class=ErrorClass.DEPENDENCY_NOT_READY,
        retryable=True,
        counts_as_attempt=False,
        detail={"reason": "http_503", "status": 503},
    )


@pytest.mark.parametrize(
    ("ago", "is_told"),
    [
        pytest.param(0, False, id="at the same moment"),
        pytest.param(59_999, False, id="within the minute"),
        pytest.param(60_000, True, id="after it"),
        pytest.param(-5_000, True, id="by a clock that was set back since"),
    ],
)
def test_a_row_is_told_of_once_a_minute(ago: int, is_told: bool) -> None:
    assert (deferral(WHY, NOW - ago, NOW, 60_000) is not None) is is_told
