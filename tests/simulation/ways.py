"""Which way each state may go in one step, and who may take it there: the specification's tables, not the program's.

Slots: scheduling 6.1, cells 6.2; intents and outbox rows: delivery 8.1, 8.2, 9.6 and 24.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from tests.simulation.look import CELLS, INTENTS, OPEN_CELL, ROWS, SLOTS, TO_BE_RUN


class Who(Enum):
    """Who takes a step."""

    TRIGGER = auto()
    RUN = auto()
    PUMP = auto()
    SWEEPER = auto()
    RECONCILER = auto()
    CONSUMER = auto()
    OPERATOR = auto()


Ways = Mapping[str, frozenset[str]]


def _ways(**ways: str) -> Ways:
    return {state: frozenset(to.split()) for state, to in ways.items()}


_DECIDED = "submitted duplicate failed"

WAYS: Final[Mapping[str, Mapping[Who, Ways]]] = {
    SLOTS: {
        Who.RUN: _ways(
            pending="running success partial failed",
            running="success partial failed",
            failed="running success partial",
        ),
        Who.SWEEPER: _ways(pending="running success partial failed", running="success partial failed"),
        Who.RECONCILER: _ways(
            pending="success partial failed", running="success partial failed", failed="success partial"
        ),
        Who.CONSUMER: _ways(pending="partial failed", running="partial failed", failed="partial"),
    },
    CELLS: {
        Who.RUN: _ways(
            pending="selected delivery_pending submitted no_candidate duplicate failed",
            selected="pending delivery_pending submitted no_candidate duplicate failed",
            artifact_ready="delivery_pending submitted duplicate failed",
            delivery_pending=_DECIDED,
        ),
        Who.PUMP: _ways(**dict.fromkeys(OPEN_CELL, _DECIDED)),
        Who.OPERATOR: _ways(**dict.fromkeys(OPEN_CELL, "failed")),
        Who.CONSUMER: _ways(**dict.fromkeys(OPEN_CELL, "failed")),
        Who.SWEEPER: _ways(**dict.fromkeys(TO_BE_RUN, "failed"), artifact_ready=_DECIDED, delivery_pending=_DECIDED),
    },
    INTENTS: {
        Who.RUN: _ways(failed="pending"),
        Who.PUMP: _ways(pending="delivered duplicate failed", failed="delivered duplicate"),
        Who.OPERATOR: _ways(pending="failed", failed="pending"),
        Who.CONSUMER: _ways(pending="failed"),
    },
    ROWS: {
        Who.RUN: _ways(dead="pending", cancelled="pending"),
        Who.PUMP: _ways(
            pending="processing", retry_wait="processing", processing="processing pending retry_wait done dead"
        ),
        Who.OPERATOR: _ways(
            pending="cancelled",
            retry_wait="cancelled",
            dead="cancelled pending retry_wait",
            cancelled="pending retry_wait",
            done="retry_wait",
        ),
        Who.CONSUMER: _ways(pending="cancelled", retry_wait="cancelled"),
    },
}


def is_way(table: str, who: Who, old: str, new: str) -> bool:
    """Whether `who` may take a row of `table` from `old` to `new` in one step; staying is always allowed."""
    return old == new or new in WAYS[table].get(who, {}).get(old, frozenset())
