"""Plans in memory that fire at given instants, and the slots that were opened for them."""

from dataclasses import dataclass, field

import trio

from actors.ports import Fire, Refused

START = 1_768_446_000_000
"""Where the virtual wall clock begins."""


@dataclass
class FakeFires:
    """Implements `Ticks` and `Fires`: plans that fire at given instants, ms after the start.

    `owed`: what was missed. `faults`: how often opening fails. `opening_s`: how long it takes. `refusals`: what a plan
    answers instead.
    """

    plans: dict[str, list[int]]
    owed: list[Fire] = field(default_factory=list)
    faults: int = 0
    opening_s: float = 0
    refusals: dict[str, Refused] = field(default_factory=dict)
    opened: list[tuple[Fire, float]] = field(default_factory=list)
    wakes: list[float] = field(default_factory=list)

    async def missed(self, now: int) -> list[Fire]:
        await trio.lowlevel.checkpoint()
        return [fire for fire in self.owed if fire.at <= now]

    def between(self, since: int, now: int) -> list[Fire]:
        self.wakes.append(trio.current_time())
        due = {plan: [START + at for at in ats if since < START + at <= now] for plan, ats in self.plans.items()}
        return [Fire(plan, max(found)) for plan, found in due.items() if found]

    def next_at(self, now: int) -> int | None:
        return min((START + at for ats in self.plans.values() for at in ats if START + at > now), default=None)

    async def open(self, fire: Fire, now: int) -> str | Refused:
        await trio.sleep(self.opening_s)
        if self.faults > 0:
            self.faults -= 1
            raise OSError("no room")
        if fire.plan not in self.plans:
            return Refused("scheduler_not_instantiated")
        self.opened.append((fire, trio.current_time()))
        return self.refusals.get(fire.plan, f"{fire.plan}@{fire.at - START}")

    def seen(self) -> list[tuple[str, float]]:
        """Slot and second of each fire that was opened, oldest first."""
        return [(f"{fire.plan}@{fire.at - START}", at) for fire, at in self.opened]
