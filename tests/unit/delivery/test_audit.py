"""What the audit is told about where a row came from and what became of its media."""

import pytest

from pixivflow.delivery.audit import Correlation, correlation, media_fallback
from pixivflow.delivery.model import Accepted, Ack, DuplicateExisting, IdempotentReplay, RemoteFailed


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (
            '{"context": {"executionId": "e", "slotId": "s", "pixivId": "1"}}',
            Correlation(execution_id="e", slot_id="s", pixiv_id="1"),
        ),
        ('{"context": {"slotId": "s"}}', Correlation(execution_id="s", slot_id="s")),
        ('{"context": {}}', Correlation()),
        ('{"context": null}', Correlation()),
        ("{}", Correlation()),
        ('{"context": {"slotId": 5}}', Correlation()),
        ("not json", Correlation()),
        ("[" * 100_000, Correlation()),
        ("", Correlation()),
    ],
)
def test_a_row_is_traced_by_its_frozen_context_and_by_nothing_where_that_cannot_be_read(
    payload: str, expected: Correlation
) -> None:
    assert correlation(payload) == expected


@pytest.mark.parametrize("kind", [Accepted, IdempotentReplay, DuplicateExisting])
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"media_fallback": True, "media_fallback_reason": "too large"}, "too large"),
        ({"document_fallback": True, "document_fallback_reason": "no photo"}, "no photo"),
        ({"document_fallback": True, "document_fallback_reason": 5}, "document"),
        ({"fallback": "sent as document"}, "document"),
        ({"media_fallback": True, "media_fallback_reason": "x" * 1000}, "x" * 200),
    ],
)
def test_a_receiver_that_published_something_else_is_written_down(
    kind: type[Accepted], data: dict[str, object], reason: str
) -> None:
    event = media_fallback(kind(raw={"data": data}))

    assert event is not None
    assert event.detail == {"reason": reason}


@pytest.mark.parametrize(
    "ack",
    [
        Accepted(),
        Accepted(raw="text"),
        Accepted(raw={"data": ["document"]}),
        Accepted(raw={"data": {"media_fallback": "true", "fallback": "none"}}),
        Accepted(raw={"media_fallback": True}),
        RemoteFailed(remote_status="failed", error="media_fallback"),
    ],
)
def test_a_receiver_that_published_what_was_sent_is_not(ack: Ack) -> None:
    assert media_fallback(ack) is None
