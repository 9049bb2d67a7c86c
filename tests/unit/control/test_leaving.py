"""A trigger around an idle exit: nobody is told "taken" by a process that goes without doing it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.idle_lifecycle import Parts, idle_lifecycle
from actors.kit import Context, Mailbox
from actors.kit.testing import running
from actors.ports import LookAgain, Owed
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.owed import OwedLedger
from tests.edges.control.doors import Behind, behind
from tests.fixtures.ledgers import Gate
from tests.fixtures.slots import SLOT
from tests.unit.control.asking import Told, trigger

POLL_MS = 15_000


@dataclass
class Leaving:
    """A process that leaves on its first idle poll, with a word said after its first look and before its last one."""

    process: Behind
    nursery: trio.Nursery
    gate: Gate = field(default_factory=Gate)
    looks: int = 0
    left: list[str] = field(default_factory=list)
    answers: list[Told] = field(default_factory=list)

    async def ask(self) -> None:
        self.answers.append(await trigger(self.process))

    async def hold_the_ledger(self) -> None:
        """From here on everything that is written queues up."""
        self.nursery.start_soon(self.process.ledger.write, self.gate.hold)
        await self.gate.entered()

    async def owed(self) -> Owed:
        self.looks += 1
        found = await OwedLedger(self.process.ledger, lambda: ()).last_word()
        await self.between(self.looks)
        return found

    async def between(self, look: int) -> None:
        """After the look of this number."""

    def door(self, is_open: bool) -> None:
        self.process.is_leaving = not is_open

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[Context]:
        lifetime_ms = 10_000 * POLL_MS
        parts = Parts(self.owed, self.door, self.left.append, POLL_MS, 0, lifetime_ms)

        async def live(ctx: Context) -> None:
            await idle_lifecycle(ctx, Mailbox[LookAgain](1), parts)

        async with running(live, self.process.hooks) as ctx:
            yield ctx


class LateCaller(Leaving):
    """Somebody calls while the last look waits for the ledger."""

    async def owed(self) -> Owed:
        if self.process.is_leaving and not self.answers:
            await self.hold_the_ledger()
            self.nursery.start_soon(self.ask)
            self.nursery.start_soon(self.let_go)
        return await super().owed()

    async def let_go(self) -> None:
        await wait_all_tasks_blocked()
        self.gate.let_go()


class EarlyCaller(Leaving):
    """Somebody calls before the door is closed; the slot is still on its way to the disk when it is."""

    async def between(self, look: int) -> None:
        if look == 1:
            await self.hold_the_ledger()
            self.nursery.start_soon(self.ask)
            await wait_all_tasks_blocked()
            self.nursery.start_soon(self.let_go)

    async def let_go(self) -> None:
        while not self.process.is_leaving:
            await trio.lowlevel.checkpoint()
        await wait_all_tasks_blocked()
        self.gate.let_go()


def complete(db: Db) -> None:
    db.execute("UPDATE schedule_slots SET status = 'success'")


@pytest.mark.case("slots", 111)
async def test_a_trigger_after_the_decision_is_sent_away_and_one_before_it_calls_the_exit_off(
    ledger: Ledger, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        late = LateCaller(behind(ledger), nursery)
        async with late.at_work():
            await trio.sleep(16)
        [answer] = late.answers
        assert (answer.status, answer.body) == (503, {"status": "rejected", "note": "stopping"})
        assert answer.headers == {"retry-after": "5"}
        assert await late.process.slots() == []
        assert late.left == ["idle"]

        early = EarlyCaller(behind(ledger), nursery)
        async with early.at_work():
            await trio.sleep(20)
            [answer] = early.answers
            assert (answer.status, answer.body["status"]) == (202, "accepted")
            assert early.process.offered == [SLOT]
            assert (early.left, early.process.is_leaving) == ([], False)
            await ledger.write(complete)
            await trio.sleep(20)
        assert early.left == ["idle"]
