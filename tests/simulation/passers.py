"""Everybody else of the property test: sweeper, reconciler, consumer, operator, and the clock."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from pixivflow.ids import OutboxId, SlotId
from pixivflow.ledger import cancels, orders, sweeps
from pixivflow.slots.stall import Budgets
from pixivflow.times import PRODUCTION
from tests.simulation import draws
from tests.simulation.look import OPEN_CELL, OWED, ROWS, SLOTS, cells_of
from tests.simulation.stage import Stage
from tests.simulation.steps import Actor
from tests.simulation.ways import Who


class Passers(Stage):
    """Those who come by of themselves, and people."""

    @rule(n=draws.picks)
    def settle_in_passing(self, n: int) -> None:
        slot, owner = self.a_slot(n, free=True), next(self.new_owners)
        by, ttl_ms = Actor(who=Who.SWEEPER, owner=owner), PRODUCTION.slot_lease_ms
        self.world.take(by, sweeps.settle_only, slot, owner, self.world.at, ttl_ms)
        assert self.world.rows[SLOTS][slot]["lease_owner"] != owner, "a settlement in passing kept the lease"

    @rule(ms=draws.waits, limits=draws.limits)
    def sweep(self, ms: int, limits: Budgets) -> None:
        """A while later; what the sweep finds, it may end, and nothing else."""
        self.world.wait(ms)
        sweeper = Actor(who=Who.SWEEPER)
        found: Any = self.world.take(sweeper, sweeps.stalled, self.world.at, limits, ())
        for slot in list(self.world.rows[SLOTS]):
            before = self.world.rows
            said = self.world.take(sweeper, sweeps.end_stalled, SlotId(slot), limits, self.world.at)
            assert (said is not None) == (slot in [each.id for each in found])
            assert said is not None or before == self.world.rows

    @rule(n=draws.picks)
    def reconcile(self, n: int) -> None:
        before, reconciler = self.world.rows, Actor(who=Who.RECONCILER)
        found: Any = self.world.take(reconciler, sweeps.missed_rollups, self.world.at)
        slot = found[n % len(found)] if found else self.a_slot(n)
        said = self.world.take(reconciler, sweeps.roll_up_missed, slot, self.world.at)
        assert (said is not None) == (slot in found)
        assert said is not None or before == self.world.rows

    @rule(n=draws.picks, sure=st.sampled_from([False, False, False, True]))
    def cancel(self, n: int, sure: bool) -> None:
        """A consumer's word ends all that is open, whoever is at it."""
        slot, before = self.a_slot(n), self.world.rows
        if not sure:
            return
        said = self.world.take(Actor(who=Who.CONSUMER), cancels.cancel_slot, slot, self.world.now)
        if any(cell["status"] in OPEN_CELL for cell in cells_of(before, slot)):
            assert said is cancels.Cancelled.CANCELLED
            assert not any(cell["status"] in OPEN_CELL for cell in cells_of(self.world.rows, slot))
            assert self.world.rows[SLOTS][slot]["lease_owner"] is None
        else:
            assert before == self.world.rows

    @precondition(lambda self: self.world.rows[ROWS])
    @rule(n=draws.picks, order=st.sampled_from(["cancel", "requeue", "revive"]))
    def operate(self, n: int, order: str) -> None:
        """People mostly ask for what can be done: to end what is owed, and to try again what has ended."""
        rows, now, operator = self.world.rows[ROWS], self.world.now, Actor(who=Who.OPERATOR)
        names = sorted(rows, key=lambda name: (rows[name]["status"] in OWED) != (order == "cancel"))
        row = OutboxId(names[n % len(names)])
        match order:
            case "cancel":
                self.world.take(operator, orders.cancel, row, now)
            case "requeue":
                self.world.take(operator, orders.requeue, row, now, source="outbox retry")
            case _:
                self.world.take(operator, orders.revive, row, now, source="delivery retry")

    @rule(ms=draws.waits, by_ms=draws.clock_steps)
    def time(self, ms: int, by_ms: int) -> None:
        """Time goes by; sometimes somebody sets the clock as well."""
        self.world.wait(ms)
        self.world.set_clock(by_ms)
