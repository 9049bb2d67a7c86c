"""What one answer changes: its row, its promise and the audit, decided in one place and written in one transaction."""

from collections.abc import Mapping
from typing import assert_never

from pixivflow.config.texts import stored_text
from pixivflow.delivery import audit
from pixivflow.delivery.ack import leaves_answer_unknown, understood
from pixivflow.delivery.audit import REASON_CHARS, AuditEvent
from pixivflow.delivery.backoff import RetryPolicy, delay_ms
from pixivflow.delivery.changes import Recording, counted, intent_change, row_change
from pixivflow.delivery.faults import error_class
from pixivflow.delivery.machine import IntentEvent, RowEvent, failure_event
from pixivflow.delivery.model import (
    CONFIRMED,
    Accepted,
    Ack,
    DuplicateExisting,
    ErrorClass,
    Failure,
    IdempotentReplay,
    Intent,
    OutboxRow,
    PermanentFailure,
    Positive,
    RemoteFailed,
    RetryableFailure,
)
from pixivflow.delivery.texts import ERROR_CHARS, REMOTE_CHARS


def recording(
    row: OutboxRow, intent: Intent | None, ack: Ack, *, cancelled: bool, policy: RetryPolicy, now: int, u: float
) -> Recording:
    """What `ack` changes.

    `cancelled`: a consumer cancelled the row's cell while the request was on its way; what the receiver did is recorded
    all the same. `u`: chance for the wait before a retry, uniform in [0, 1).
    """
    own_key = intent.idempotency_key if intent else row.idempotency_key
    answer = understood(ack, own_key=own_key, answer_unknown=row.answer_unknown)
    match answer:
        case Accepted() | IdempotentReplay() | DuplicateExisting():
            return published(row, intent, answer, cancelled=cancelled)
        case RemoteFailed():
            return _refused(row, intent, answer, cancelled=cancelled)
        case RetryableFailure() | PermanentFailure() if intent is not None and intent.status in CONFIRMED:
            return owing_nothing(row)
        case RetryableFailure() | PermanentFailure():
            return _failed(row, intent, answer, policy, now, u)
        case _:
            assert_never(answer)


def owing_nothing(row: OutboxRow) -> Recording:
    """The end of a row whose promise is confirmed already: whatever this attempt said, the work is out."""
    return Recording(row=row_change(row, RowEvent.SUCCEEDED), events=(AuditEvent(event=audit.DELIVERED),), settles=True)


def published(row: OutboxRow, intent: Intent | None, ack: Positive, *, cancelled: bool) -> Recording:
    """The end of a row whose receiver has the work, from us or from somebody else."""
    match ack:
        case Accepted():
            event, reuse_reason = IntentEvent.ACCEPTED, None
        case IdempotentReplay():
            event, reuse_reason = IntentEvent.REPLAYED, None
        case DuplicateExisting():
            event, reuse_reason = IntentEvent.FOUND_DUPLICATE, "historical_duplicate"
        case _:
            assert_never(ack)
    remote_id = _remote(ack.remote_id)
    return Recording(
        row=row_change(row, RowEvent.SUCCEEDED),
        events=(AuditEvent(event=audit.DELIVERED),),
        intent=intent_change(
            intent,
            event,
            remote_id=remote_id,
            remote_status=_remote(ack.remote_status) or event.value,
            reuse_reason=reuse_reason,
        ),
        intent_events=_what_happened(ack, event, remote_id, cancelled=cancelled),
        is_fact=True,
        settles=True,
    )


def _what_happened(
    ack: Positive, event: IntentEvent, remote_id: str | None, *, cancelled: bool
) -> tuple[AuditEvent, ...]:
    detail = {"reason": event.value, "remoteId": remote_id}
    told = []
    if event is not IntentEvent.ACCEPTED:
        why = ErrorClass.DUPLICATE
        told.append(AuditEvent(event=audit.DUPLICATE, error_class=why, retryable=False, detail=detail))
    if fallback := audit.media_fallback(ack):
        told.append(fallback)
    if cancelled:
        told.append(AuditEvent(event=audit.LATE_ACK, detail=detail))
    return tuple(told)


def _refused(row: OutboxRow, intent: Intent | None, ack: RemoteFailed, *, cancelled: bool) -> Recording:
    """The receiver's own record ended badly: the request is done, the publication is not there and will not come."""
    remote_id, status = _remote(ack.remote_id), _remote(ack.remote_status)
    error = stored_text(ack.error, ERROR_CHARS)
    detail = {"reason": IntentEvent.REMOTE_FAILED.value, "remoteId": remote_id, "remoteStatus": status}
    names = (audit.REMOTE_FAILED, audit.LATE_ACK) if cancelled else (audit.REMOTE_FAILED,)
    return Recording(
        row=row_change(row, RowEvent.REMOTE_FAILED),
        events=tuple(AuditEvent(event=name, retryable=False, detail=detail) for name in names),
        intent=intent_change(intent, IntentEvent.REMOTE_FAILED, remote_id=remote_id, remote_status=status, error=error),
        settles=True,
    )


def _failed(row: OutboxRow, intent: Intent | None, ack: Failure, policy: RetryPolicy, now: int, u: float) -> Recording:
    attempts, error, why = counted(row), stored_text(ack.error, ERROR_CHARS), error_class(ack)
    unknown = leaves_answer_unknown(ack)
    event = failure_event(attempts, row.max_attempts, retryable=isinstance(ack, RetryableFailure))
    if event is RowEvent.FAILED_FOR_GOOD:
        told = f"{error} (configuration error)" if why is ErrorClass.CONFIGURATION_ERROR else error
        return Recording(
            row=row_change(row, event, attempts=attempts, error=error, answer_unknown=unknown),
            events=(_attempt(audit.DEAD, why, {"attempt": attempts, "error": error[:REASON_CHARS]}, retryable=False),),
            intent=intent_change(intent, IntentEvent.ROW_DEAD, error=told),
            settles=True,
        )
    wait = delay_ms(attempts, policy, u, ack.retry_after_ms if isinstance(ack, RetryableFailure) else None)
    tried: dict[str, str | int] = {"attempt": attempts, "nextInMs": wait, "error": error[:REASON_CHARS]}
    return Recording(
        row=row_change(row, event, attempts=attempts, next_attempt_at=now + wait, error=error, answer_unknown=unknown),
        events=(_attempt(audit.RETRY_SCHEDULED, why, tried, retryable=True),),
    )


def _attempt(event: str, why: ErrorClass, detail: Mapping[str, str | int], *, retryable: bool) -> AuditEvent:
    return AuditEvent(event=event, error_class=why, retryable=retryable, counts_as_attempt=True, detail=detail)


def _remote(text: str | None) -> str | None:
    """A receiver's name or status as a row keeps it; a blank one is none."""
    return (stored_text(text, REMOTE_CHARS) or None) if text else None
