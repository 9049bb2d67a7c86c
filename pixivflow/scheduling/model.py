"""What exists in the room of plans: the plan, and how scarce resources are shared."""

from collections.abc import Mapping
from typing import Final

import msgspec

from pixivflow.ids import ScheduleId, TargetId

TIMEOUT_MS: Final = 1_800_000


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One configured schedule, resolved.

    Shape: empty `target_ids` select every configured target. `armed_at`: epoch ms since when this entry may start work,
    None while it may not. `stopped`: somebody told it to stop. `lane`: the scarce resource that its runs share.
    Units: `*_ms` milliseconds; limits that are None do not exist.
    """

    id: ScheduleId
    name: str = ""
    enabled: bool = False
    cron: str = ""
    timezone: str = "UTC"
    target_ids: tuple[TargetId, ...] = ()
    timeout_ms: int = TIMEOUT_MS
    min_interval_ms: int = 0
    failure_retry_delay_ms: int = 0
    max_executions: int | None = None
    max_consecutive_failures: int | None = None
    lane: str = "pixiv-account:default"
    armed_at: int | None = None
    stopped: bool = False

    @property
    def is_armed(self) -> bool:
        """Whether the entry may start work."""
        return self.enabled and self.armed_at is not None


class Governance(msgspec.Struct, frozen=True, kw_only=True):
    """How many runs each lane takes at once (1 where nothing is said), and how many may wait over all lanes."""

    capacities: Mapping[str, int] = msgspec.field(default_factory=dict)
    queue_limit: int = 8

    def capacity(self, lane: str) -> int:
        """How many runs `lane` takes at once."""
        return self.capacities.get(lane, 1)
