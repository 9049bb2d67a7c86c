"""Wall time. Waiting is trio's business; this is only for instants that are written down or compared with such."""

import time
from typing import Protocol


class Clock(Protocol):
    """Where wall time comes from; it may step in either direction."""

    def now_ms(self) -> int:
        """The wall clock, epoch ms UTC."""
        ...


class SystemClock:
    """The operating system's wall clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
