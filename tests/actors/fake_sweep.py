"""Slots in memory that nobody owns, and what the sweeper did about them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import trio

from actors.ports import Course, Swept, Unfinished


@dataclass
class FakeSweep:
    """Implements `SweepStore`. `needs`: unfinished slots by what they need; `beyond`: those that look beyond rescue.

    `breaks`: the slot whose settling fails. `did`: what was done, in order; `spared`: what each look was told to spare.
    """

    needs: dict[str, Course] = field(default_factory=dict)
    beyond: list[str] = field(default_factory=list)
    breaks: str | None = None
    did: list[tuple[str, str]] = field(default_factory=list)
    spared: list[frozenset[str]] = field(default_factory=list)

    async def unfinished(self, now: int, not_in: frozenset[str]) -> Sequence[Unfinished]:
        await trio.lowlevel.checkpoint()
        return [
            Unfinished(slot, course, {"schedule": f"plan of {slot}"})
            for slot, course in self.needs.items()
            if slot not in not_in
        ]

    async def settle_only(self, slot: str, now: int) -> None:
        await trio.lowlevel.checkpoint()
        if slot == self.breaks:
            raise RuntimeError(slot)
        if self.needs.get(slot) is Course.SETTLE:
            del self.needs[slot]
            self.did.append(("settled", slot))

    async def stalled(self, now: int, not_in: frozenset[str]) -> Sequence[str]:
        await trio.lowlevel.checkpoint()
        self.spared.append(not_in)
        return [slot for slot in self.beyond if slot not in not_in]

    async def end_stalled(self, slot: str, now: int) -> Swept | None:
        await trio.lowlevel.checkpoint()
        if slot == self.breaks:
            raise RuntimeError(slot)
        if slot not in self.beyond:
            return None
        self.beyond.remove(slot)
        self.needs.pop(slot, None)
        self.did.append(("ended", slot))
        return Swept("queued_too_long", {"cells_failed": 2})
