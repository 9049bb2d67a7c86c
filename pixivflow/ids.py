"""Names for the identifiers that cross rooms, so that a type checker tells them apart."""

from typing import NewType

ScheduleId = NewType("ScheduleId", str)
"""A plan: letters, digits, `_` and `-`, at most 64 of them, the first a letter or digit."""

SlotId = NewType("SlotId", str)
"""One occurrence: `<schedule>@<YYYY-MM-DD>T<HHMM>`, `<schedule>@manual-<key>` or `<schedule>@recover-<request>`."""

TargetId = NewType("TargetId", str)
"""One thing to acquire per run, as configured."""

WorkId = NewType("WorkId", str)
"""A Pixiv work, always text."""

Owner = NewType("Owner", str)
"""Who holds a lease: `run-<pid>-<8 hex>` for a slot run, `worker-<pid>-<8 hex>` for an outbox pump."""

RouteName = NewType("RouteName", str)
"""A configured delivery target; for callbacks the receiver's address."""

DeliveryId = NewType("DeliveryId", str)
"""One delivery intent, a UUID v4."""

OutboxId = NewType("OutboxId", str)
"""One outbox row, a UUID v4."""


def run_owner(pid: int, token: str) -> Owner:
    """The identity of one run, fresh for each, so that two runs of one process never share a lease.

    `token`: 8 hex digits.
    """
    return Owner(f"run-{pid}-{token}")


def worker_owner(pid: int, token: str) -> Owner:
    """The identity of one outbox pump. `token`: 8 hex digits."""
    return Owner(f"worker-{pid}-{token}")
