"""What all actors of the property test share: the world, who is in it, and what always holds there."""

import itertools
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec
from hypothesis.stateful import RuleBasedStateMachine, invariant

from actors.ports import Run
from pixivflow.delivery.intents import Order, Promise, promises
from pixivflow.ids import OutboxId, Owner, RouteName, SlotId
from tests.simulation.draws import PLANS
from tests.simulation.look import CELLS, OPEN_CELL, OPEN_SLOT, ROWS, SLOTS, Row, cells_of, is_leased
from tests.simulation.rest import moods
from tests.simulation.steps import Actor
from tests.simulation.ways import Who
from tests.simulation.world import World

T = TypeVar("T")

MOODS = tuple(moods(PLANS))
NOW_AND_THEN = 4
"""Between two rests in the midst of things: one costs as much as several steps."""


class Stage(RuleBasedStateMachine):
    """`runs`: every run that ever began, newest last; `hands`: every row that a pump ever claimed, newest last.

    What has lost its lease stays among them, so that the stale speak as often as the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self.world = World(PLANS)
        self.runs: list[Run] = []
        self.hands: list[tuple[Owner, OutboxId]] = []
        self.new_ids = (f"id-{n}" for n in itertools.count())
        self.new_owners = (Owner(f"run-1-{n:08x}") for n in itertools.count())
        self._turn = 0

    def teardown(self) -> None:
        for mood in MOODS:
            self.world.comes_to_rest(mood)
        self.world.close()

    @invariant()
    def the_rows_agree(self) -> None:
        self.world.agrees()

    @invariant()
    def everything_would_end(self) -> None:
        """Asked now and then, each time with the outside in another mood; at the end in all of them."""
        self._turn += 1
        turn, rest = divmod(self._turn, NOW_AND_THEN)
        if rest == 0:
            self.world.comes_to_rest(MOODS[turn % len(MOODS)])

    def a_slot(self, n: int, *, free: bool = False) -> SlotId:
        """The `n`-th slot; open ones first, and if `free` is asked for, of those the ones that nobody holds."""
        found = self.world.rows[SLOTS]
        names = _first(found, lambda name: found[name]["status"] in OPEN_SLOT)
        if free:
            names = _first(names, lambda name: not is_leased(found[name], self.world.at))
        return SlotId(names[n % len(names)])

    def a_run(self, n: int) -> tuple[Run, Actor]:
        """The `n`-th newest run; those that hold their slot first."""
        slots = self.world.rows[SLOTS]
        found = _first(reversed(self.runs), lambda run: slots[run.slot]["lease_owner"] == run.owner)
        run = found[n % len(found)]
        return run, Actor(who=Who.RUN, owner=run.owner, slot=run.slot)

    def a_hand(self, n: int) -> tuple[Owner, OutboxId]:
        """The `n`-th newest row in the hands of a pump; those that are still its own first."""
        rows = self.world.rows[ROWS]
        found = _first(reversed(self.hands), lambda hand: rows[hand[1]]["lease_owner"] == hand[0])
        return found[n % len(found)]

    def a_cell(self, slot: str, n: int) -> Row:
        """The `n`-th cell of the slot; open ones first."""
        found = _first(cells_of(self.world.rows, slot), lambda cell: cell["status"] in OPEN_CELL)
        return found[n % len(found)]

    def cell(self, slot: str, target: str) -> Row:
        """The cell as its row stands."""
        return self.world.rows[CELLS][f"{slot}/{target}"]

    def promises(self, order: Order, routes: list[RouteName], budget: int) -> tuple[Promise, ...]:
        """Promises of `order`, each with `budget` attempts."""
        made = promises(order, routes, {"context": {}}, lambda: next(self.new_ids))
        return tuple(msgspec.structs.replace(each, max_attempts=budget) for each in made)


def _first(names: Iterable[T], preferred: Callable[[T], bool]) -> list[T]:
    return sorted(names, key=lambda name: not preferred(name))
