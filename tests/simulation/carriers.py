"""Pumps of the property test: rows claimed, looked at once more, sent, answered for and given back at any time."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from pixivflow.delivery.intents import Order
from pixivflow.delivery.model import Ack, Positive
from pixivflow.ids import OutboxId, Owner, RouteName
from pixivflow.ledger import outbox, recording
from pixivflow.ledger.enqueue import fan_out
from pixivflow.slots.model import BoundWork
from tests.simulation import draws
from tests.simulation.look import CELLS, CONFIRMED, INTENTS, ROWS, is_leased
from tests.simulation.stage import Stage
from tests.simulation.steps import Actor
from tests.simulation.ways import Who

CONFLICT = 409


class Carriers(Stage):
    """Two pumps, which may believe that they hold any row that they ever held."""

    def __init__(self) -> None:
        super().__init__()
        self._sent: dict[str, set[str]] = {}

    @rule(routes=draws.routes, work=draws.works, budget=draws.budgets)
    def send_by_hand(self, routes: list[RouteName], work: BoundWork, budget: int) -> None:
        """A work outside any occurrence."""
        order = Order(work_type=work.work_type, work_id=work.work_id)
        made = self.promises(order, routes, budget)
        self.world.take(Actor(who=Who.RUN), fan_out, order, made, self.world.now)

    @precondition(lambda self: self.world.rows[ROWS])
    @rule(pump=draws.pumps, n=draws.picks, count=draws.budgets)
    def claim(self, pump: Owner, n: int, count: int) -> None:
        at, before = self.world.at, self.world.rows
        due: Any = self.world.take(Actor(who=Who.PUMP, owner=pump), outbox.due, at)
        assert set(due.routes) == _due_routes(before[ROWS], at)
        route = RouteName(due.routes[n % len(due.routes)]) if due.routes else draws.ROUTES[0]
        said: Any = self.world.take(Actor(who=Who.PUMP, owner=pump), outbox.claim, route, count, pump, at)
        assert bool(said) == bool(due.routes), "a route was due and gave nothing"
        self.hands += [(pump, row.id) for row in said]

    @precondition(lambda self: self.hands)
    @rule(n=draws.picks)
    def look_once_more(self, n: int) -> None:
        self._cleared(n)

    def _cleared(self, n: int) -> bool:
        """What is cleared goes out: one work a cell, and never one that is there already or that nobody wants."""
        pump, row = self.a_hand(n)
        before = self.world.rows
        cleared = self.world.take(_actor(pump, row), recording.cleared, row, pump, self.world.at) is True
        if cleared:
            intent = before[INTENTS][before[ROWS][row]["delivery_id"]]
            assert not _kept(before[INTENTS], intent), "a route was sent what it has"
            cell = before[CELLS].get(f"{intent['slot_id']}/{intent['target_id']}")
            if cell is not None:
                assert cell["terminal_reason_code"] != "cancelled_by_consumer", "a cancelled work was sent"
                sent = self._sent.setdefault(cell["identity_"], set())
                sent.add(intent["pixiv_id"])
                assert len(sent) == 1, f"{sorted(sent)} were sent for one cell"
        return cleared

    @precondition(lambda self: self.hands)
    @rule(n=draws.picks, ack=draws.answers, u=draws.chances)
    def record(self, n: int, ack: Ack, u: float) -> None:
        self._record(*self.a_hand(n), ack, u)

    def _record(self, pump: Owner, row: OutboxId, ack: Ack, u: float) -> None:
        fact = isinstance(ack, Positive) or getattr(ack, "http_status", None) == CONFLICT
        self.world.take(_actor(pump, row, fact=fact), recording.record, row, ack, pump, self.world.at, u)

    @precondition(lambda self: self.world.rows[ROWS])
    @rule(pump=draws.pumps, n=draws.picks, ack=draws.answers, u=draws.chances)
    def deliver(self, pump: Owner, n: int, ack: Ack, u: float) -> None:
        """The whole way at once, as it mostly goes."""
        held = len(self.hands)
        self.claim(pump, n, 1)
        if len(self.hands) > held and self._cleared(0):
            self.record(0, ack, u)

    @precondition(lambda self: self.world.rows[ROWS])
    @rule(n=draws.picks, ms=draws.waits, acks=st.lists(draws.answers, min_size=2, max_size=2), late_first=st.booleans())
    def a_frozen_pump(self, n: int, ms: int, acks: list[Ack], late_first: bool) -> None:
        """One pump stands still with a row in its hands; the other may take the row over; both have an answer."""
        for pump in draws.PUMPS:
            held = len(self.hands)
            self.claim(pump, n, 1)
            if len(self.hands) == held or not self._cleared(0):
                return
            self.world.wait(ms)
        for back, ack in zip((0, 1) if late_first else (1, 0), acks, strict=True):
            self._record(*self.hands[-1 - back], ack, 0.0)

    @precondition(lambda self: self.hands)
    @rule(n=draws.picks, back=st.booleans())
    def hold_or_give_back(self, n: int, back: bool) -> None:
        pump, row = self.a_hand(n)
        self.world.take(_actor(pump, row), outbox.release if back else outbox.renew, [row], pump, self.world.at)


def _actor(pump: Owner, row: OutboxId, *, fact: bool = False) -> Actor:
    return Actor(who=Who.PUMP, owner=pump, rows=(row,), fact=fact)


def _kept(intents: Any, asked: Any) -> bool:
    """Whether the route has the work, under whatever key."""
    what = ("delivery_target", "work_type", "pixiv_id")
    same = [each for each in intents.values() if all(each[key] == asked[key] for key in what)]
    return any(each["status"] in CONFIRMED for each in same)


def _due_routes(rows: Any, at: int) -> set[str]:
    return {
        row["delivery_target"]
        for row in rows.values()
        if (row["status"] in ("pending", "retry_wait") and row["next_attempt_at"] <= at)
        or (row["status"] == "processing" and not is_leased(row, at))
    }
