"""Those who want something of a life: clients, consumers, an operator, somebody who sets the clock."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from actors.kit import CancelOrigin, NoAnswer
from actors.ports import Cancel
from pixivflow.daemon.ground import Ground
from pixivflow.errors import Conflict, Unavailable
from pixivflow.ids import OutboxId, SlotId
from pixivflow.ledger import orders
from pixivflow.ledger.cancels import Cancelled, cancel_slot
from pixivflow.ledger.connection import Db
from pixivflow.ledger.slots import open_slot
from pixivflow.slots.model import Slot
from tests.simulation.chronicle import Chronicle
from tests.simulation.story import BUSY_UNTIL_S, DAY_S, Wish

LONGEST_S: Final = 3 * DAY_S
LOOK_S: Final = 120.0

OWED: Final = """
SELECT (SELECT COUNT(*) FROM schedule_slots WHERE status IN ('pending', 'running') OR reported_at IS NULL)
     + (SELECT COUNT(*) FROM outbox WHERE status IN ('pending', 'processing', 'retry_wait'))
"""
DEAD: Final = "SELECT id FROM outbox WHERE status IN ('dead', 'cancelled') ORDER BY rowid"


def owed(db: Db) -> int:
    """How much has not come to its end."""
    return int(db.execute(OWED).fetchall()[0][0])


def dead_rows(db: Db) -> list[OutboxId]:
    """The rows that nobody sends any more."""
    return [OutboxId(row[0]) for row in db.execute(DEAD).fetchall()]


async def people(chronicle: Chronicle, ground: Ground, up: trio.Event, stop: Callable[[], None]) -> None:
    """Let everybody do what he has not done yet, and stop the daemon when nothing is owed any more."""
    await up.wait()
    each = _People(chronicle, ground)
    story = chronicle.story
    async with trio.open_nursery() as nursery:
        for wish in story.wishes:
            nursery.start_soon(_unless_refused, each.wish, wish)
        for at_s, slot in story.cancels:
            nursery.start_soon(_unless_refused, each.cancel, at_s, slot)
        for at_s, by_ms in story.clock_steps:
            nursery.start_soon(each.set_clock, at_s, by_ms)
        for at_s in story.orders:
            nursery.start_soon(_unless_refused, each.rearm, at_s)
        await each.until_nothing_is_owed()
        stop()


async def _unless_refused(wish: Callable[..., Awaitable[None]], *what: object) -> None:
    """People are told when the ledger has no time, or nobody answers, and let it be."""
    with contextlib.suppress(NoAnswer, Unavailable):
        await wish(*what)


class _People:
    def __init__(self, chronicle: Chronicle, ground: Ground) -> None:
        self._chronicle, self._ground, self._clock = chronicle, ground, chronicle.clock

    async def _once(self, at_s: float, what: str) -> bool:
        """Wait for an instant of the story; False when `what` was done in an earlier life."""
        await trio.sleep_until(at_s)
        if what in self._chronicle.done:
            return False
        self._chronicle.done.add(what)
        return True

    async def wish(self, wish: Wish) -> None:
        """Ask for a slot. Whoever never heard the answer asks again in the next life, or lets it be."""
        first = await self._once(wish.at_s, f"wish {wish.slot}")
        if wish.slot in self._chronicle.accepted or not (first or wish.again):
            return
        slot = Slot(
            id=wish.slot,
            schedule_id=wish.plan,
            occurrence_at=self._clock.now_ms(),
            target_ids=wish.targets,
            manual_request_id=wish.key,
            trigger_source="manual" if wish.key else "http",
        )
        await self._ground.ledger.write(open_slot, slot, self._clock.now_ms())
        self._chronicle.accepted.add(wish.slot)
        if wish.unoffered:
            return
        self._chronicle.say(0, "offered", slot=wish.slot, answer=await self._ground.offer(wish.slot))

    async def cancel(self, at_s: float, slot: SlotId) -> None:
        """The verdict is in the ledger before the run is told; without one there is nothing to tell."""
        if await self._once(at_s, f"cancel {slot}"):
            self._chronicle.cancelled.add(slot)
            verdict = await self._ground.ledger.write(cancel_slot, slot, self._clock.now_ms())
            if verdict is Cancelled.CANCELLED:
                await self._ground.runner.ask(Cancel(slot, CancelOrigin.CONSUMER, "not wanted"), 60_000)

    async def set_clock(self, at_s: float, by_ms: int) -> None:
        """Somebody sets the wall clock."""
        if await self._once(at_s, f"clock {at_s}"):
            self._chronicle.say(0, "clock.set", by_ms=by_ms)
            self._chronicle.clock_set_s.append(at_s)
            self._clock.step(by_ms)

    async def rearm(self, at_s: float) -> None:
        """An operator gives everything that is dead another chance."""
        if await self._once(at_s, f"rearm {at_s}"):
            for row in await self._ground.ledger.read(dead_rows):
                with contextlib.suppress(Conflict):
                    await self._ground.ledger.write(orders.revive, row, self._clock.now_ms(), source="story")
                    self._chronicle.rearmed.add(row)

    async def until_nothing_is_owed(self) -> None:
        """Wait until all that people wanted is done and has come to its end."""
        story = self._chronicle.story
        last_s = max([*(wish.at_s for wish in story.wishes), *story.orders, BUSY_UNTIL_S if story.busy else 0.0])
        while trio.current_time() < LONGEST_S:
            await trio.sleep(LOOK_S)
            now_s = trio.current_time()
            if now_s > last_s + LOOK_S and not await self._ground.ledger.read(owed):
                return
        self._chronicle.faults.append("it never came to rest")
