"""The actors that work on rows alone, and what they share: the bodies of their places in the tree."""

import os
import random
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial

from actors.kit import Context, Mailbox, Patience
from actors.outbox_lane import Parts as PumpParts
from actors.outbox_pump import outbox_pump
from actors.ports import Admitted, Cancel, Drain, Offer, Refused, Tick, Wake
from actors.runs import LiveRun, Runs
from actors.slot_runner import Parts as RunnerParts
from actors.slot_runner import slot_runner
from actors.stall_sweeper import Parts as SweeperParts
from actors.stall_sweeper import stall_sweeper
from pixivflow.daemon.tree import Body
from pixivflow.delivery.backoff import RetryPolicy, policy_of
from pixivflow.delivery.deferral import Unready
from pixivflow.delivery.ports import Attempt
from pixivflow.ids import RouteName, ScheduleId, run_owner, worker_owner
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.stores import OutboxLedger, SlotLedger, SweepLedger
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.slots.model import Work
from pixivflow.slots.stall import Budgets
from pixivflow.times import Timings

OFFER_MS = 60_000
"""How long whoever offers a slot waits for the door: longer than a ledger that another process keeps busy."""


async def always_ready(_route: RouteName) -> Unready | None:
    """For receivers that cannot be asked."""
    return None


@dataclass(eq=False)
class Ground:
    """What the actors of one process share. Each of them reads what it needs when it starts.

    `open_ledger`: opens the ledger, once. `execute`: does the work of one run. `attempt`: one network attempt; every
    outcome of it is an ACK. `plans`, `governance`, `budgets`, `retries`: the settings that are in force, read at each
    decision; without `retries` those of `timings`.
    `ready`: why a route's receiver takes nothing now. `ended`: hears that a run or a slot has ended.
    `token`: eight hex digits, fresh each time. `chance`: uniform in [0, 1).
    """

    open_ledger: Callable[[], AbstractAsyncContextManager[Ledger]]
    execute: Callable[[Work, LiveRun, Ledger], Awaitable[object]]
    attempt: Attempt
    plans: Callable[[], Mapping[ScheduleId, Plan]]
    timings: Timings
    ready: Callable[[RouteName], Awaitable[Unready | None]] = always_ready
    ended: Callable[[], object] = lambda: None
    governance: Callable[[], Governance] = Governance
    budgets: Callable[[], Budgets] = Budgets
    retries: Callable[[], RetryPolicy] | None = None
    token: Callable[[], str] = lambda: secrets.token_hex(4)
    chance: Callable[[], float] = random.random
    runs: Runs = field(default_factory=Runs)
    runner: Mailbox[Offer | Cancel] = field(default_factory=lambda: Mailbox(64))  # offers of all plans at one instant
    sweeper: Mailbox[Tick] = field(default_factory=lambda: Mailbox(1))  # one hint says it all
    pump: Mailbox[Wake | Drain] = field(default_factory=lambda: Mailbox(8))  # a few drains; more hints add nothing
    opened: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """The open ledger. Errors: `RuntimeError` before the ledger is up or after it has closed."""
        if self.opened is None:
            raise RuntimeError("the ledger is not open")
        return self.opened

    async def offer(self, slot: str) -> Admitted | Refused:
        """Ask the one door of admission to run the slot.

        Errors: `NoAnswer`; the ledger's own.
        """
        return await self.runner.ask(Offer(slot), OFFER_MS)

    def outbox(self) -> OutboxLedger:
        """The rows that are to be sent, as the pump asks for them."""
        retries = self.retries or partial(policy_of, self.timings)
        return OutboxLedger(self.ledger, self.timings, self.chance, self.ended, retries)

    def bodies(self) -> dict[str, Body]:
        """What stands in these places."""
        return {
            "ledger": Body(self._ledger),
            "runs": Body(self.runs.actor),
            "slot_runner": Body(self._slot_runner, self.runner),
            "stall_sweeper": Body(self._stall_sweeper, self.sweeper),
            "outbox_pump": Body(self._outbox_pump, self.pump),
        }

    @property
    def patience(self) -> Patience:
        """How long a stop waits."""
        return Patience(grace_ms=self.timings.shutdown_grace_ms)

    async def _ledger(self, ctx: Context) -> None:
        async with self.open_ledger() as self.opened:
            ctx.started()
            await ctx.wait_stopping()

    async def _slot_runner(self, ctx: Context) -> None:
        ledger = self.ledger
        parts = RunnerParts(
            slots=SlotLedger(ledger, self.plans, self.governance, self.timings, self.ended),
            execute=lambda work, live: self.execute(work, live, ledger),
            runs=self.runs,
            new_owner=lambda: run_owner(os.getpid(), self.token()),
            drain=lambda: self.pump.tell(Drain(1)),
            heartbeat_ms=self.timings.heartbeat_ms,
            drain_window_ms=self.timings.drain_window_ms,
        )
        await slot_runner(ctx, self.runner, parts)

    async def _stall_sweeper(self, ctx: Context) -> None:
        parts = SweeperParts(
            slots=SweepLedger(self.ledger, self.budgets, lambda: run_owner(os.getpid(), self.token()), self.timings),
            offer=self.offer,
            runs=self.runs,
            tick_ms=self.timings.sweep_ms,
        )
        await stall_sweeper(ctx, self.sweeper, parts)

    async def _outbox_pump(self, ctx: Context) -> None:
        parts = PumpParts(
            outbox=self.outbox(),
            attempt=self.attempt,
            ready=lambda route: self.ready(RouteName(route)),
            owner=worker_owner(os.getpid(), self.token()),
            poll_ms=self.timings.outbox_poll_ms,
            renewal_ms=self.timings.row_renewal_ms,
        )
        await outbox_pump(ctx, self.pump, parts)
