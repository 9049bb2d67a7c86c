"""What exists in the room of occurrences: slots, cells, verdicts, and what the delivery ledger answers."""

from enum import StrEnum

import msgspec

from pixivflow.ids import Owner, RouteName, ScheduleId, SlotId, TargetId, WorkId


class SlotStatus(StrEnum):
    """Whether an occurrence has ended, and how. `EXPIRED` is read from old ledgers and never written."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    PARTIAL = "partial"
    FAILED = "failed"
    EXPIRED = "expired"


class CellStatus(StrEnum):
    """How far one target of one occurrence has come. `ARTIFACT_READY` is read and handled, and written by nobody."""

    PENDING = "pending"
    SELECTED = "selected"
    ARTIFACT_READY = "artifact_ready"
    DELIVERY_PENDING = "delivery_pending"
    SUBMITTED = "submitted"
    NO_CANDIDATE = "no_candidate"
    DUPLICATE = "duplicate"
    FAILED = "failed"


class WorkType(StrEnum):
    """The kind of a Pixiv work; `UNKNOWN` only where a row was written before the kind was known."""

    ILLUSTRATION = "illustration"
    NOVEL = "novel"
    UNKNOWN = "unknown"


class ReasonCode(StrEnum):
    """Why a cell ended without a publication. The code is stored; what it means to people is `slots.reasons`."""

    NO_CANDIDATE = "no_candidate"
    DUPLICATE_EXHAUSTED = "duplicate_exhausted"
    FILTER_EXHAUSTED = "filter_exhausted"
    DOWNLOAD_TIMEOUT = "download_timeout"
    DOWNLOAD_FAILED = "download_failed"
    METADATA_FAILED = "metadata_failed"
    RATE_LIMITED = "rate_limited"
    AUTH_FAILED = "auth_failed"
    REMOTE_HTTP_ERROR = "remote_http_error"
    DELIVERY_FAILED = "delivery_failed"
    TELEPOST_REJECTED = "telepost_rejected"
    TELEGRAM_FAILED = "telegram_failed"
    NETWORK_ERROR = "network_error"
    EXECUTION_TIMEOUT = "execution_timeout"
    CONFIGURATION_ERROR = "configuration_error"
    INTERNAL_ERROR = "internal_error"
    QUEUED_TOO_LONG = "queued_too_long"
    STALLED_NO_HEARTBEAT = "stalled_no_heartbeat"
    DELIVERY_ABANDONED = "delivery_abandoned"
    CANCELLED_BY_CONSUMER = "cancelled_by_consumer"


OPEN_SLOT = frozenset({SlotStatus.PENDING, SlotStatus.RUNNING})
COMPLETED_SLOT = frozenset({SlotStatus.SUCCESS, SlotStatus.PARTIAL})
"""Statuses that no later event changes; `failed` is not among them, since a late ACK may lift it."""

TERMINAL_CELL = frozenset({CellStatus.SUBMITTED, CellStatus.NO_CANDIDATE, CellStatus.DUPLICATE, CellStatus.FAILED})
IN_DELIVERY = frozenset({CellStatus.DELIVERY_PENDING, CellStatus.ARTIFACT_READY})
"""Open cells that the delivery ledger carries to their end; a run never fails them."""

TO_BE_RUN = frozenset({CellStatus.PENDING, CellStatus.SELECTED})


class BoundWork(msgspec.Struct, frozen=True, kw_only=True):
    """A work and its kind, as a cell or an intent names it."""

    work_id: WorkId
    work_type: WorkType


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """One occurrence as its row tells it.

    Shape: `occurrence_at`, `lease_until`, `heartbeat_at`, `created_at`, `started_at`, `completed_at`, `reported_at`,
    `events_closed_at` are epoch ms, or None where never set or not readable as an instant. `target_ids` is the
    membership frozen at creation, None on rows older than that rule.
    """

    id: SlotId
    schedule_id: ScheduleId
    status: SlotStatus = SlotStatus.PENDING
    occurrence_at: int | None = None
    occurrence_date: str = ""
    occurrence_label: str = ""
    timezone: str = "UTC"
    target_ids: tuple[TargetId, ...] | None = None
    trigger_source: str | None = None
    slot_date: str = ""
    slot_name: str = ""
    lease_owner: Owner | None = None
    lease_until: int | None = None
    heartbeat_at: int | None = None
    manual_request_id: str | None = None
    correlation_id: str | None = None
    recovery_request_id: str | None = None
    recovery_mode: str | None = None
    params_json: str | None = None
    created_at: int | None = None
    started_at: int | None = None
    completed_at: int | None = None
    last_error: str | None = None
    reported_at: int | None = None
    events_closed_at: int | None = None

    @property
    def is_manual(self) -> bool:
        """Whether a requester waits for this slot (a refetch or a job); those report through channels of their own."""
        return self.manual_request_id is not None


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One target of one occurrence as its row tells it. `reason_code` may be a code that only an older ledger knew.

    `stored_count`: new works that a cell of many works has brought so far; a run goes on from there.
    """

    slot_id: SlotId
    target_id: TargetId
    status: CellStatus = CellStatus.PENDING
    work_id: WorkId | None = None
    work_type: WorkType | None = None
    attempt_count: int = 0
    fallback_stage: int = 0
    last_error: str | None = None
    reason_code: str | None = None
    reason_message: str | None = None
    candidate_report: str | None = None
    stored_count: int = 0

    @property
    def is_open(self) -> bool:
        """Whether this cell still owes an end."""
        return self.status not in TERMINAL_CELL

    @property
    def is_of_many(self) -> bool:
        """Whether this cell has brought works without being bound to any."""
        return self.stored_count > 0 and self.work_id is None

    @property
    def is_filling(self) -> bool:
        """Whether a run is still bringing works to this cell of many, or will go on with it."""
        return self.is_of_many and self.status in TO_BE_RUN


class CellChange(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict about one cell. State, work, reason and report are written in one statement, or none of them is.

    `to` None leaves an open cell in its state and stores only the error and the report beside it.
    """

    target_id: TargetId
    to: CellStatus | None
    work: BoundWork | None = None
    error: str | None = None
    reason: ReasonCode | None = None
    message: str | None = None
    report: str | None = None


# What the delivery ledger answers when asked whether a cell still has an owner downstream, over all its routes.


class Live(msgspec.Struct, frozen=True):
    """A row will still be attempted: hands off."""


class Confirmed(msgspec.Struct, frozen=True):
    """Published, and no route owes anything any more. `duplicate`: every route attests somebody else's earlier one."""

    work: BoundWork
    duplicate: bool = False


class Lost(msgspec.Struct, frozen=True):
    """Intents exist, none is owed any more, and at least one route ended without an ACK. `reason` is for people."""

    reason: str


class Unknown(msgspec.Struct, frozen=True):
    """No intent of this cell on any route."""


Downstream = Live | Confirmed | Lost | Unknown


class RouteFact(msgspec.Struct, frozen=True, kw_only=True):
    """Where one intent of a cell stands. `status` is the intent's: pending, delivered, duplicate or failed."""

    route: RouteName
    status: str
    remote_id: str | None = None


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What one run has to do: the cells that nothing else carries, each with its bound work and its fallback stage."""

    slot: Slot
    cells: tuple[Cell, ...]
    schedule_id: ScheduleId
    timeout_ms: int
