"""An outbox in memory that keeps leases, and a tree in which the pump works it.

async with pumping(outbox, sender) as pump:
    outbox.put("a", route="A")
    await pump.wake()
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import trio

from actors.kit import Child, Context, Mailbox
from actors.outbox_lane import Parts
from actors.outbox_pump import outbox_pump
from actors.ports import Drain, Drained, Due, Wake
from tests.actors.trees import Log, Tree, growing, steady

START = 1_768_446_000_000  # where the virtual wall clock begins
POLL_MS, LEASE_MS, RENEWAL_MS = 10_000, 120_000, 40_000

Meet = Callable[[str], Awaitable[None]]  # given the route, or the row


@dataclass
class FakeRow:
    id: str
    route: str
    due_at: int
    status: str = "pending"
    attempts: int = 0
    owner: str | None = None
    lease_until: int = 0

    def is_due(self, now: int) -> bool:
        return (self.status == "pending" and self.due_at <= now) or self.is_forsaken(now)

    def is_forsaken(self, now: int) -> bool:
        return self.status == "processing" and self.lease_until <= now

    def since(self) -> int:
        return self.lease_until if self.status == "processing" else self.due_at

    def next_at(self) -> int | None:
        return {"pending": self.due_at, "processing": self.lease_until}.get(self.status)


@dataclass
class FakeOutbox:
    """Implements `OutboxStore[FakeRow, str, str]`. An ACK is `done`, `dead`, or the ms after which to try again.

    `meet`: what happens, by port, before the call takes effect. `unwanted`: rows whose work was cancelled.
    `finished`: slots that nobody has rolled up.
    """

    rows: dict[str, FakeRow] = field(default_factory=dict)
    meet: dict[str, Meet] = field(default_factory=dict)
    unwanted: set[str] = field(default_factory=set)
    finished: list[str] = field(default_factory=list)
    calls: list[tuple[str, tuple[str, ...], float]] = field(default_factory=list)

    def put(self, *ids: str, route: str = "A", in_ms: int = 0) -> None:
        """Rows of one route, due after a while, oldest first."""
        now = START + round(trio.current_time() * 1000)
        for each in ids:
            self.rows[each] = FakeRow(each, route, now + in_ms)

    def status(self, *ids: str) -> list[str]:
        return [self.rows[each].status for each in ids]

    def called(self, port: str) -> list[tuple[tuple[str, ...], float]]:
        """The arguments and seconds of every call of the port."""
        return [(what, at) for name, what, at in self.calls if name == port]

    async def missed(self, now: int) -> Sequence[str]:
        await self._met("missed")
        return list(self.finished)

    async def roll_up(self, slot: str, now: int) -> None:
        await self._met("roll_up", slot)
        if slot in self.finished:
            self.finished.remove(slot)

    async def due(self, now: int) -> Due:
        await self._met("due")
        later = [at for row in self.rows.values() if (at := row.next_at()) is not None and at > now]
        waiting = sorted((row for row in self.rows.values() if row.is_due(now)), key=FakeRow.since)
        routes = dict.fromkeys(row.route for row in waiting)
        return Due(tuple(routes), min(later, default=None))

    async def claim(self, route: str, n: int, owner: str, now: int) -> Sequence[FakeRow]:
        await self._met("claim", route)
        due = [row for row in self.rows.values() if row.route == route and row.is_due(now)]
        rows = sorted(due, key=lambda row: row.due_at)[:n]
        for row in rows:
            row.status, row.owner, row.lease_until = "processing", owner, now + LEASE_MS
        return [replace(row) for row in rows]

    async def defer(self, route: str, n: int, why: str, now: int) -> None:
        await self._met("defer", route, why)

    async def cleared(self, row: FakeRow, owner: str, now: int) -> bool:
        await self._met("cleared", row.id)
        if not self._is_held(row.id, owner):
            return False
        if row.id in self.unwanted:
            self.rows[row.id].status = "dead"
            return False
        self.rows[row.id].lease_until = now + LEASE_MS
        return True

    async def renew(self, ids: Sequence[str], owner: str, now: int) -> None:
        await self._met("renew", *ids)
        for each in ids:
            if self._is_held(each, owner):
                self.rows[each].lease_until = now + LEASE_MS

    async def record(self, row: FakeRow, ack: str, owner: str, now: int) -> None:
        await self._met("record", row.id)
        if self._is_held(row.id, owner):
            held = self.rows[row.id]
            held.status = "pending" if ack.isdecimal() else ack
            held.due_at = now + int(ack) if ack.isdecimal() else held.due_at
            held.attempts += ack != "done"

    async def release(self, ids: Sequence[str], owner: str, now: int) -> None:
        await self._met("release", *ids)
        for each in ids:
            if self._is_held(each, owner):
                self.rows[each].status, self.rows[each].due_at = "pending", now

    def _is_held(self, row: str, owner: str) -> bool:
        found = self.rows.get(row)
        return found is not None and found.status == "processing" and found.owner == owner

    async def _met(self, port: str, *what: str) -> None:
        self.calls.append((port, what, trio.current_time()))
        if port in self.meet:
            await self.meet[port](what[0] if what else "")


@dataclass
class Sender:
    """The other side: how long each row takes and what is answered; `done` at once where nothing is said.

    An answer that is an exception is raised; several are given one after the other. `unready`: why a route takes
    nothing now.
    """

    takes_s: dict[str, float] = field(default_factory=dict)
    answers: dict[str, list[str | Exception]] = field(default_factory=dict)
    unready: dict[str, str] = field(default_factory=dict)
    sent: list[tuple[str, float]] = field(default_factory=list)

    async def ready(self, route: str) -> str | None:
        await trio.lowlevel.checkpoint()
        return self.unready.get(route)

    async def __call__(self, row: FakeRow) -> str:
        self.sent.append((row.id, trio.current_time()))
        await trio.sleep(self.takes_s.get(row.id, 0))
        answers = self.answers.get(row.id, [])
        answer = answers.pop(0) if answers else "done"
        if isinstance(answer, Exception):
            raise answer
        return answer

    def at(self, row: str) -> list[float]:
        return [at for sent, at in self.sent if sent == row]


@dataclass
class Pump:
    tree: Tree
    mailbox: Mailbox[Wake | Drain]

    def wake(self) -> None:
        self.mailbox.tell(Wake())

    async def drain(self, rounds: int = 50, within_ms: float = 60_000) -> int:
        drained: Drained = await self.mailbox.ask(Drain(rounds), within_ms)
        return drained.rows


@asynccontextmanager
async def pumping(
    outbox: FakeOutbox, sender: Sender, *, owner: str = "me", mailbox: Mailbox[Wake | Drain] | None = None
) -> AsyncIterator[Pump]:
    """The pump at work on a foundation, stopped in order at the end of the block."""
    box = Mailbox[Wake | Drain](8) if mailbox is None else mailbox
    parts = Parts(outbox, sender, sender.ready, owner, poll_ms=POLL_MS, renewal_ms=RENEWAL_MS)

    async def actor(ctx: Context) -> None:
        await outbox_pump(ctx, box, parts)

    ground = replace(steady(Log(), "ground"), foundation=True)
    async with growing(ground, Child("outbox_pump", actor)) as tree:
        await tree.supervisor.up.wait()
        yield Pump(tree, box)
