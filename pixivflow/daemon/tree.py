"""Every actor of a daemon, in the order of its start, with its restart kind and when it is there. Read this first.

The stop goes the other way round; the ledger closes last, since everybody settles through it. What stands in the places
is made by `ground.py`, for what works on rows alone, and by `program.py`, for what knows the configuration.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, assert_never

from actors.kit import Budget, Child, Kind, Mailbox
from actors.kit.supervisor import Actor
from pixivflow.config.model import SchedulerRuntime


class When(Enum):
    """In which daemons an actor is there."""

    ALWAYS = "in every one"
    DOOR = "in one that lets requests in: schedulerRuntime.trigger.enabled"
    LEAVES = "in one that leaves by itself: schedulerRuntime.mode external, exitWhenIdle"


@dataclass(frozen=True, slots=True)
class Place:
    """An actor's place in the tree."""

    name: str
    kind: Kind
    when: When
    budget: Budget = field(default_factory=Budget)
    is_foundation: bool = False


ONCE: Final = Budget(intensity=0)
"""Never restarted: of a ledger, the batch in flight is unknown, and the next process reads it from the rows."""

NOTHING_ASKED: Final = SchedulerRuntime()

# fmt: off
TREE: Final = (
    Place("ledger",         Kind.PERMANENT, When.ALWAYS, ONCE, is_foundation=True),
    Place("runs",           Kind.PERMANENT, When.ALWAYS),  # the home of slot runs; they outlive a new slot_runner
    Place("slot_runner",    Kind.PERMANENT, When.ALWAYS),  # the one door of admission
    Place("stall_sweeper",  Kind.PERMANENT, When.ALWAYS),  # up when its first tick is done: recovery before the new
    Place("scheduler",      Kind.PERMANENT, When.ALWAYS),  # up when what was missed is caught up
    Place("outbox_pump",    Kind.PERMANENT, When.ALWAYS),  # one lane a route
    Place("control",        Kind.PERMANENT, When.DOOR),    # on sockets that were bound before the tree began
    Place("config_watcher", Kind.PERMANENT, When.ALWAYS),  # a change comes in force as a whole, or not at all
    Place("idle",           Kind.PERMANENT, When.LEAVES),  # last: what it watches is there when it looks
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Body:
    """What stands in a place. `mailbox`: the one that it reads, closed when it is gone for good."""

    actor: Actor
    mailbox: Mailbox[Any] | None = None


def children(
    bodies: Mapping[str, Body], runtime: SchedulerRuntime = NOTHING_ASKED, *, has_door: bool = False
) -> list[Child]:
    """The tree of one daemon, from the ground up. A place without a body stays empty: a test may grow a part of it.

    `has_door`: sockets are bound for requests. Errors: `KeyError` for a body that has no place.
    """
    if strangers := bodies.keys() - {place.name for place in TREE}:
        raise KeyError(*strangers)
    here = [place for place in TREE if place.name in bodies and _is_here(place.when, runtime, has_door)]
    return [_child(place, bodies[place.name]) for place in here]


def _is_here(when: When, runtime: SchedulerRuntime, has_door: bool) -> bool:
    match when:
        case When.ALWAYS:
            return True
        case When.DOOR:
            return has_door
        case When.LEAVES:
            return runtime.mode == "external" and runtime.exit_when_idle
        case _:
            assert_never(when)


def _child(place: Place, body: Body) -> Child:
    child = Child(place.name, body.actor, place.kind, place.budget, foundation=place.is_foundation)
    return child if body.mailbox is None else replace(child, farewell=body.mailbox.close)
