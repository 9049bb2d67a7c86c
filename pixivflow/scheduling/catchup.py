"""What a start owes: at most the latest fire of a plan that has run before.

A plan that never ran has missed nothing, and however long the process was away, one run is all that is caught up.
"""

from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.occurrence import clock_of


def missed(plan: Plan, last_end: int | None, now: int) -> int | None:
    """The fire (epoch ms) that is to be caught up, never one of the future; None: nothing was missed.

    Shape: `last_end` epoch ms, when the plan's newest run that counts ended, None before the first.
    Errors: `ConfigError` when the plan has no cron line.
    """
    if last_end is None:
        return None
    clock = clock_of(plan)
    first = clock.next_after(last_end)
    return clock.latest(now) if first is not None and first <= now else None
