"""What an answer means once it is known whether an earlier attempt may have arrived unseen.

A receiver that says "I have this already" after an attempt whose answer was lost is talking about us. The same words on
a first attempt are about somebody else.
"""

from typing import Final

from pixivflow.delivery.model import (
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    PermanentFailure,
    RetryableFailure,
)

CONFLICT: Final = 409
ANSWERED_BY_A_MIDDLEMAN: Final = frozenset({502, 504})
"""A gateway's own answer: the request may have gone through to the receiver behind it."""


def understood(ack: Ack, *, own_key: str | None, answer_unknown: bool) -> Ack:
    """`ack`, or an idempotent replay where it speaks of our own earlier attempt.

    `own_key`: the key that every attempt at this row carried. `answer_unknown`: an earlier attempt may have arrived. An
    answer that names another key speaks of another promise, whatever we lost before.
    """
    if not answer_unknown:
        return ack
    match ack:
        case DuplicateExisting(matched_key=key) if not key or key == own_key:
            return IdempotentReplay(
                remote_id=ack.remote_id, remote_status=ack.remote_status, raw=ack.raw, http_status=ack.http_status
            )
        case PermanentFailure(http_status=status, matched_key=key) if status == CONFLICT and (
            not key or key == own_key
        ):
            return IdempotentReplay(http_status=CONFLICT)
        case _:
            return ack


def leaves_answer_unknown(ack: Ack) -> bool:
    """Whether this attempt may have reached the receiver without its answer reaching us."""
    match ack:
        case RetryableFailure() | PermanentFailure():
            return ack.answer_unknown or ack.http_status in ANSWERED_BY_A_MIDDLEMAN
        case _:
            return False
