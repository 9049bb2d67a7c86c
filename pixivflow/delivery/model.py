"""What exists in the room of delivery: intents, outbox rows, and the answers of receivers."""

from enum import StrEnum
from typing import Final

import msgspec

from pixivflow.ids import DeliveryId, OutboxId, Owner, RouteName, SlotId, TargetId, WorkId
from pixivflow.slots.model import WorkType


class IntentStatus(StrEnum):
    """Where a promise stands; see `machine`."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DUPLICATE = "duplicate"
    FAILED = "failed"


class RowStatus(StrEnum):
    """Where the attempts at one side effect stand; see `machine`."""

    PENDING = "pending"
    PROCESSING = "processing"
    RETRY_WAIT = "retry_wait"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class RowKind(StrEnum):
    """What a row sends: a work, an operational notice, or a job event to the job's consumer."""

    DELIVERY = "delivery"
    NOTIFICATION = "notification"
    EVENT_CALLBACK = "event_callback"


class ErrorClass(StrEnum):
    """Why an attempt failed, for the audit; whether it is tried again is decided beside it, never from it.

    `DEPENDENCY_NOT_READY` is a deferral: nothing was attempted.
    """

    DEPENDENCY_NOT_READY = "dependency_not_ready"
    NETWORK_TIMEOUT = "network_timeout"
    RATE_LIMITED = "rate_limited"
    REMOTE_5XX = "remote_5xx"
    REMOTE_4XX = "remote_4xx"
    INVALID_PAYLOAD = "invalid_payload"
    TELEGRAM_SEND_FAILED = "telegram_send_failed"
    CONFIGURATION_ERROR = "configuration_error"
    DUPLICATE = "duplicate"
    INTERNAL_ERROR = "internal_error"


CONFIRMED: Final = frozenset({IntentStatus.DELIVERED, IntentStatus.DUPLICATE})
"""Published, by us or by somebody before us."""

MAX_ATTEMPTS: Final = 12
"""The budget of a delivery or notification row."""


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """One promise as its row tells it. `slot_id` and `target_id` are None for a work sent outside any occurrence.

    `attempts` counts recorded answers, not requests. `remote_id` is the receiver's name for the publication.
    """

    id: DeliveryId
    route: RouteName
    work_type: WorkType
    work_id: WorkId
    idempotency_key: str
    slot_id: SlotId | None = None
    target_id: TargetId | None = None
    status: IntentStatus = IntentStatus.PENDING
    remote_id: str | None = None
    remote_status: str | None = None
    reuse_reason: str | None = None
    attempts: int = 0
    last_error: str | None = None


class OutboxRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row as its table tells it.

    Shape: `payload_json` is the text frozen at enqueue, sent again unchanged; `next_attempt_at`, `lease_until` epoch
    ms. `answer_unknown`: an earlier attempt may have reached the receiver without its answer reaching us; never taken
    back.
    """

    id: OutboxId
    kind: RowKind
    route: RouteName
    payload_json: str
    idempotency_key: str | None = None
    delivery_id: DeliveryId | None = None
    status: RowStatus = RowStatus.PENDING
    attempts: int = 0
    max_attempts: int = MAX_ATTEMPTS
    next_attempt_at: int = 0
    lease_owner: Owner | None = None
    lease_until: int | None = None
    last_error: str | None = None
    answer_unknown: bool = False


# The answers. `http_status` is kept beside each as evidence; it never turns one kind of answer into another, except
# where `ack` reads a conflict with our own earlier attempt.


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The receiver took the work. `raw`: the decoded answer, where the provider keeps it for the audit."""

    remote_id: str | None = None
    remote_status: str | None = None
    raw: object = None
    http_status: int | None = None


class IdempotentReplay(msgspec.Struct, frozen=True, kw_only=True):
    """The receiver has this very promise already: our own earlier attempt arrived."""

    remote_id: str | None = None
    remote_status: str | None = None
    raw: object = None
    http_status: int | None = None


class DuplicateExisting(msgspec.Struct, frozen=True, kw_only=True):
    """The receiver has this work from somebody else. `matched_key`: the key under which it has it, where it says so."""

    remote_id: str | None = None
    remote_status: str | None = None
    matched_key: str | None = None
    raw: object = None
    http_status: int | None = None


class RemoteFailed(msgspec.Struct, frozen=True, kw_only=True):
    """The receiver's own record of the work ended badly; the request itself succeeded and is never repeated."""

    remote_status: str
    error: str
    remote_id: str | None = None
    http_status: int | None = None


class RetryableFailure(msgspec.Struct, frozen=True, kw_only=True):
    """No verdict yet. `retry_after_ms`: the receiver's own wish.

    `answer_unknown`: bytes may have left and no answer came back, so the receiver may have published. `error_class`:
    set by whoever knew more than the status tells.
    """

    error: str
    retry_after_ms: int | None = None
    http_status: int | None = None
    answer_unknown: bool = False
    error_class: ErrorClass | None = None


class PermanentFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The same attempt would fail again. `matched_key`: the key that a conflict names, where it does.

    `provider`: the kind of adapter that failed, for the error class.
    """

    error: str
    matched_key: str | None = None
    http_status: int | None = None
    answer_unknown: bool = False
    error_class: ErrorClass | None = None
    provider: str | None = None


Positive = Accepted | IdempotentReplay | DuplicateExisting
"""Answers that say the work is published."""

Failure = RetryableFailure | PermanentFailure
"""Answers that say this attempt brought nothing."""

Ack = Accepted | IdempotentReplay | DuplicateExisting | RemoteFailed | RetryableFailure | PermanentFailure
