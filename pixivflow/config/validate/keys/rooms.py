"""Judges of what a room decides with: the rule stands in the room, once.

The room is imported when a file has such a key, and a file without one does not pay for it.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Final, Literal

from pixivflow.config.validate.judges import Judge, clamped, defaulted, judge


def _cron() -> Judge:
    from pixivflow.scheduling.cron import is_cron

    return judge(is_cron, "five cron fields (minute hour day month weekday) that name a time", "CRON_INVALID")


def _passes() -> Judge:
    from pixivflow.slots.fallback import STAGES_MAX

    return clamped(0, STAGES_MAX)


def _scans() -> Judge:
    from pixivflow.slots.fallback import SCAN_BOUND_MAX

    return clamped(1, SCAN_BOUND_MAX, "CANDIDATE_SCAN_LIMIT_INVALID")


def _budget(name: Literal["queued_ms", "stalled_ms"]) -> Judge:
    from pixivflow.slots.stall import LEAST_MS, Budgets

    return defaulted(LEAST_MS, getattr(Budgets(), name), "LIVENESS_BUDGET_INVALID")


def _asked(make: Callable[[], Judge]) -> Judge:
    """The judge that `make` makes, once there is something to judge."""
    made = cache(make)
    return lambda value: made()(value)


CRON: Final = _asked(_cron)
PASSES: Final = _asked(_passes)
SCANS: Final = _asked(_scans)
QUEUED_MS: Final = _asked(partial(_budget, "queued_ms"))
STALLED_MS: Final = _asked(partial(_budget, "stalled_ms"))
