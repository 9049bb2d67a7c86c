"""The fires of this process's own clock: which are due, which comes next, and which a start still owes.

Only plans that may start work and have a cron line fire by themselves. However long nobody looked, of each plan only
the latest fire is left.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from actors.ports import Fire
from pixivflow.ids import ScheduleId
from pixivflow.scheduling.catchup import missed
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.occurrence import clock_of

CATCH_UP: Final = "catchup"
"""The source of a fire that was missed."""


def fires_by_itself(plan: Plan) -> bool:
    """Whether a clock may start the plan."""
    return plan.is_armed and plan.cron.strip() != ""


def between(plans: Iterable[Plan], since: int, now: int) -> list[Fire]:
    """The latest fire of each plan after `since`, up to and including `now`."""
    latest = {plan.id: clock_of(plan).latest(now) for plan in plans if fires_by_itself(plan)}
    return [Fire(name, at) for name, at in latest.items() if at is not None and at > since]


def next_at(plans: Iterable[Plan], now: int) -> int | None:
    """The next fire (epoch ms) of any plan after `now`, None when there is none."""
    coming = (clock_of(plan).next_after(now) for plan in plans if fires_by_itself(plan))
    return min((at for at in coming if at is not None), default=None)


def owed(plans: Iterable[Plan], last_ends: Mapping[ScheduleId, int | None], now: int) -> list[Fire]:
    """What catch-up owes at a start. `last_ends`: of each plan, as `catchup.missed` asks for it."""
    fires = {plan.id: missed(plan, last_ends.get(plan.id), now) for plan in plans if fires_by_itself(plan)}
    return [Fire(name, at, CATCH_UP) for name, at in fires.items() if at is not None]


@dataclass(frozen=True, slots=True)
class PlanTicks:
    """What the scheduler asks of the plans that fire by themselves here; they are read afresh for each question."""

    plans: Callable[[], Iterable[Plan]]

    def between(self, since: int, now: int) -> list[Fire]:
        """See `between`."""
        return between(self.plans(), since, now)

    def next_at(self, now: int) -> int | None:
        """See `next_at`."""
        return next_at(self.plans(), now)
