"""The actors' ports, implemented: each call is one transaction, judged by the lease clock where leases matter.

What the ledger cannot do now is told apart here: a heartbeat or a renewal that finds it busy is no answer and no error,
and while the disk is known to be full nothing new is begun.
"""

from collections.abc import Callable, Mapping, Sequence

from actors.kit import End
from actors.ports import Admitted, Busy, Course, Due, Lost, Refused, Run, Settled, Swept, Unfinished, Verdict
from pixivflow.delivery.backoff import RetryPolicy
from pixivflow.delivery.deferral import Unready
from pixivflow.delivery.model import Ack, OutboxRow
from pixivflow.errors import Unavailable
from pixivflow.ids import OutboxId, Owner, RouteName, ScheduleId, SlotId
from pixivflow.ledger import deferrals, leases, outbox, recording, runs, sweeps
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.sweeps import Stalled
from pixivflow.ledger.unowned import START, Place
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.slots.model import Work
from pixivflow.slots.recovery import about
from pixivflow.slots.stall import Budgets
from pixivflow.times import Timings, iso

RECOVERY_BATCH = 100
"""How many slots that need something one tick takes up; the others keep until the next."""

STALL_BATCH = 100
"""How many slots one rule of the stall sweep ends in one tick."""


class SlotLedger:
    """What slot_runner asks. `plans` and `governance` are read afresh for each question."""

    def __init__(
        self,
        ledger: Ledger,
        plans: Callable[[], Mapping[ScheduleId, Plan]],
        governance: Callable[[], Governance],
        timings: Timings,
        ended: Callable[[], object] = lambda: None,
    ) -> None:
        self._ledger, self._plans, self._governance, self._timings = ledger, plans, governance, timings
        self._ended = ended

    async def admit(self, slot: str, busy: tuple[Busy, ...], now: int) -> Admitted | Refused:
        if obstacle := self._ledger.obstacle(now):
            return Refused(obstacle)
        at = self._ledger.lease_now(now)
        return await self._ledger.write(runs.admit, SlotId(slot), self._plans(), busy, self._governance(), at)

    async def begin(self, slot: str, owner: str, now: int) -> Work | Settled | Lost:
        at, ttl_ms = self._ledger.lease_now(now), self._timings.slot_lease_ms
        return await self._ledger.write(runs.begin, SlotId(slot), Owner(owner), self._plans(), at, ttl_ms)

    async def beat(self, slot: str, owner: str, now: int) -> bool:
        at, ttl_ms = self._ledger.lease_now(now), self._timings.slot_lease_ms
        try:
            return await self._ledger.write(leases.beat, SlotId(slot), Owner(owner), at, ttl_ms)
        except Unavailable:
            return True

    async def finish(self, run: Run, end: End, now: int) -> Verdict | Lost:
        verdict = await self._ledger.write(runs.finish, run, end, now)
        self._ended()
        return verdict

    async def abandon(self, run: Run, end: End, now: int) -> Verdict | Lost:
        verdict = await self._ledger.write(runs.abandon, run, end, now)
        self._ended()
        return verdict


class SweepLedger:
    """What stall_sweeper asks. `new_owner`: for the short lease of a settlement in passing."""

    def __init__(
        self, ledger: Ledger, budgets: Callable[[], Budgets], new_owner: Callable[[], Owner], timings: Timings
    ) -> None:
        self._ledger, self._budgets, self._new_owner, self._timings = ledger, budgets, new_owner, timings

    async def unfinished(self, now: int, not_in: frozenset[str]) -> Sequence[Unfinished]:
        at = self._ledger.lease_now(now)
        after: Place | None = START
        found, needy = list[Unfinished](), 0
        while after is not None and needy < RECOVERY_BATCH:
            page, after = await self._ledger.read(sweeps.courses, at, not_in, after)
            found += page
            needy += sum(each.course is not Course.WAIT for each in page)
        if self._ledger.obstacle(now):  # who offered them would be refused, once a tick for each
            return [each for each in found if each.course is not Course.DISPATCH]
        return found

    async def settle_only(self, slot: str, now: int) -> None:
        at, ttl_ms = self._ledger.lease_now(now), self._timings.slot_lease_ms
        await self._ledger.write(sweeps.settle_only, SlotId(slot), self._new_owner(), at, ttl_ms)

    async def stalled(self, now: int, not_in: frozenset[str]) -> Sequence[str]:
        if self._ledger.obstacle(now):
            return []  # nothing could have been begun, so nothing has waited too long
        return [slot for rule in sweeps.STALE for slot in await self._beyond(rule, now, not_in)]

    async def _beyond(self, rule: str, now: int, not_in: frozenset[str]) -> Sequence[SlotId]:
        at = self._ledger.lease_now(now)
        after: Place | None = START
        found = list[SlotId]()
        while after is not None and len(found) < STALL_BATCH:
            page = await self._ledger.read(sweeps.stalled, rule, at, self._budgets(), not_in, after)
            found += [slot.id for slot in page.slots]
            after = page.end
        return found[:STALL_BATCH]

    async def end_stalled(self, slot: str, now: int) -> Swept | None:
        at = self._ledger.lease_now(now)
        ended = await self._ledger.write(sweeps.end_stalled, SlotId(slot), self._budgets(), at)
        return None if ended is None else swept(ended)


def swept(ended: Stalled) -> Swept:
    """What the sweep tells of a slot that it ended."""
    since = None if ended.stalled_since is None else iso(ended.stalled_since)
    told = {"cells_failed": ended.cells_failed, "stalled_since": since}
    return Swept(ended.reason or "rolled_up", {**about(ended.slot, ended.status), **told})


class OutboxLedger:
    """What outbox_pump asks.

    `chance`: uniform in [0, 1), spreads the retries. `ended`: hears that a slot has ended. `retries`: read at each
    failure.
    """

    def __init__(
        self,
        ledger: Ledger,
        timings: Timings,
        chance: Callable[[], float],
        ended: Callable[[], object] = lambda: None,
        retries: Callable[[], RetryPolicy] = RetryPolicy,
    ) -> None:
        self._ended, self._retries = ended, retries
        self._ledger, self._timings, self._chance = ledger, timings, chance

    async def missed(self, now: int) -> Sequence[str]:
        return await self._ledger.read(sweeps.missed_rollups, self._ledger.lease_now(now))

    async def roll_up(self, slot: str, now: int) -> None:
        status = await self._ledger.write(sweeps.roll_up_missed, SlotId(slot), self._ledger.lease_now(now))
        if status is not None:
            self._ended()

    async def due(self, now: int) -> Due:
        if self._ledger.obstacle(now):
            return Due((), None)
        return await self._ledger.read(outbox.due, self._ledger.lease_now(now))

    async def claim(self, route: str, n: int, owner: str, now: int) -> Sequence[OutboxRow]:
        at, lease_ms = self._ledger.lease_now(now), self._timings.row_lease_ms
        return await self._ledger.write(outbox.claim, RouteName(route), n, Owner(owner), at, lease_ms)

    async def defer(self, route: str, n: int, why: Unready, now: int) -> None:
        at, every_ms = self._ledger.lease_now(now), self._timings.deferral_ms
        await self._ledger.write(deferrals.defer, RouteName(route), n, why, at, every_ms)

    async def cleared(self, row: OutboxRow, owner: str, now: int) -> bool:
        at, lease_ms = self._ledger.lease_now(now), self._timings.row_lease_ms
        return await self._ledger.write(recording.cleared, row.id, Owner(owner), at, lease_ms)

    async def renew(self, ids: Sequence[str], owner: str, now: int) -> None:
        rows, at = [OutboxId(row) for row in ids], self._ledger.lease_now(now)
        try:
            await self._ledger.write(outbox.renew, rows, Owner(owner), at, self._timings.row_lease_ms)
        except Unavailable:
            return

    async def record(self, row: OutboxRow, ack: Ack, owner: str, now: int) -> bool:
        at, chance, policy = self._ledger.lease_now(now), self._chance(), self._retries()
        try:
            await self._ledger.write(recording.record, row.id, ack, Owner(owner), at, chance, policy)
        except Unavailable:
            return False
        return True

    async def release(self, ids: Sequence[str], owner: str, now: int) -> None:
        rows, at = [OutboxId(row) for row in ids], self._ledger.lease_now(now)
        await self._ledger.write(outbox.release, rows, Owner(owner), at)
