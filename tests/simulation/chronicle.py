"""What outlives a life: the file, the other end of the wire, what people did, and what was seen."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

import trio

from actors.kit.testing import VirtualClock
from tests.simulation.look import Look
from tests.simulation.receiver import Receiver
from tests.simulation.story import Story

START_MS: Final = 1_768_446_000_000


@dataclass(slots=True)
class Chronicle:
    """One story as far as it has been played. `now_s`: its instant when something was last said."""

    story: Story
    ledger: Path
    receiver: Receiver
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START_MS))
    """The wall clock of the machine on which all processes live."""
    now_s: float = 0.0
    lives: int = 0
    """How many processes there were."""
    absences: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """For each life by its number, from when to when it stood still, or was no more."""
    clock_set_s: list[float] = field(default_factory=list)
    seen: Look | None = None
    """The rows after the last commit."""
    newest_ms: int = START_MS
    """The newest instant by which a lease was judged."""
    asked: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    """Slots whose opening was heard to be committed."""
    cancelled: set[str] = field(default_factory=set)
    rearmed: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    """What people wanted to do once, and did."""
    begun: dict[str, int] = field(default_factory=dict)
    """How often each slot was begun."""
    trace: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=count)

    def new_id(self) -> str:
        return f"id-{next(self._ids):04}"

    def was_absent(self, life: int, since_s: float, until_s: float) -> bool:
        """Whether the process stood still, or ended, at some time in between."""
        return any(start <= until_s and end >= since_s for start, end in self.absences.get(life, []))

    def say(self, life: int, event: str, /, **fields: Any) -> None:
        """One line of the trace; the number of this process is no part of it."""
        self.now_s = trio.current_time()
        told = " ".join(f"{name}={value}" for name, value in fields.items())
        line = f"{life} {self.now_s:.3f} {event} {told}"
        self.trace.append(line.replace(f"-{os.getpid()}-", "-1-"))
