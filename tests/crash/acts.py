"""What the daemon's executions do instead of searching Pixiv, and what each writes down about itself.

A work is chosen anew, by chance, whenever a cell has none: a run that went on with anything but the bound work of its
cell would show on the wire.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from uuid import uuid4

import trio

from actors.kit import Clock
from actors.runs import LiveRun
from pixivflow.delivery.intents import Order, promises
from pixivflow.errors import Conflict
from pixivflow.ids import Owner, RouteName, SlotId, WorkId
from pixivflow.ledger import works
from pixivflow.ledger.ledger import Ledger
from pixivflow.ledger.works import Place
from pixivflow.slots.model import BoundWork, Cell, Work, WorkType
from pixivflow.slots.target import NoCandidate
from tests.crash.journal import Journal
from tests.crash.plans import PlayedPlan
from tests.fixtures.bringing import a_bringing

GATE_STEP_S = 0.02
STUBBORN_S = 1.2
"""Longer than the plan's time and the drain window of these tests together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """Plays the act of each plan. `hint`: called when rows may have become due."""

    plans: Mapping[str, PlayedPlan]
    journal: Journal
    gate: Path
    clock: Clock
    hint: Callable[[], object]

    async def __call__(self, work: Work, live: LiveRun, ledger: Ledger) -> None:
        """One execution, its beginning and its end written down."""
        assert live.run is not None
        plan, run = self.plans[work.schedule_id], live.run
        told = {"slot": run.slot, "plan": plan.id, "act": plan.act, "pid": os.getpid(), "wall_ms": run.started_at}
        self.journal.say("began", run=run.owner, **told)
        how = "raised"
        try:
            await self._act(plan, work, Owner(run.owner), ledger)
            how = "returned"
        except trio.Cancelled:
            how = "cancelled"
            raise
        finally:
            self.journal.say("ended", run=run.owner, how=how)

    async def _act(self, plan: PlayedPlan, work: Work, owner: Owner, ledger: Ledger) -> None:
        match plan.act:
            case "overrun":
                await trio.sleep_forever()
            case "stubborn":
                with trio.CancelScope(shield=True):
                    await trio.sleep(STUBBORN_S)
                    await self._publish_all(plan, work, owner, ledger)
            case "raise":
                raise RuntimeError("a fault of the run's own")
            case "wait":
                while not self.gate.exists():  # noqa: ASYNC110 - a file has no event
                    await trio.sleep(GATE_STEP_S)
        await self._publish_all(plan, work, owner, ledger)

    async def _publish_all(self, plan: PlayedPlan, work: Work, owner: Owner, ledger: Ledger) -> None:
        for cell in work.cells:
            await trio.sleep(plan.pause_ms / 1000)
            if plan.act == "empty":
                await self._apply_nothing(ledger, work.slot.id, owner, cell)
            else:
                await self._publish(ledger, plan, work.slot.id, owner, cell)

    async def _apply_nothing(self, ledger: Ledger, slot: SlotId, owner: Owner, cell: Cell) -> None:
        place, nothing = Place(slot_id=slot, target_id=cell.target_id, owner=owner), NoCandidate(text="nothing new")
        with suppress(Conflict):
            await ledger.write(works.apply, place, nothing, 1, self.clock.now_ms())

    async def _publish(self, ledger: Ledger, plan: PlayedPlan, slot: SlotId, owner: Owner, cell: Cell) -> None:
        mine = BoundWork(work_id=cell.work_id or WorkId(f"w{token_hex(6)}"), work_type=WorkType.ILLUSTRATION)
        place = Place(slot_id=slot, target_id=cell.target_id, owner=owner)
        order = Order(work_type=mine.work_type, work_id=mine.work_id, slot_id=slot, target_id=cell.target_id)
        routes = [RouteName(route) for route in plan.targets[cell.target_id]]
        payload = {"context": {"slotId": slot, "targetId": cell.target_id, "pixivId": mine.work_id}}
        made = promises(order, routes, payload, lambda: str(uuid4()))
        bringing = a_bringing(mine, made, resumed=cell.work_id is not None)
        with suppress(Conflict):  # the slot is somebody else's
            if (await ledger.write(works.bind, place, mine, self.clock.now_ms())).won:
                await trio.sleep(plan.pause_ms / 1000)
                await ledger.write(works.bring, place, bringing, self.clock.now_ms())
                self.hint()
