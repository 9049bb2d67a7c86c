"""Waiting for a fact, with a limit that only a fault reaches."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LIMIT_S = 60.0
STEP_S = 0.01


def until(what: str, question: Callable[[], T], limit_s: float = LIMIT_S) -> T:
    """The first answer that counts as true. Errors: `TimeoutError`, saying what was waited for."""
    limit = time.monotonic() + limit_s
    while not (answer := question()):
        if time.monotonic() > limit:
            raise TimeoutError(f"waited {limit_s:.0f} s for {what}")
        time.sleep(STEP_S)
    return answer
