"""What a supervisor does about a child that has ended: a pure decision."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never


class Kind(enum.Enum):
    """Which ends of a child call for a new start."""

    PERMANENT = "permanent"  # always: the tree is not whole without it
    TRANSIENT = "transient"  # after a failure: an orderly end is an end
    TEMPORARY = "temporary"  # never: somebody else finds its work again


@dataclass(frozen=True, slots=True)
class Budget:
    """How many restarts a child gets: `intensity` within `period_ms`, each waiting twice as long as the one before."""

    intensity: int = 5
    period_ms: int = 60_000
    backoff_ms: int = 100
    backoff_max_ms: int = 5_000


@dataclass(frozen=True, slots=True)
class StartAgain:
    """Start the child once more, `after_ms` from now."""

    after_ms: int


@dataclass(frozen=True, slots=True)
class LetGo:
    """The child may stay away."""


@dataclass(frozen=True, slots=True)
class Escalate:
    """The budget is spent: whatever is wrong, another start will not mend it."""


Decision = StartAgain | LetGo | Escalate


def decide(kind: Kind, *, failed: bool, ends: Sequence[int], now: int, budget: Budget) -> Decision:
    """What follows the end of a child.

    `ends`: the instants (ms, any steady clock) of the ends that called for a restart before this one, oldest first.
    """
    match kind:
        case Kind.TEMPORARY:
            return LetGo()
        case Kind.TRANSIENT if not failed:
            return LetGo()
        case Kind.PERMANENT | Kind.TRANSIENT:
            recent = sum(1 for at in ends if at > now - budget.period_ms)
            if recent >= budget.intensity:
                return Escalate()
            return StartAgain(min(budget.backoff_ms << recent, budget.backoff_max_ms))
        case _:
            assert_never(kind)
