"""The whole sending side in one process: ledger, pump, readiness and attempts, over real lines."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trio

from actors.kit import Mailbox
from actors.kit.context import Hooks
from actors.kit.testing import Probe, VirtualClock, running
from actors.outbox_lane import Parts
from actors.outbox_pump import outbox_pump
from actors.ports import Drain, Wake
from pixivflow.config.model import Route
from pixivflow.delivery.artifact import Deliverable
from pixivflow.delivery.backoff import policy_of
from pixivflow.delivery.intents import promises
from pixivflow.delivery.payload import frozen
from pixivflow.ids import RouteName
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.stores import OutboxLedger
from pixivflow.providers import egress
from pixivflow.providers.addresses import anywhere
from pixivflow.providers.attempts import Attempts
from pixivflow.providers.files import size_on_disk
from pixivflow.providers.readiness import Readiness
from pixivflow.times import Timings
from tests.fixtures.deliveries import an_order
from tests.fixtures.works import a_work, an_occasion
from tests.ledger.promising import a_cell, brought, put, states, table

LATER_MS = 120_000
"""Past every lease and every first retry of these tests."""

TIMINGS = Timings(submission_ms=10_000, retry_base_ms=1_000)


@dataclass(eq=False)
class Post:
    """What the test may touch. `routes` are those in force."""

    ledger: Ledger
    clock: VirtualClock
    mailbox: Mailbox[Wake | Drain]
    folder: Path
    routes: dict[RouteName, Route] = field(default_factory=dict)
    _count: int = 0

    async def owe(self, *routes: str, work: Deliverable | None = None, cell: bool = True) -> None:
        """Promise illustration 1, or `work`, to these routes, for a cell of its own if `cell` says so."""
        chosen = work or a_work(str(self.page("1.png")))
        order = an_order("1") if cell else an_order(str(71 + self._count), slot=None, target=None)
        self._count += 1
        whole = frozen(chosen, an_occasion(), size_on_disk)
        made = promises(order, [RouteName(route) for route in routes], whole, self._new_id)
        if cell:
            await self.look(lambda db: a_cell(db, order))
        await self.ledger.write(brought, order, made, self.clock.now_ms())

    def page(self, name: str, content: bytes = b"...") -> Path:
        """A file of a work."""
        path = self.folder / name
        path.write_bytes(content)
        return path

    async def drain(self) -> int:
        """Attempt what is due; how many rows were taken up."""
        return (await self.mailbox.ask(Drain(50), 30_000)).rows

    async def later(self, by_ms: int = LATER_MS) -> int:
        """The same, some time later."""
        self.clock.step(by_ms)
        return await self.drain()

    async def look(self, fn: Any) -> Any:
        """What `fn` reads, or forces, of the ledger's tables, outside of any transaction of the ledger."""
        return fn(self.ledger._db)  # type: ignore[attr-defined]

    async def states(self) -> tuple[str, str, str]:
        """Of the one row, its promise and the cell."""
        found: tuple[str, str, str] = await self.look(states)
        return found

    async def rows(self, name: str) -> list[dict[str, Any]]:
        """All rows of a table."""
        found: list[dict[str, Any]] = await self.look(lambda db: table(db, name))
        return found

    async def row(self, name: str = "outbox") -> dict[str, Any]:
        """The one row of a table."""
        [found] = await self.rows(name)
        return found

    async def told(self) -> list[dict[str, Any]]:
        """All events about outbox rows, in their order."""
        return [row for row in await self.rows("delivery_events") if row["outbox_id"] is not None]

    async def events(self) -> list[str]:
        """Their names."""
        return [row["event"] for row in await self.told()]

    async def force(self, **columns: int) -> None:
        """Bring the rows into a state by decree."""
        await self.look(lambda db: put(db, "1", **columns))

    def _new_id(self) -> str:
        self._count += 1
        return f"id-{self._count}"


@asynccontextmanager
async def posting(
    folder: Path, *, at: VirtualClock | None = None, ledger_in: Path | None = None, **routes: Route
) -> AsyncIterator[Post]:
    """The sending side at work, for files in `folder`; on a ledger that outlives it where `ledger_in` names one."""
    probe, clock = Probe(), at or VirtualClock()
    way_out = egress.transport(allow=anywhere, keep_alive=False)
    async with open_inline(ledger_in or ":memory:", clock=clock, timings=TIMINGS) as ledger:
        post = Post(ledger, clock, Mailbox(8), folder, {RouteName(name): route for name, route in routes.items()})
        attempts = Attempts(routes=lambda: post.routes, way_out=way_out, now=clock.now_ms, environ={}, timings=TIMINGS)
        ready = Readiness(routes=lambda: post.routes, way_out=way_out, now=clock.now_ms, environ={}, timings=TIMINGS)
        parts = Parts(
            outbox=OutboxLedger(ledger, TIMINGS, lambda: 0.0, retries=lambda: policy_of(TIMINGS)),
            attempt=attempts,
            ready=lambda route: ready(RouteName(route)),
            owner="worker-1-00000001",
            poll_ms=TIMINGS.outbox_poll_ms,
            renewal_ms=TIMINGS.row_renewal_ms,
        )
        hooks = Hooks(clock=clock, note=probe.note, point=probe.point)
        async with running(lambda ctx: outbox_pump(ctx, post.mailbox, parts), hooks):
            with trio.fail_after(20):
                yield post
    await way_out.aclose()
    assert [name for name, _ in probe.notes if name.endswith("failed")] == []
