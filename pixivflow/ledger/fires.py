"""The fires of this process's own clock: which are due, which were missed, and the slot that each opens.

A tick that its plan cannot take opens nothing: one run of a plan at a time, and a limit that was reached is a limit. A
tick that only has to wait for its lane has its row before it waits.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from actors.ports import Busy, Fire, Refused
from pixivflow.ids import ScheduleId, TargetId
from pixivflow.ledger import executions
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.slots import open_slot
from pixivflow.scheduling.admission import over_limit
from pixivflow.scheduling.catchup import missed
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.occurrence import clock_of, membership, occurrence_of
from pixivflow.slots.model import Slot
from pixivflow.slots.opening import slot_for

CATCH_UP = "catchup"
"""The source of a fire that was missed."""


def last_ends(db: Db, plans: Collection[ScheduleId]) -> dict[ScheduleId, int | None]:
    """When the newest run of each plan that counts ended, epoch ms; None before the first."""
    return {plan: executions.last_end(db, plan) for plan in plans}


def tick(db: Db, slot: Slot, plan: Plan, now: int) -> str | Refused:
    """The slot of a fire, open, unless a limit of its plan is reached. `now`: of the ledger's lease clock."""
    if reason := over_limit(plan, executions.facts(db, plan), now):
        return Refused(reason)
    open_slot(db, slot, now)
    return slot.id


class FireLedger:
    """What the scheduler asks. All four are read afresh for each question.

    `plans`, `targets`: as configured. `busy`: the runs of this process. `ticking`: whether plans fire by themselves
    here, and not by a clock outside. `catching_up`: whether a start looks for what was missed.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        plans: Callable[[], Mapping[ScheduleId, Plan]],
        targets: Callable[[], Sequence[TargetId]],
        busy: Callable[[], Collection[Busy]],
        ticking: Callable[[], bool],
        catching_up: Callable[[], bool],
    ) -> None:
        self._ledger, self._plans, self._targets, self._busy = ledger, plans, targets, busy
        self._ticking, self._catching_up = ticking, catching_up

    async def missed(self, now: int) -> Sequence[Fire]:
        plans = {plan.id: plan for plan in self._armed()} if self._catching_up() else {}
        ends = await self._ledger.read(last_ends, list(plans))
        fires = {name: missed(plan, ends[name], now) for name, plan in plans.items()}
        return [Fire(name, at, CATCH_UP) for name, at in fires.items() if at is not None]

    def between(self, since: int, now: int) -> Sequence[Fire]:
        latest = {plan.id: clock_of(plan).latest(now) for plan in self._armed()}
        return [Fire(name, at) for name, at in latest.items() if at is not None and at > since]

    def next_at(self, now: int) -> int | None:
        coming = (clock_of(plan).next_after(now) for plan in self._armed())
        return min((at for at in coming if at is not None), default=None)

    async def open(self, fire: Fire, now: int) -> str | Refused:
        plan = self._plans().get(ScheduleId(fire.plan))
        if plan is None or not _is_armed(plan):
            return Refused("scheduler_not_instantiated")
        if any(run.plan == plan.id for run in self._busy()):
            return Refused("scheduler_busy")
        targets = membership(plan, self._targets())
        if not targets:
            return Refused("no_targets")
        slot = slot_for(occurrence_of(plan, fire.at), targets, fire.source)
        return await self._ledger.write(tick, slot, plan, self._ledger.lease_now(now))

    def _armed(self) -> Iterator[Plan]:
        return (plan for plan in self._plans().values() if _is_armed(plan)) if self._ticking() else iter(())


def _is_armed(plan: Plan) -> bool:
    return plan.enabled and plan.armed_at is not None and plan.cron.strip() != ""
