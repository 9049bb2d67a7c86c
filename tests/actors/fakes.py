"""A slot store in memory that keeps leases and remembers what it was asked, and a tree in which the runner works.

async with staged(FakeSlots.of("a", "b"), execute) as stage:
    await stage.offer("a")
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import trio
from trio.testing import wait_all_tasks_blocked

from actors.kit import CancelOrigin, Child, Context, End, Ended, Mailbox, Patience, Supervisor
from actors.kit.testing import Probe
from actors.ports import Admitted, Busy, Cancel, Lost, Offer, Refused, Run, Settled, Verdict
from actors.runs import LiveRun, Runs
from actors.slot_runner import Parts, slot_runner

Meet = Callable[[str], Awaitable[None]]  # given the slot
Execute = Callable[[str, LiveRun], Awaitable[object]]
Actor = Callable[[Context], Awaitable[None]]
Wrapped = Callable[[Actor], Actor]

TIMEOUT_MS = 1_800_000
HEARTBEAT_MS = 30_000
DRAIN_WINDOW_MS = 30_000
LEASE_MS = 180_000


@dataclass(frozen=True)
class Settlement:
    """One call that wrote down how a run ended, or would have if its lease were still its own."""

    port: str  # finish, abandon
    slot: str
    end: End
    answer: Verdict | Lost


@dataclass
class FakeSlots:
    """Implements `SlotStore[str]`; the work of a slot is its id, and it is over once its run was rolled up.

    `admissions`: what each slot is answered unless its plan is busy. `begins`: what `begin` finds instead of work.
    `meet`: what happens, by port, before the call takes effect: a wait or an error.
    """

    admissions: dict[str, Admitted | Refused]
    begins: dict[str, Settled | Lost] = field(default_factory=dict)
    meet: dict[str, Meet] = field(default_factory=dict)
    leases: dict[str, str] = field(default_factory=dict)
    until: dict[str, int] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    busy: list[tuple[Busy, ...]] = field(default_factory=list)
    begun: list[tuple[str, float]] = field(default_factory=list)
    beats: list[tuple[str, float]] = field(default_factory=list)
    settlements: list[Settlement] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    @classmethod
    def of(
        cls, *slots: str, lane: str = "lane", capacity: int = 1, timeout_ms: int = TIMEOUT_MS, delay_ms: int = 0
    ) -> "FakeSlots":
        """A store of `slots`, each of a plan of its own, in one lane."""
        return cls({slot: Admitted(f"plan-of-{slot}", lane, capacity, timeout_ms, delay_ms) for slot in slots})

    def also(self, slot: str, *, plan: str, lane: str = "lane", capacity: int = 1) -> None:
        self.admissions[slot] = Admitted(plan, lane, capacity, TIMEOUT_MS)

    def ends_of(self, slot: str) -> list[tuple[str, End]]:
        """How the runs of the slot were written down."""
        return [(each.port, each.end) for each in self.settlements if each.slot == slot]

    async def admit(self, slot: str, busy: tuple[Busy, ...], now: int) -> Admitted | Refused:
        await self._met("admit", slot)
        self.busy.append(busy)
        answer = self.admissions.get(slot, Refused("unknown_slot"))
        if slot in self.over:
            return Refused("already_completed")
        if isinstance(answer, Admitted) and answer.plan in {each.plan for each in busy}:
            return Refused("scheduler_busy")
        if isinstance(answer, Admitted) and self._is_leased(slot, now):
            return Refused("already_running")
        return answer

    async def begin(self, slot: str, owner: str, now: int) -> str | Settled | Lost:
        await self._met("begin", slot)
        self.begun.append((slot, trio.current_time()))
        if slot in self.begins:
            return self.begins[slot]
        if slot in self.over or (self._is_leased(slot, now) and self.leases[slot] != owner):
            return Lost()
        self.leases[slot], self.until[slot] = owner, now + LEASE_MS
        self.runs.append(Run(slot, owner, now))
        return slot

    async def beat(self, slot: str, owner: str, now: int) -> bool:
        self.beats.append((slot, trio.current_time()))
        await self._met("beat", slot)
        if self.leases.get(slot) != owner:
            return False
        self.until[slot] = now + LEASE_MS
        return True

    async def finish(self, run: Run, end: End, now: int) -> Verdict | Lost:
        await self._met("finish", run.slot)
        return self._settled("finish", run, end)

    async def abandon(self, run: Run, end: End, now: int) -> Verdict | Lost:
        await self._met("abandon", run.slot)
        return self._settled("abandon", run, end)

    def _settled(self, port: str, run: Run, end: End) -> Verdict | Lost:
        answer = self._written(port, run, end)
        self.settlements.append(Settlement(port, run.slot, end, answer))
        return answer

    def _written(self, port: str, run: Run, end: End) -> Verdict | Lost:
        match end:
            case Ended(origin=CancelOrigin.LEASE_LOST):
                return Lost()
            case Ended(origin=CancelOrigin.CONSUMER):
                return Verdict(port)
        if self.leases.get(run.slot) != run.owner:
            return Lost()
        del self.leases[run.slot], self.until[run.slot]
        if not isinstance(end, Ended) or end.origin is CancelOrigin.TIMEOUT:
            self.over.add(run.slot)
        return Verdict(port)

    def _is_leased(self, slot: str, now: int) -> bool:
        return slot in self.leases and self.until.get(slot, now + 1) > now

    async def _met(self, port: str, slot: str) -> None:
        if port in self.meet:
            await self.meet[port](slot)


@dataclass
class Stage:
    """A tree of a foundation, the home of runs and the runner, at work."""

    slots: FakeSlots
    supervisor: Supervisor
    runs: Runs
    probe: Probe
    mailbox: Mailbox[Offer | Cancel]
    drains: list[float] = field(default_factory=list)
    stuck: list[tuple[list[str], float]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    """The foundation, once it has closed."""
    over: trio.Event = field(default_factory=trio.Event)

    async def offer(self, slot: str) -> Admitted | Refused:
        return await self.mailbox.ask(Offer(slot), 60_000)

    async def cancel(self, slot: str, origin: CancelOrigin, reason: str = "") -> bool:
        return await self.mailbox.ask(Cancel(slot, origin, reason), 60_000)

    async def finished(self, times: int = 1) -> None:
        """Until so many runs have been written down by themselves, and the last one has gone."""
        await self.probe.until("run.finished", times)
        await wait_all_tasks_blocked()

    async def stop(self) -> None:
        """The orderly stop, until the tree is gone or its supervisor can do no more."""
        self.supervisor.stop()
        await self.over.wait()


class Killer:
    """Put around an actor: `kill` lets its present life fail, as a bug would."""

    def __init__(self) -> None:
        self._killed = trio.Event()

    def __call__(self, actor: Actor) -> Actor:
        return partial(self._live, actor)

    def kill(self) -> None:
        self._killed.set()
        self._killed = trio.Event()

    async def _live(self, actor: Actor, ctx: Context) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._fail, self._killed)
            await actor(ctx)
            nursery.cancel_scope.cancel()

    async def _fail(self, killed: trio.Event) -> None:
        await killed.wait()
        raise RuntimeError("killed")


@asynccontextmanager
async def staged(
    slots: FakeSlots,
    execute: Execute,
    *,
    release: trio.Event | None = None,
    drain_window_ms: int = DRAIN_WINDOW_MS,
    home: Wrapped = lambda actor: actor,
    runner: Wrapped = lambda actor: actor,
) -> AsyncIterator[Stage]:
    """The tree inside the block, stopped in order at its end. `release` is set when it is stuck, to let wedges go.

    `home` and `runner` put something around the two actors.
    """
    owners = iter(range(10**6))
    runs, probe, mailbox = Runs(), Probe(), Mailbox[Offer | Cancel](64)
    parts = Parts(
        slots=slots,
        execute=execute,
        runs=runs,
        new_owner=lambda: f"owner-{next(owners)}",
        drain=lambda: stage.drains.append(trio.current_time()),
        heartbeat_ms=HEARTBEAT_MS,
        drain_window_ms=drain_window_ms,
    )

    async def foundation(ctx: Context) -> None:
        ctx.started()
        await ctx.wait_stopping()
        stage.ended.append("foundation")

    async def run_slots(ctx: Context) -> None:
        await slot_runner(ctx, mailbox, parts)

    def stuck(names: list[str], failed: bool) -> None:
        stage.stuck.append((names, trio.current_time()))
        stage.over.set()
        if release is not None:
            release.set()

    children = [
        Child("ledger", foundation, foundation=True),
        Child("runs", home(runs.actor)),
        Child("slot_runner", runner(run_slots)),
    ]
    supervisor = Supervisor(children, probe.hooks(), patience=Patience(), stuck=stuck)
    stage = Stage(slots, supervisor, runs, probe, mailbox)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_until_over, stage)
        await supervisor.up.wait()
        try:
            yield stage
        except BaseException:
            if release is not None:
                release.set()  # a test that fails shall end
            raise
        finally:
            supervisor.stop()


async def _until_over(stage: Stage) -> None:
    try:
        await stage.supervisor.run()
    finally:
        stage.over.set()
