"""What one seed decides before anything happens: who asks for what and when, and what goes wrong.

Instants are seconds of the whole story, which goes on from life to life.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from pixivflow import failpoints
from pixivflow.ids import RouteName, ScheduleId, SlotId, TargetId
from pixivflow.scheduling.model import Governance, Plan

LANES: Final = {"pixiv-account:default": 2, "pixiv-account:other": 1}
TIMEOUT_MS: Final = 240_000
DAY_S: Final = 86_400.0
BUSY_UNTIL_S: Final = 900.0
CLOCK_STEPS_MS: Final = (-30 * 86_400_000, -3_600_000, -30_000, 200_000, 3_600_000, 3_600_000, 3_600_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Somebody asks for a slot. `key`: a requester's own, None for a scheduled occurrence."""

    at_s: float
    slot: SlotId
    plan: ScheduleId
    targets: tuple[TargetId, ...]
    key: str | None = None
    again: bool = False
    """Whether the client asks once more in the next life, when it never heard the answer."""
    unoffered: bool = False
    """Nobody is told of the slot; whichever process looks first finds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishap:
    """How a life ends: at the `nth` passing of a crash point, at an instant after its start, or by a stop in order.

    `point` None: after `after_s`. `down_ms`: how long nothing runs afterwards.
    """

    down_ms: int
    after_s: float = 0.0
    point: str | None = None
    nth: int = 1
    in_order: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All of it. `calm_after`: from this attempt at a row on the receiver is kind; a grim one never is."""

    seed: int
    plans: tuple[Plan, ...]
    wishes: tuple[Wish, ...]
    mishaps: tuple[Mishap, ...] = ()
    cancels: tuple[tuple[float, SlotId], ...] = ()
    clock_steps: tuple[tuple[float, int], ...] = ()
    orders: tuple[float, ...] = ()
    """When an operator arms again what is dead."""
    calm_after: int = 0
    plan_gone: tuple[float, ScheduleId] | None = None
    """A plan that is switched off at an instant."""
    busy: float = 0.0
    """How often another process keeps the ledger for longer than anybody waits, up to `BUSY_UNTIL_S`."""
    freezes: tuple[tuple[float, float], ...] | None = None
    """A second process lives on the same ledger all the time, and stands still at these instants for so many seconds;
    None: there is no second one."""
    acts: Mapping[SlotId, str] = field(default_factory=dict)
    """What the runs of a slot do, where that is not left to chance."""

    def chance(self, *what: object) -> Random:
        """Chance for one thing, the same whatever else happens: string seeds do not depend on hashes."""
        return Random(":".join(map(str, (self.seed, *what))))

    def routes(self, target: TargetId) -> list[RouteName]:
        """Where the works of a target go, the same for ever."""
        chance = self.chance("routes", target)
        return [RouteName(f"r{n}") for n in sorted(chance.sample(range(3), chance.randint(1, 3)))]


def governance() -> Governance:
    """How many runs at once."""
    return Governance(capacities=LANES, queue_limit=3)


def story(seed: int) -> Story:
    """The story of a seed."""
    chance = Random(seed)
    plans = tuple(_plan(f"p{n}", chance) for n in range(chance.randint(1, 3)))
    wishes = tuple(_wish(n, chance.choice(plans), chance) for n in range(chance.randint(2, 6)))
    last_s = max(wish.at_s for wish in wishes)
    return Story(
        seed=seed,
        plans=plans,
        wishes=wishes,
        mishaps=tuple(_mishap(chance) for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 4]))),
        cancels=tuple(_cancel(chance.choice(wishes), chance) for _ in range(chance.choice([0, 1, 1, 2]))),
        clock_steps=tuple(
            (chance.uniform(0, last_s + 300), chance.choice(CLOCK_STEPS_MS)) for _ in range(chance.choice([0, 0, 1, 2]))
        ),
        orders=tuple(chance.uniform(600, 3_600) for _ in range(chance.choice([0, 0, 1]))),
        calm_after=chance.choice([1, 2, 3, 3, 99]),
        plan_gone=(chance.uniform(0, 400), chance.choice(plans).id) if chance.random() < 0.15 else None,
        busy=chance.choice([0.0, 0.0, 0.0, 0.02, 0.15]),
        freezes=_freezes(chance) if chance.random() < 0.4 else None,
    )


def _cancel(wish: Wish, chance: Random) -> tuple[float, SlotId]:
    return wish.at_s + chance.uniform(0, 120), wish.slot


def _freezes(chance: Random) -> tuple[tuple[float, float], ...]:
    return tuple((chance.uniform(0, 400), chance.choice([50.0, 200.0, 500.0])) for _ in range(chance.randint(0, 3)))


def _plan(name: str, chance: Random) -> Plan:
    return Plan(
        id=ScheduleId(name),
        enabled=True,
        timeout_ms=TIMEOUT_MS,
        failure_retry_delay_ms=chance.choice([0, 0, 5_000]),
        lane=chance.choice(sorted(LANES)),
        armed_at=0,
    )


def _wish(n: int, plan: Plan, chance: Random) -> Wish:
    by_hand = chance.random() < 0.3
    return Wish(
        at_s=chance.choice([0.0, chance.uniform(0, 60), chance.uniform(0, 600)]),
        slot=SlotId(f"{plan.id}@manual-k{n}" if by_hand else f"{plan.id}@2026-01-15T030{n}"),
        plan=plan.id,
        targets=tuple(TargetId(f"t{t}") for t in range(chance.randint(1, 3))),
        key=f"K{n}" if by_hand else None,
        again=chance.random() < 0.5,
        unoffered=chance.random() < 0.3,
    )


def _mishap(chance: Random) -> Mishap:
    down_ms = chance.choice([0, 1_000, 60_000, 400_000])
    match chance.choice(["point", "point", "instant", "stop"]):
        case "point":
            point, nth = chance.choice(sorted(failpoints.POINTS)), chance.choice([1, 1, 2, 3, 5, 20])
            return Mishap(down_ms=down_ms, point=point, nth=nth)
        case "instant":
            return Mishap(down_ms=down_ms, after_s=chance.choice([0.05, chance.uniform(0, 30), chance.uniform(0, 900)]))
        case _:
            return Mishap(down_ms=down_ms, after_s=chance.uniform(0, 300), in_order=True)
