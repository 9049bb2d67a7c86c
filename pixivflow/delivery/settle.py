"""What the intents of one cell say about it, over all its routes.

One route's ACK never decides a cell that has several: a cell is settled once no route is owed any more. Settling a cell
after an ACK and asking who still owes it are the same question, so they are answered by the same table.

    any route owed                 live        the cell waits, and the scheduler keeps its hands off
    else any route lost            lost        the cell fails, whatever the others say; no other work is chosen
    else all duplicate             confirmed   duplicate
    else                           confirmed   submitted
    no intent at all               unknown     nothing can be said
"""

from collections.abc import Sequence
from enum import Enum, auto

import msgspec

from pixivflow.delivery.model import CONFIRMED, IntentStatus
from pixivflow.delivery.texts import ERROR_CHARS
from pixivflow.ids import RouteName
from pixivflow.slots.model import BoundWork, Cell, CellChange, Confirmed, Downstream, Live, Lost, Unknown
from pixivflow.slots.rollup import settled


class IntentFact(msgspec.Struct, frozen=True, kw_only=True):
    """One intent of a cell. `actionable`: a worker will still look at one of its rows by itself."""

    route: RouteName
    status: IntentStatus
    actionable: bool
    work: BoundWork
    remote_id: str | None = None
    remote_status: str | None = None
    last_error: str | None = None


class RouteState(Enum):
    """Where one route of a cell stands."""

    CONFIRMED = auto()
    OWED = auto()
    LOST = auto()


def route_state(facts: Sequence[IntentFact]) -> RouteState:
    """Where a route stands, from its one or more intents: a publication outranks a promise, a promise outranks a loss.

    A promise without a row that anybody will look at is lost: it was dead-lettered, cancelled, or never queued.
    """
    if any(fact.status in CONFIRMED for fact in facts):
        return RouteState.CONFIRMED
    if any(fact.status is IntentStatus.PENDING and fact.actionable for fact in facts):
        return RouteState.OWED
    return RouteState.LOST


def downstream(facts: Sequence[IntentFact], *, of_many: bool = False) -> Downstream:
    """Whether a cell still has an owner downstream.

    `facts`: all its intents, whatever their work. `of_many`: the cell belongs to many works, each of which is owed to
    each route; else one publication on a route outranks every other promise to it.
    """
    if of_many:
        return _of_many(facts)
    states = _states(facts)
    if not states:
        return Unknown()
    if RouteState.OWED in states.values():
        return Live()
    if RouteState.LOST in states.values():
        return Lost(_loss(facts, states))
    delivered = [fact.work for fact in facts if fact.status is IntentStatus.DELIVERED]
    proven = delivered or [fact.work for fact in facts if fact.status in CONFIRMED]
    return Confirmed(proven[0], duplicate=not delivered)


def settlement(cell: Cell, facts: Sequence[IntentFact]) -> CellChange | None:
    """What the cell becomes; None while a route is owed, or while no intent speaks of its work.

    `facts`: all intents of the cell. Those of another work than the one that it is bound to say nothing about it. A
    cell of many works is settled when all of them are, and not before its run has said that no more will follow.
    """
    if cell.is_filling:
        return None
    ours = [fact for fact in facts if cell.work_id in (None, fact.work.work_id)]
    return settled(cell, downstream(ours, of_many=cell.is_of_many))


def is_abandoned(facts: Sequence[IntentFact], *, of_many: bool = False) -> bool:
    """Whether the cell waits for a delivery that nobody owes it any more."""
    return isinstance(downstream(facts, of_many=of_many), Lost)


def _of_many(facts: Sequence[IntentFact]) -> Downstream:
    """The answers for each work of a cell together: owed while one is owed, lost when one is lost."""
    works = dict.fromkeys(fact.work.work_id for fact in facts)
    answers = [downstream([fact for fact in facts if fact.work.work_id == work]) for work in works]
    if any(isinstance(each, Live) for each in answers):
        return Live()
    losses = [each.reason for each in answers if isinstance(each, Lost)]
    if losses:
        return Lost("; ".join(losses)[:ERROR_CHARS])
    confirmed = [each for each in answers if isinstance(each, Confirmed)]
    proven = [each for each in confirmed if not each.duplicate] or confirmed
    return proven[0] if proven else Unknown()


def _states(facts: Sequence[IntentFact]) -> dict[RouteName, RouteState]:
    routes = dict.fromkeys(fact.route for fact in facts)
    return {route: route_state([fact for fact in facts if fact.route == route]) for route in routes}


def _loss(facts: Sequence[IntentFact], states: dict[RouteName, RouteState]) -> str:
    """Every lost route with the receiver's last word, and how many routes have the work, for people."""
    confirmed = sum(state is RouteState.CONFIRMED for state in states.values())
    lost = "; ".join(_last_word(fact) for fact in facts if states[fact.route] is RouteState.LOST)
    return f"confirmed on {confirmed} of {len(states)} routes, lost on {lost}"[:ERROR_CHARS]


def _last_word(fact: IntentFact) -> str:
    remote = " ".join(word for word in (fact.remote_status, fact.remote_id) if word)
    return f"{fact.route}{f' ({remote})' if remote else ''}: {fact.last_error or 'nobody sends it any more'}"
