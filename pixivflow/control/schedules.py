"""`GET /internal/schedules`: every plan, and the slot that a trigger would name now."""

from pixivflow.control.ports import Parts, Reply
from pixivflow.control.wire import ScheduleLine, SchedulesReply
from pixivflow.errors import ConfigError
from pixivflow.ids import SlotId
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.occurrence import misfit, occurrence_for


def schedules(parts: Parts) -> Reply:
    """The plans in their order, those that are off among them."""
    runtime, now = parts.runtime(), parts.clock.now_ms()
    grace_ms = runtime.trigger.grace_minutes * 60_000
    lines = [
        ScheduleLine(schedule_id=plan.id, mode=runtime.mode, occurrence=_named(plan, now, grace_ms))
        for plan in parts.plans().values()
    ]
    return Reply(200, SchedulesReply(schedules=lines))


def _named(plan: Plan, now: int, grace_ms: int) -> SlotId | None:
    try:
        occurrence = occurrence_for(plan, now)
    except ConfigError:
        return None
    return occurrence.slot_id if misfit(occurrence, now, grace_ms) is None else None
