"""`GET /status`: how the process fares, for whoever holds the schedule token."""

from pixivflow.control.ports import Failed, Parts, Reply
from pixivflow.control.wire import Counters, State, StatusReply
from pixivflow.errors import PixivflowError
from pixivflow.times import iso


async def status(parts: Parts) -> Reply:
    """The state, and what holds the process awake. Errors: `Failed` when the ledger cannot be asked."""
    identity, now = parts.identity, parts.clock.now_ms()
    try:
        owed = await parts.owed()
    except PixivflowError as error:
        parts.note("control.status_failed", error=error)
        raise Failed(503, "the ledger cannot be asked now", {"retry-after": "5"}) from error
    body = StatusReply(
        state=_state(parts, now),
        pid=identity.pid,
        started_at=iso(identity.started_at),
        uptime_sec=max(0, now - identity.started_at) // 1000,
        version=identity.version,
        mode=parts.runtime().mode,
        counters=Counters(**owed.counters()),
    )
    return Reply(200, body)


def _state(parts: Parts, now: int) -> State:
    if parts.leaving():
        return "stopping"
    return "ok" if parts.ledger.obstacle(now) is None else "degraded"
