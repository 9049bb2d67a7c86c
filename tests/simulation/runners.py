"""Triggers and runs of the property test: slots opened, admitted, taken, worked on and ended at any time."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from actors.kit import Crashed, End, Finished
from actors.ports import Admitted, Run
from pixivflow.delivery.intents import Order
from pixivflow.errors import Conflict
from pixivflow.ids import Owner, RouteName, ScheduleId, SlotId, TargetId, WorkId
from pixivflow.ledger import leases, runs, slots, works
from pixivflow.ledger.works import Place
from pixivflow.scheduling.model import Governance
from pixivflow.slots.model import BoundWork, Slot, Work, WorkType
from pixivflow.slots.target import Enqueued, TargetOutcome
from tests.fixtures.bringing import a_bringing
from tests.simulation import draws
from tests.simulation.draws import PLANS, SCHEDULED, Something, Works
from tests.simulation.look import OPEN_CELL, SLOTS, Row, cells_of, intents_of, is_leased
from tests.simulation.stage import Stage
from tests.simulation.steps import Actor
from tests.simulation.ways import Who


class Runners(Stage):
    """Whoever opens a slot or runs one."""

    @initialize(names=draws.memberships)
    def begin_with_a_slot(self, names: list[TargetId]) -> None:
        self.open(0, names)

    @precondition(lambda self: len(self.world.rows[SLOTS]) < 3)
    @rule(n=draws.picks, names=draws.memberships)
    def open(self, n: int, names: list[TargetId]) -> None:
        slot = SCHEDULED[n % len(SCHEDULED)]
        self._open(Slot(id=slot, schedule_id=ScheduleId(slot[0]), target_ids=tuple(names), trigger_source="cron"))

    @precondition(lambda self: len(self.world.rows[SLOTS]) < 4)
    @rule(n=draws.picks, names=draws.memberships)
    def open_by_hand(self, n: int, names: list[TargetId]) -> None:
        """A second letter case of one key is another request for the same slot."""
        key, plan = "KkL"[n % 3], ScheduleId("p")
        name = SlotId(f"{plan}@manual-{key.lower()}")
        self._open(Slot(id=name, schedule_id=plan, target_ids=tuple(names), manual_request_id=key))

    def _open(self, slot: Slot) -> None:
        before = self.world.rows
        opened = Slot(
            id=slot.id,
            schedule_id=slot.schedule_id,
            occurrence_at=self.world.now,
            target_ids=slot.target_ids,
            trigger_source=slot.trigger_source,
            manual_request_id=slot.manual_request_id,
        )
        said = self.world.take(Actor(who=Who.TRIGGER), slots.open_slot, opened, self.world.now)
        if slot.id in before[SLOTS]:
            assert said is not True
            assert before == self.world.rows, "a slot was opened again and changed"
        else:
            made = sorted(cell["target_id"] for cell in cells_of(self.world.rows, slot.id))
            assert made == sorted(slot.target_ids or ()), "a slot was opened without all of its cells"

    @rule(n=draws.picks)
    def ask(self, n: int) -> None:
        """Admission reads and promises nothing that a live lease would break."""
        slot, before = self.a_slot(n), self.world.rows
        said = self.world.take(Actor(who=Who.TRIGGER), runs.admit, slot, PLANS, (), Governance(), self.world.at)
        assert before == self.world.rows, "asking for admission wrote something"
        if isinstance(said, Admitted):
            assert not is_leased(before[SLOTS][slot], self.world.at), f"{slot} was admitted while it was leased"

    @rule(n=draws.picks)
    def begin(self, n: int) -> None:
        slot, owner, at, before = self.a_slot(n, free=True), next(self.new_owners), self.world.at, self.world.rows
        said = self.world.take(Actor(who=Who.RUN, owner=owner), runs.begin, slot, owner, PLANS, at)
        after = self.world.rows[SLOTS][slot]
        if isinstance(said, Work):
            self.runs.append(Run(slot, owner, at))
            assert (after["status"], after["lease_owner"]) == ("running", owner)
            assert any(cell["status"] in OPEN_CELL for cell in cells_of(before, slot)), "a run was begun for nothing"
        else:
            assert after["lease_owner"] != owner, f"{said} kept the lease"

    @precondition(lambda self: self.runs)
    @rule(n=draws.picks)
    def beat(self, n: int) -> None:
        run, actor = self.a_run(n)
        said = self.world.take(actor, leases.beat, SlotId(run.slot), Owner(run.owner), self.world.at)
        after = self.world.rows[SLOTS][run.slot]
        holds = (after["lease_owner"], after["status"]) == (run.owner, "running")
        assert said is holds
        assert not holds or is_leased(after, self.world.at)

    @precondition(lambda self: self.runs)
    @rule(n=draws.picks, m=draws.picks, work=draws.works)
    def bind(self, n: int, m: int, work: BoundWork) -> None:
        run, _ = self.a_run(n)
        self._bind(run, self.a_cell(run.slot, m), work)

    def _bind(self, run: Run, cell: Row, work: BoundWork) -> Row:
        holds = self._holds(run)
        said: Any = self.world.take(_actor(run), works.bind, _place(run, cell), work, self.world.now)
        after = self.cell(run.slot, cell["target_id"])
        assert isinstance(said, Conflict) is not holds
        if holds:
            assert (said.work and said.work.work_id) == after["work_id"]
            assert not said.won or said.work == work
        return after

    def _holds(self, run: Run) -> bool:
        row = self.world.rows[SLOTS][run.slot]
        return (row["lease_owner"], row["status"]) == (run.owner, "running")

    @precondition(lambda self: self.runs)
    @rule(n=draws.picks, m=draws.picks, another=draws.works, own=st.booleans())
    def give_back(self, n: int, m: int, another: BoundWork, own: bool) -> None:
        run, actor = self.a_run(n)
        cell = self.a_cell(run.slot, m)
        work = _bound(cell) if own and cell["work_id"] else another
        self.world.take(actor, works.release, _place(run, cell), work, self.world.now)

    @precondition(lambda self: self.runs)
    @rule(n=draws.picks, m=draws.picks, nothing=draws.nothing, kind=draws.something)
    def tell(self, n: int, m: int, nothing: TargetOutcome, kind: type[Something] | None) -> None:
        """One outcome. A work is bound before its first side effect, and promised before it is said to be."""
        run, actor = self.a_run(n)
        cell = self.a_cell(run.slot, m)
        if kind is None or not cell["work_id"] or (kind is Enqueued and not intents_of(self.world.rows, cell)):
            outcome = nothing
        else:
            outcome = kind(work=_bound(cell))
        self.world.take(actor, works.apply, _place(run, cell), outcome, 2, self.world.now)

    @precondition(lambda self: self.runs)
    @rule(n=draws.picks, m=draws.picks, routes=draws.routes, work=draws.works, budget=draws.budgets)
    def promise(self, n: int, m: int, routes: list[RouteName], work: BoundWork, budget: int) -> None:
        """The work that the cell is bound to, which is bound first if there is none."""
        run, _ = self.a_run(n)
        self._promise(run, self.a_cell(run.slot, m), routes, work, budget)

    def _promise(self, run: Run, cell: Row, routes: list[RouteName], work: BoundWork, budget: int) -> None:
        bound = cell if cell["work_id"] else self._bind(run, cell, work)
        if not bound["work_id"]:
            return
        mine, name = _bound(bound), TargetId(cell["target_id"])
        order = Order(work_type=mine.work_type, work_id=mine.work_id, slot_id=SlotId(run.slot), target_id=name)
        made = self.promises(order, routes, budget)
        bringing = a_bringing(mine, made, resumed=cell["work_id"] is not None)
        said = self.world.take(_actor(run), works.bring, _place(run, cell), bringing, self.world.now)
        assert self._holds(run) or isinstance(said, Conflict)

    @precondition(lambda self: self.runs)
    @rule(n=draws.picks, end=draws.ends, forced=st.booleans())
    def end(self, n: int, end: End, forced: bool) -> None:
        run, _ = self.a_run(n)
        self._end(run, end, forced=forced and not isinstance(end, Finished | Crashed))

    def _end(self, run: Run, end: End, *, forced: bool = False) -> None:
        by = Actor(who=Who.RUN, owner=run.owner, slot=run.slot, end=end, forced=forced)
        self.world.take(by, runs.abandon if forced else runs.finish, run, end, self.world.now)

    @rule(n=draws.picks, routes=draws.routes, chosen=draws.choices, budget=draws.budgets, end=draws.ends)
    def a_whole_run(self, n: int, routes: list[RouteName], chosen: Works, budget: int, end: End) -> None:
        """Begun, every open cell promised, ended: the whole way at once, as it mostly goes."""
        before = len(self.runs)
        self.begin(n)
        if len(self.runs) == before:
            return
        run = self.runs[-1]
        self._promise_all(run, routes, chosen, budget)
        self._end(run, end)

    @rule(n=draws.picks, ms=draws.waits, routes=draws.routes, chosen=draws.choices, end=draws.ends)
    def a_frozen_run(self, n: int, ms: int, routes: list[RouteName], chosen: Works, end: End) -> None:
        """One run stands still; another may take the slot over; then the first one goes on as if nothing had been."""
        before = len(self.runs)
        self.begin(n)
        if len(self.runs) == before:
            return
        run = self.runs[-1]
        self.world.wait(ms)
        self.begin(n)
        self._promise_all(run, routes, chosen, 1)
        self._end(run, end)

    def _promise_all(self, run: Run, routes: list[RouteName], chosen: Works, budget: int) -> None:
        open_cells = [cell for cell in cells_of(self.world.rows, run.slot) if cell["status"] in OPEN_CELL]
        for cell, work in zip(open_cells, chosen, strict=False):
            self._promise(run, cell, routes, work, budget)


def _actor(run: Run) -> Actor:
    return Actor(who=Who.RUN, owner=run.owner, slot=run.slot)


def _place(run: Run, cell: Row) -> Place:
    return Place(slot_id=SlotId(run.slot), target_id=TargetId(cell["target_id"]), owner=Owner(run.owner))


def _bound(cell: Row) -> BoundWork:
    return BoundWork(work_id=WorkId(cell["work_id"]), work_type=WorkType(cell["work_type"]))
