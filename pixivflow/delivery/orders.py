"""What ends or re-arms a row without any answer of a receiver: a consumer, an operator, or a work enqueued again."""

from pixivflow.delivery import audit
from pixivflow.delivery.audit import AuditEvent
from pixivflow.delivery.changes import Recording, counted, intent_change, row_change
from pixivflow.delivery.machine import IntentEvent, RowEvent, row_after
from pixivflow.delivery.model import CONFIRMED, DuplicateExisting, Intent, OutboxRow
from pixivflow.delivery.recording import owing_nothing, published

STOPPED = "work cancelled by consumer"
BY_HAND = "cancelled by operator"


def last_look(
    row: OutboxRow, intent: Intent | None, *, cancelled: bool, kept_under: str | None = None
) -> Recording | None:
    """What stops a claimed row right before its request would go out; None: nothing does, send it.

    A promise that was confirmed in the meantime owes nothing. Work that its consumer cancelled is never sent.
    `kept_under`: the key of another promise under which the route has the work by now; a late answer may have said so
    after this one was made. To the receiver our key would be a new work, so it is not asked.
    """
    if intent is not None and intent.status in CONFIRMED:
        return owing_nothing(row)
    if kept_under is not None and not cancelled:
        return published(row, intent, DuplicateExisting(matched_key=kept_under), cancelled=False)
    if not cancelled:
        return None
    return Recording(
        row=row_change(row, RowEvent.WORK_CANCELLED, attempts=counted(row), error=STOPPED),
        intent=intent_change(intent, IntentEvent.CANCELLED, remote_status="cancelled", error=STOPPED),
        events=(AuditEvent(event=audit.CANCELLED, actor=audit.BY_CONSUMER),),
    )


def cancel(row: OutboxRow, intent: Intent | None, actor: str) -> Recording | None:
    """The end of a row that nobody is sending, by an operator or by the consumer of its work; None where it is refused.

    An operator's cancel may end the cell. A consumer's does not: its own verdict about the cell follows at once.
    """
    by_consumer = actor == audit.BY_CONSUMER
    event = RowEvent.CONSUMER_CANCELLED if by_consumer else RowEvent.OPERATOR_CANCELLED
    why = STOPPED if by_consumer else BY_HAND
    if row_after(row.status, event) is None:
        return None
    return Recording(
        row=row_change(row, event, error=row.last_error),
        intent=intent_change(intent, IntentEvent.CANCELLED, remote_status="cancelled", error=why),
        events=(AuditEvent(event=audit.CANCELLED, actor=actor),),
        settles=not by_consumer,
    )


def rearm(
    row: OutboxRow, intent: Intent | None, event: RowEvent, now: int, *, source: str | None = None
) -> Recording | None:
    """A full new budget for a row that had ended, due now; None where it is refused.

    `event`: REVIVED or REQUEUED. `source`: who asked, where a person did; that is written to the audit. The promise is
    owed again from this moment, so that nobody takes it for lost while the worker is at it.
    """
    if row_after(row.status, event, intent.status if intent else None) is None:
        return None
    detail = {"source": source, "deliveryStatus": intent.status.value if intent else None}
    asked = AuditEvent(event=audit.REPLAY_REQUESTED, actor=audit.BY_OPERATOR, detail=detail)
    return Recording(
        row=row_change(row, event, attempts=0, next_attempt_at=now),
        intent=intent_change(intent, IntentEvent.REARMED, error=intent.last_error if intent else None),
        events=(asked,) if source else (),
    )
