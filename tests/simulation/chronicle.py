"""What outlives a life: the file, the other end of the wire, what people did, and what was seen."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.simulation.receiver import Receiver
from tests.simulation.story import Story

START_MS: Final = 1_768_446_000_000


@dataclass(slots=True)
class Chronicle:
    """One story as far as it has been played. `now_s`: its instant; `wall_ms`: the wall clock then, epoch ms."""

    story: Story
    ledger: Path
    receiver: Receiver
    wall_ms: int = START_MS
    now_s: float = 0.0
    life: int = 0
    """The number of the present life."""
    newest_ms: int = START_MS
    """The newest instant by which a lease was judged."""
    asked: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    """Slots whose opening was heard to be committed."""
    cancelled: set[str] = field(default_factory=set)
    rearmed: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    """What people wanted to do once, and did."""
    unrecorded_s: list[float] = field(default_factory=list)
    """When an answer could not be written down, since another process kept the ledger."""
    begun: dict[str, int] = field(default_factory=dict)
    """How often each slot was begun."""
    trace: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _ids: Iterator[int] = field(default_factory=count)

    def new_id(self) -> str:
        return f"id-{next(self._ids):04}"

    def say(self, event: str, /, **fields: Any) -> None:
        """One line of the trace; the number of this process is no part of it."""
        told = " ".join(f"{name}={value}" for name, value in fields.items())
        line = f"{self.life} {self.now_s:.3f} {event} {told}"
        self.trace.append(line.replace(f"-{os.getpid()}-", "-1-"))
