"""How a trigger from outside is answered. One table drives status, body and log event, so that they cannot drift.

the slot is over                                already_completed
this process took it                            accepted
it did not, and somebody runs the slot now      already_running
it did not, and nobody does                     rejected: whoever asked may ask again, and recovery will
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from actors.ports import Admitted, Refused


class Disposition(StrEnum):
    """What became of one request, as its answer, the log and the journal call it."""

    ACCEPTED = "accepted"
    ALREADY_RUNNING = "already_running"
    ALREADY_COMPLETED = "already_completed"
    REJECTED = "rejected"
    STOPPING = "stopping"
    TOO_EARLY = "too_early"
    TOO_LATE = "too_late"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    UNAUTHORIZED = "unauthorized"
    DISABLED = "disabled"
    ERROR = "error"


class Answer(msgspec.Struct, frozen=True):
    """What a disposition says on the wire and in the log.

    `word`: the body's `status`. `note`: the body's `note`, None for answers that tell of no slot.
    """

    http_status: int
    word: str
    event: str
    note: str | None = None
    retry_after_s: int | None = None


NO_ANSWER: Final = 0
"""The `http_status` of a request whose answer has not left, or never did."""

_D = Disposition

ANSWERS: Final[Mapping[Disposition, Answer]] = {
    _D.ACCEPTED: Answer(202, "accepted", "schedule.trigger_accepted", "queued"),
    _D.ALREADY_RUNNING: Answer(202, "running", "schedule.trigger_already_running", "already_running"),
    _D.ALREADY_COMPLETED: Answer(200, "completed", "schedule.trigger_already_completed", "already_completed"),
    _D.REJECTED: Answer(503, "rejected", "schedule.trigger_rejected", "rejected", retry_after_s=60),
    _D.STOPPING: Answer(503, "rejected", "schedule.trigger_rejected", "stopping", retry_after_s=5),
    _D.TOO_EARLY: Answer(425, "error", "schedule.trigger_rejected"),
    _D.TOO_LATE: Answer(410, "error", "schedule.trigger_rejected"),
    _D.BAD_REQUEST: Answer(400, "error", "schedule.trigger_rejected"),
    _D.NOT_FOUND: Answer(404, "error", "schedule.trigger_not_found"),
    _D.UNAUTHORIZED: Answer(401, "error", "schedule.trigger_unauthorized"),
    _D.DISABLED: Answer(503, "error", "schedule.trigger_unauthorized"),
    _D.ERROR: Answer(500, "error", "schedule.trigger_error"),
}

UNAUTHENTICATED: Final = frozenset({_D.UNAUTHORIZED, _D.DISABLED})
"""Refused before anybody knew who asked: only counted, never a row of its own."""

COMPLETED: Final = "already_completed"
"""The word of admission for a slot that ended meanwhile."""


def dispose(admission: Admitted | Refused, *, is_over: bool, is_leased: bool) -> tuple[Disposition, str | None]:
    """What became of a trigger whose slot is written down, and the reason where there is one.

    `is_over`, `is_leased`: the slot now, after `admission` was given.
    """
    if isinstance(admission, Admitted):
        return Disposition.ACCEPTED, None
    if admission.reason == COMPLETED and is_over:
        return Disposition.ALREADY_COMPLETED, None
    if is_leased:
        return Disposition.ALREADY_RUNNING, admission.reason
    return Disposition.REJECTED, admission.reason
