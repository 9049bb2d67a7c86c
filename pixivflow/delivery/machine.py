"""The two state tables of delivery: what each event makes of an intent and of an outbox row.

intent               ACK accepted, replay        -> delivered
pending, failed   ── ACK duplicate               -> duplicate
                     remote failed, dead, cancel -> failed
failed            ── revive, requeue             -> pending
delivered, duplicate: nothing moves them; a stale worker cannot take back a publication.

row
pending, retry_wait ── claim                   -> processing
                       cancel (anyone)         -> cancelled
processing ── success, or a final remote "no"  -> done
              failure with a chance left       -> retry_wait
              failure without                  -> dead
              its work was cancelled           -> dead
              released before the send         -> pending
              claim after its lease ran out    -> processing, the answer of the lost attempt unknown
              its attempt cut by our stop      -> processing, until the lease ends
dead, cancelled ── revive                      -> pending, a full budget
                   requeue by an operator      -> retry_wait, a full budget
dead ── cancel by an operator                  -> cancelled
done: final, but for a requeue of a row whose receiver ended the work badly (its intent is `failed`).
Whatever its state, a row whose intent is confirmed is never armed again.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from pixivflow.delivery.model import CONFIRMED, IntentStatus, RowStatus


class IntentEvent(StrEnum):
    """What happens to a promise."""

    ACCEPTED = "accepted"
    REPLAYED = "idempotent_replay"
    FOUND_DUPLICATE = "duplicate_existing"
    REMOTE_FAILED = "remote_failed"
    ROW_DEAD = "row_dead"
    CANCELLED = "cancelled"
    REARMED = "rearmed"


class RowEvent(StrEnum):
    """What happens to the attempts at one side effect."""

    CLAIMED = "claimed"
    LEASE_RAN_OUT = "lease_ran_out"
    SUCCEEDED = "succeeded"
    REMOTE_FAILED = "remote_failed"
    FAILED_WITH_BUDGET = "failed_with_budget"
    FAILED_FOR_GOOD = "failed_for_good"
    WORK_CANCELLED = "work_cancelled"
    RELEASED = "released"
    CUT_SHORT = "cut_short"
    OPERATOR_CANCELLED = "operator_cancelled"
    CONSUMER_CANCELLED = "consumer_cancelled"
    REVIVED = "revived"
    REQUEUED = "requeued"


_INTENT: Final[Mapping[IntentEvent, IntentStatus]] = {
    IntentEvent.ACCEPTED: IntentStatus.DELIVERED,
    IntentEvent.REPLAYED: IntentStatus.DELIVERED,
    IntentEvent.FOUND_DUPLICATE: IntentStatus.DUPLICATE,
    IntentEvent.REMOTE_FAILED: IntentStatus.FAILED,
    IntentEvent.ROW_DEAD: IntentStatus.FAILED,
    IntentEvent.CANCELLED: IntentStatus.FAILED,
    IntentEvent.REARMED: IntentStatus.PENDING,
}
"""What each event makes of a promise that is not confirmed."""

_R, _E = RowStatus, RowEvent

_ROW: Final[Mapping[RowEvent, tuple[frozenset[RowStatus], RowStatus]]] = {
    _E.CLAIMED: (frozenset({_R.PENDING, _R.RETRY_WAIT}), _R.PROCESSING),
    _E.LEASE_RAN_OUT: (frozenset({_R.PROCESSING}), _R.PROCESSING),
    _E.SUCCEEDED: (frozenset({_R.PROCESSING}), _R.DONE),
    _E.REMOTE_FAILED: (frozenset({_R.PROCESSING}), _R.DONE),
    _E.FAILED_WITH_BUDGET: (frozenset({_R.PROCESSING}), _R.RETRY_WAIT),
    _E.FAILED_FOR_GOOD: (frozenset({_R.PROCESSING}), _R.DEAD),
    _E.WORK_CANCELLED: (frozenset({_R.PROCESSING}), _R.DEAD),
    _E.RELEASED: (frozenset({_R.PROCESSING}), _R.PENDING),
    _E.CUT_SHORT: (frozenset({_R.PROCESSING}), _R.PROCESSING),
    _E.OPERATOR_CANCELLED: (frozenset({_R.PENDING, _R.RETRY_WAIT, _R.DEAD}), _R.CANCELLED),
    _E.CONSUMER_CANCELLED: (frozenset({_R.PENDING, _R.RETRY_WAIT}), _R.CANCELLED),
    _E.REVIVED: (frozenset({_R.DEAD, _R.CANCELLED}), _R.PENDING),
    _E.REQUEUED: (frozenset({_R.DEAD, _R.CANCELLED, _R.DONE}), _R.RETRY_WAIT),
}
"""For each event the states it may meet, and the one it leads to."""


def intent_after(status: IntentStatus, event: IntentEvent) -> IntentStatus:
    """What the promise is once `event` has happened. A confirmed one stays as it is, whatever happens."""
    return status if status in CONFIRMED else _INTENT[event]


def row_after(status: RowStatus, event: RowEvent, intent: IntentStatus | None = None) -> RowStatus | None:
    """What the row is once `event` has happened; None where that cannot happen to it and nothing may be written.

    `intent`: the status of the row's promise, if it has one; a row is armed again only while that is not confirmed.
    """
    arms = event in (RowEvent.REVIVED, RowEvent.REQUEUED)
    if arms and (intent in CONFIRMED or (status is RowStatus.DONE and intent is not IntentStatus.FAILED)):
        return None
    sources, to = _ROW[event]
    return to if status in sources else None


def row_leads_to(event: RowEvent) -> RowStatus:
    """The state that `event` leads to, for a row that it may meet."""
    return _ROW[event][1]


def failure_event(attempts: int, max_attempts: int, *, retryable: bool) -> RowEvent:
    """Which failure it is. `attempts`: the failures of this row, this one included."""
    return RowEvent.FAILED_WITH_BUDGET if retryable and attempts < max_attempts else RowEvent.FAILED_FOR_GOOD
