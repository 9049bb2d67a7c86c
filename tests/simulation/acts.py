"""What the runs of a story do instead of searching Pixiv: some publish, some find nothing, some never come back."""

from contextlib import suppress
from random import Random
from typing import Final

import trio

from actors.kit import Mailbox
from actors.ports import Drain, Wake
from actors.runs import LiveRun
from pixivflow.delivery.intents import Order, promises
from pixivflow.errors import Conflict, LedgerLost
from pixivflow.ids import Owner, SlotId, WorkId
from pixivflow.ledger import works
from pixivflow.ledger.ledger import Ledger
from pixivflow.ledger.works import Place
from pixivflow.slots.model import BoundWork, Cell, Work, WorkType
from pixivflow.slots.ports import Recorded
from pixivflow.slots.target import Duplicate, NoCandidate, TargetFailed, TargetOutcome
from tests.fixtures.bringing import a_bringing
from tests.simulation.chronicle import Chronicle
from tests.simulation.story import TIMEOUT_MS

ACTS: Final = ("publish", "publish", "publish", "publish", "publish", "raise", "overrun", "stubborn", "empty")
UNRULY: Final = 3
"""From this run of a slot on it publishes, so that every story has an end."""

STAGES: Final = 2
POOL: Final = 3
"""So few works are there to be found for a target that its cells compete for them."""


class Player:
    """Plays the runs of one life. `at_work`: slots whose execution is under way, with the run that does it."""

    def __init__(self, chronicle: Chronicle) -> None:
        self._chronicle, self._clock, self._story = chronicle, chronicle.clock, chronicle.story
        self.at_work: dict[str, str] = {}
        self.pump: Mailbox[Wake | Drain] | None = None
        """Hears when rows may have become due."""

    async def __call__(self, work: Work, live: LiveRun, ledger: Ledger) -> None:
        assert live.run is not None
        slot, owner = work.slot.id, Owner(live.run.owner)
        nth = self._chronicle.begun[slot] = self._chronicle.begun.get(slot, 0) + 1
        chance = self._story.chance("act", slot, nth)
        act = self._story.acts.get(slot) or (chance.choice(ACTS) if nth <= UNRULY else "publish")
        self.at_work[slot] = owner
        try:
            await self._act(act, work, owner, ledger, chance)
        finally:
            if self.at_work.get(slot) == owner:
                del self.at_work[slot]

    async def _act(self, act: str, work: Work, owner: Owner, ledger: Ledger, chance: Random) -> None:
        slot = work.slot.id
        for cell in work.cells:
            await trio.sleep(chance.uniform(0, 20))
            if act in ("publish", "stubborn"):
                await self._publish(ledger, slot, owner, cell, chance)
            elif act == "empty":
                await self._tell(ledger, slot, owner, cell, chance.choice(NOTHING))
            elif act == "raise":
                raise RuntimeError("a fault of the run's own")
            else:
                await trio.sleep_forever()
        if act == "stubborn":
            with trio.CancelScope(shield=True):
                await trio.sleep(TIMEOUT_MS / 1000 + chance.choice([10, 100]))
                with suppress(LedgerLost):
                    await self._publish(ledger, slot, owner, work.cells[0], chance)

    async def _publish(self, ledger: Ledger, slot: SlotId, owner: Owner, cell: Cell, chance: Random) -> None:
        name = cell.work_id or WorkId(f"w{chance.randrange(POOL)}-{cell.target_id}")
        mine, at = BoundWork(work_id=name, work_type=WorkType.ILLUSTRATION), self._clock.now_ms
        place = Place(slot_id=slot, target_id=cell.target_id, owner=owner)
        order = Order(work_type=mine.work_type, work_id=name, slot_id=slot, target_id=cell.target_id)
        payload = {"context": {"slotId": slot, "targetId": cell.target_id, "pixivId": name}}
        made = promises(order, self._story.routes(cell.target_id), payload, self._chronicle.new_id)
        bringing = a_bringing(mine, made, resumed=cell.work_id is not None)
        with suppress(Conflict):
            if not (await ledger.write(works.bind, place, mine, at())).won:
                return
            await trio.sleep(chance.uniform(0, 20))
            recorded = await ledger.write(works.bring, place, bringing, at())
            if self.pump is not None:
                self.pump.tell(Wake())
            if recorded is Recorded.DUPLICATE and not bringing.resumed:
                await self._tell(ledger, slot, owner, cell, Duplicate(text="every route has it"))

    async def _tell(self, ledger: Ledger, slot: SlotId, owner: Owner, cell: Cell, outcome: TargetOutcome) -> None:
        place = Place(slot_id=slot, target_id=cell.target_id, owner=owner)
        with suppress(Conflict):
            await ledger.write(works.apply, place, outcome, STAGES, self._clock.now_ms())


NOTHING: Final[tuple[TargetOutcome, ...]] = (
    NoCandidate(text="nothing new"),
    TargetFailed(error="answered HTTP 429", retryable=True),
    TargetFailed(error="answered HTTP 404", retryable=False),
)
