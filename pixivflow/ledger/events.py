"""The audit: what happened to deliveries and occurrences, one row each, only ever added."""

import msgspec

from pixivflow.ledger.connection import Db

EXECUTION_SUMMARY = "execution.summary"
"""The one row that says how an occurrence ended. Its presence is what makes the outcome known once."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the audit. `ts`: epoch ms. `detail`: short JSON without secrets."""

    event: str
    ts: int
    delivery_id: str | None = None
    outbox_id: str | None = None
    execution_id: str | None = None
    slot_id: str | None = None
    pixiv_id: str | None = None
    delivery_target: str | None = None
    error_class: str | None = None
    retryable: bool | None = None
    counts_as_attempt: bool = False
    actor: str | None = None
    detail: str | None = None


APPEND = """
INSERT INTO delivery_events (ts, delivery_id, outbox_id, execution_id, slot_id, pixiv_id, delivery_target, event,
                             error_class, retryable, counts_as_attempt, actor, detail)
VALUES (:ts, :delivery_id, :outbox_id, :execution_id, :slot_id, :pixiv_id, :delivery_target, :event,
        :error_class, :retryable, :counts_as_attempt, :actor, :detail)
"""

APPEND_ONCE = """
INSERT INTO delivery_events (ts, delivery_id, outbox_id, execution_id, slot_id, pixiv_id, delivery_target, event,
                             error_class, retryable, counts_as_attempt, actor, detail)
SELECT :ts, :delivery_id, :outbox_id, :execution_id, :slot_id, :pixiv_id, :delivery_target, :event,
       :error_class, :retryable, :counts_as_attempt, :actor, :detail
WHERE NOT EXISTS (SELECT 1 FROM delivery_events WHERE slot_id = :slot_id AND event = :event)
"""


def append(db: Db, event: Event) -> None:
    """Add one row."""
    db.execute(APPEND, msgspec.structs.asdict(event))


def append_once(db: Db, event: Event) -> bool:
    """Add the row unless the slot has one of the same name; whether it was added.

    No unique index guards this, since old histories hold doubles; the write lock of the transaction keeps others out.
    """
    return db.execute(APPEND_ONCE, msgspec.structs.asdict(event)).rowcount == 1
