"""What is written to the audit about a row: named events, each with its class, its verdict and a short detail."""

from collections.abc import Mapping
from typing import Final

import msgspec

from pixivflow.config.texts import stored_text
from pixivflow.delivery.model import Accepted, Ack, DuplicateExisting, ErrorClass, IdempotentReplay

CLAIMED: Final = "outbox.claimed"
RETRY_SCHEDULED: Final = "outbox.retry_scheduled"
DEAD: Final = "outbox.dead"
DELIVERED: Final = "outbox.delivered"
CANCELLED: Final = "outbox.cancelled"
REPLAY_REQUESTED: Final = "outbox.replay_requested"
DUPLICATE: Final = "delivery.duplicate"
REMOTE_FAILED: Final = "delivery.remote_failed"
LATE_ACK: Final = "delivery.late_ack"
MEDIA_FALLBACK: Final = "media.fallback"

BY_CONSUMER: Final = "consumer"
BY_OPERATOR: Final = "cli"

REASON_CHARS: Final = 200


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event about a row. `counts_as_attempt`: it used up one of the row's attempts. `detail`: short, no secrets."""

    event: str
    error_class: ErrorClass | None = None
    retryable: bool | None = None
    counts_as_attempt: bool = False
    actor: str | None = None
    detail: Mapping[str, str | int | None] | None = None


class Correlation(msgspec.Struct, frozen=True, kw_only=True):
    """The run, occurrence and work that a row belongs to, as far as its payload says."""

    execution_id: str | None = None
    slot_id: str | None = None
    pixiv_id: str | None = None


class _Context(msgspec.Struct, rename="camel"):
    execution_id: str | None = None
    slot_id: str | None = None
    pixiv_id: str | None = None


class _Payload(msgspec.Struct):
    context: _Context | None = None


def correlation(payload_json: str) -> Correlation:
    """What the frozen payload says about where it came from; nothing where it says nothing, or cannot be read."""
    try:
        context = msgspec.json.decode(payload_json, type=_Payload).context or _Context()
    except (msgspec.DecodeError, RecursionError):
        context = _Context()
    return Correlation(
        execution_id=context.execution_id or context.slot_id, slot_id=context.slot_id, pixiv_id=context.pixiv_id
    )


def media_fallback(ack: Ack) -> AuditEvent | None:
    """The event that says that the receiver published something else than what was sent, where its answer says so."""
    match ack:
        case Accepted(raw={"data": dict() as data}) | IdempotentReplay(raw={"data": dict() as data}):
            pass
        case DuplicateExisting(raw={"data": dict() as data}):
            pass
        case _:
            return None
    marked = [name for name in ("media_fallback", "document_fallback") if data.get(name) is True]
    if not marked and "document" not in str(data.get("fallback", "")):
        return None
    told = (data.get(name) for name in ("media_fallback_reason", "document_fallback_reason"))
    reason = next((text for text in told if isinstance(text, str) and text), "document")
    return AuditEvent(event=MEDIA_FALLBACK, detail={"reason": stored_text(reason, REASON_CHARS)})
