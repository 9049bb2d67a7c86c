"""What a decision of this room writes: a row's next state, its promise's next state, and what the audit is told."""

from typing import Final

import msgspec

from pixivflow.delivery.audit import AuditEvent
from pixivflow.delivery.machine import IntentEvent, RowEvent, intent_after
from pixivflow.delivery.model import CONFIRMED, Intent, IntentStatus, OutboxRow

MOST_ATTEMPTS: Final = 2**31 - 1
"""Where counting stops; no budget comes near it, and a row that another program wrote may not overflow ours."""


class RowChange(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to a row, and what is stored beside its new status. A lease never outlives the change."""

    event: RowEvent
    attempts: int
    next_attempt_at: int
    last_error: str | None = None
    answer_unknown: bool = False


class IntentChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored of a promise from now on."""

    status: IntentStatus
    remote_id: str | None = None
    remote_status: str | None = None
    reuse_reason: str | None = None
    last_error: str | None = None


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """All that one event changes, to be written in one transaction.

    `events` belong to the row and are written with it; `intent_events` tell what the receiver did. `is_fact`: the work
    is published, so the promise and its events hold even if the row is somebody else's by now. `settles`: the promise
    has ended, so its cell may end with it.
    """

    row: RowChange
    events: tuple[AuditEvent, ...] = ()
    intent: IntentChange | None = None
    intent_events: tuple[AuditEvent, ...] = ()
    is_fact: bool = False
    settles: bool = False


def row_change(
    row: OutboxRow,
    event: RowEvent,
    *,
    attempts: int | None = None,
    next_attempt_at: int | None = None,
    error: str | None = None,
    answer_unknown: bool = False,
) -> RowChange:
    """The change of `row` by `event`; what is not given stays, but for the error, which a change replaces or clears."""
    return RowChange(
        event=event,
        attempts=row.attempts if attempts is None else attempts,
        next_attempt_at=row.next_attempt_at if next_attempt_at is None else next_attempt_at,
        last_error=error,
        answer_unknown=row.answer_unknown or answer_unknown,  # an answer once lost may still be told to us later
    )


def intent_change(
    intent: Intent | None,
    event: IntentEvent,
    *,
    remote_id: str | None = None,
    remote_status: str | None = None,
    reuse_reason: str | None = None,
    error: str | None = None,
) -> IntentChange | None:
    """The change of a promise by `event`; None without a promise, and for a confirmed one, which nothing changes."""
    if intent is None or intent.status in CONFIRMED:
        return None
    return IntentChange(
        status=intent_after(intent.status, event),
        remote_id=remote_id or intent.remote_id,
        remote_status=remote_status or intent.remote_status,
        reuse_reason=reuse_reason,
        last_error=error,
    )


def counted(row: OutboxRow) -> int:
    """The failures of `row` once one more has happened."""
    return min(row.attempts + 1, MOST_ATTEMPTS)
