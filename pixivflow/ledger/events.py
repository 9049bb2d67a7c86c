"""The audit: what happened to deliveries and occurrences, one row each, only ever added.

Each row is said in the log as well, once it is on the disk: the log and the ledger cannot disagree.
"""

from collections.abc import Mapping
from typing import Final

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

    def line(self) -> tuple[str, Mapping[str, object]]:
        """The row as a line of the log; the end of an occurrence is told as its outcome record."""
        detail = msgspec.json.decode(self.detail) if self.detail is not None else {}
        if self.event == EXECUTION_SUMMARY:
            outcome = dict(detail["outcome"])
            return str(outcome.pop("event")), outcome
        told = msgspec.structs.asdict(self)
        return self.event, {name: told[field] for field, name in _FIELDS if told[field] is not None} | detail


_FIELDS: Final = (
    ("slot_id", "slot_id"),
    ("pixiv_id", "pixiv_id"),
    ("delivery_target", "route"),
    ("outbox_id", "outbox_id"),
    ("delivery_id", "delivery_id"),
    ("error_class", "errorClass"),
    ("retryable", "retryable"),
    ("counts_as_attempt", "countsAsAttempt"),
    ("actor", "by"),
)
"""Column and field of the log. `actor` is taken there: it names the part of the program that speaks."""

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
    db.tell(event)


def append_once(db: Db, event: Event) -> bool:
    """Add the row unless the slot has one of the same name; whether it was added.

    No unique index guards this, since old histories hold doubles; the write lock of the transaction keeps others out.
    """
    added = db.execute(APPEND_ONCE, msgspec.structs.asdict(event)).rowcount == 1
    if added:
        db.tell(event)
    return added
