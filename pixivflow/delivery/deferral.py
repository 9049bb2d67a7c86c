"""A row that waits because its receiver is not ready: no attempt, and a record of it now and then."""

from typing import Final

import msgspec

from pixivflow.delivery.audit import AuditEvent
from pixivflow.delivery.model import ErrorClass

DEFERRED: Final = "outbox.deferred"


class Unready(msgspec.Struct, frozen=True, kw_only=True):
    """Why a receiver takes nothing now: `http_<status>`, `timeout`, or `connection_refused` for anything else."""

    reason: str
    status: int | None = None


def deferral(why: Unready, last_told_at: int | None, now: int, every_ms: int) -> AuditEvent | None:
    """The event about one waiting row; None while its last one is younger than `every_ms`.

    A receiver that starts slowly is asked every few seconds, and would fill the audit by itself.
    """
    if last_told_at is not None and last_told_at <= now < last_told_at + every_ms:
        return None
    return AuditEvent(
        event=DEFERRED,
        error_class=ErrorClass.DEPENDENCY_NOT_READY,
        retryable=True,
        detail={"reason": why.reason, "status": why.status},
    )
