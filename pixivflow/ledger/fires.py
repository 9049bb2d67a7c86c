"""The fires of this process's own clock, as rows: what was missed, and the slot that a fire opens.

A tick that its plan cannot take opens nothing: one run of a plan at a time, and a limit that was reached is a limit. A
tick that only has to wait for its lane has its row before it waits.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from actors.ports import Busy, Fire, Refused
from pixivflow.ids import ScheduleId, TargetId
from pixivflow.ledger import executions
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.slots import open_slot
from pixivflow.scheduling.admission import decide_tick, over_limit
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.occurrence import occurrence_of
from pixivflow.scheduling.ticks import owed
from pixivflow.slots.model import Slot
from pixivflow.slots.opening import slot_for


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
    """What the scheduler asks of the ledger. All four are read afresh for each question.

    `plans`, `targets`: as configured. `busy`: the runs of this process. `owing`: the plans of which a start looks for
    what was missed.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        plans: Callable[[], Mapping[ScheduleId, Plan]],
        targets: Callable[[], Sequence[TargetId]],
        busy: Callable[[], Collection[Busy]],
        owing: Callable[[], Iterable[Plan]],
    ) -> None:
        self._ledger, self._plans, self._targets, self._busy, self._owing = ledger, plans, targets, busy, owing

    async def missed(self, now: int) -> Sequence[Fire]:
        plans = tuple(self._owing())
        return owed(plans, await self._ledger.read(last_ends, [plan.id for plan in plans]), now)

    async def open(self, fire: Fire, now: int) -> str | Refused:
        opening = decide_tick(self._plans().get(ScheduleId(fire.plan)), self._targets(), self._busy())
        if isinstance(opening, Refused):
            return opening
        slot = slot_for(occurrence_of(opening.plan, fire.at), opening.targets, fire.source)
        return await self._ledger.write(tick, slot, opening.plan, self._ledger.lease_now(now))
