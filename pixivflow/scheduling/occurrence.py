"""Which fire an instant belongs to, and when a trigger may still name it. Nobody else builds a slot's identity.

    ──┬───────────────────────────┬────────┬──────────┬───────────────▶
     fire                     next - lead  next     next + grace
      └──── belongs to `fire` ────┘└─ belongs to `next` ─ … ─┘ beyond it a trigger is too late

A late clock names the fire that it is late for; one that is a little early names the coming one.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from pixivflow.errors import ConfigError
from pixivflow.ids import ScheduleId, SlotId, TargetId
from pixivflow.scheduling.cron import Cron, cron
from pixivflow.scheduling.model import Plan
from pixivflow.times import iso

LEAD_MS: Final = 900_000
"""How early a trigger may name the coming fire: never more than half of what lies between two fires."""

UTC: Final = "UTC"


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """One canonical fire of a plan. `at`: epoch ms. `date`, `label`: what its wall clock shows, `2026-01-15`, `03:00`.

    `slot_id` carries that wall clock, without an offset: both passes of a repeated hour are one slot.
    """

    slot_id: SlotId
    schedule_id: ScheduleId
    at: int
    date: str
    label: str
    timezone: str


class Misfit(msgspec.Struct, frozen=True):
    """A trigger came at the wrong time. `opens_at`, `closed_at`: epoch ms, the one that it missed."""

    slot_id: SlotId
    opens_at: int | None = None
    closed_at: int | None = None

    def __str__(self) -> str:
        if self.opens_at is not None:
            return f"too early for {self.slot_id}: it opens at {iso(self.opens_at)}"
        return f"too late for {self.slot_id}: it closed at {iso(self.closed_at or 0)}"


def clock_of(plan: Plan) -> Cron:
    """When the plan fires. Errors: `ConfigError` when it has no cron line, or one that cannot be read."""
    if not plan.cron.strip():
        raise ConfigError(f"schedules.{plan.id}.cron", plan.cron, "a plan without a cron line has no occurrences")
    try:
        return cron(plan.cron, plan.timezone.strip() or UTC)
    except (ValueError, KeyError, OSError) as error:
        raise ConfigError(f"schedules.{plan.id}.cron", plan.cron, str(error)) from error


def occurrence_for(plan: Plan, at: int) -> Occurrence:
    """The canonical fire that a trigger at `at` belongs to.

    Shape: `at` epoch ms UTC; exactly at a fire it is that one, exactly `LEAD_MS` before the next it is the next.
    Errors: `ConfigError` when the plan has no cron line, or one that never fires.
    """
    clock = clock_of(plan)
    before, after = clock.latest(at), clock.next_after(at)
    if before is None and after is None:
        raise ConfigError(f"schedules.{plan.id}.cron", plan.cron, "never fires")
    if after is not None and (before is None or after - at <= min(LEAD_MS, (after - before) / 2)):
        return occurrence_of(plan, after)
    return occurrence_of(plan, before or 0)


def occurrence_of(plan: Plan, fire: int) -> Occurrence:
    """The occurrence of a fire that is known: of a tick, of a missed run. `fire`: epoch ms, one of the plan's."""
    zone = clock_of(plan).zone
    wall = datetime.fromtimestamp(fire / 1000, zone)
    return Occurrence(
        slot_id=SlotId(f"{plan.id}@{wall:%Y-%m-%dT%H%M}"),
        schedule_id=plan.id,
        at=fire,
        date=f"{wall:%Y-%m-%d}",
        label=f"{wall:%H:%M}",
        timezone=zone.key,
    )


def misfit(occurrence: Occurrence, now: int, grace_ms: int) -> Misfit | None:
    """Why a trigger from outside may not name `occurrence` now; None when it may. Both ends of the window are inside.

    The process's own clock, and catch-up, are not asked: a tick that a busy host delayed is still its tick.
    """
    if now < occurrence.at - LEAD_MS:
        return Misfit(occurrence.slot_id, opens_at=occurrence.at - LEAD_MS)
    if now > occurrence.at + grace_ms:
        return Misfit(occurrence.slot_id, closed_at=occurrence.at + grace_ms)
    return None


def membership(plan: Plan, configured: Sequence[TargetId]) -> tuple[TargetId, ...]:
    """The targets that a new slot of the plan is frozen with: those it names, or all of them if it names none.

    A name that is not configured is left out.
    """
    if not plan.target_ids:
        return tuple(configured)
    return tuple(target for target in plan.target_ids if target in set(configured))
