"""Plans as configured, and how the scheduler of this process behaves."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pixivflow.config.mask import Secret
from pixivflow.ids import ScheduleId, TargetId

SchedulerMode = Literal["internal", "external"]


class Schedule(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One plan. The file's old `scheduler` block is the plan `default`.

    Shape: five cron fields on the wall clock of `timezone`; empty `target_ids` select every target.
    Units: milliseconds; limits that are None do not exist.
    """

    id: ScheduleId
    name: str | None = None
    enabled: bool = False
    cron: str = ""
    timezone: str = "Asia/Shanghai"
    target_ids: tuple[TargetId, ...] = ()
    timeout_ms: int = msgspec.field(default=1_800_000, name="timeout")
    min_interval_ms: int = msgspec.field(default=0, name="minInterval")
    failure_retry_delay_ms: int = msgspec.field(default=0, name="failureRetryDelay")
    max_executions: int | None = None
    max_consecutive_failures: int | None = None


class Trigger(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The door for clocks outside. In a loaded snapshot the environment has had its say.

    Shape: an empty `token` closes its routes. Units: minutes.
    """

    enabled: bool = False
    host: str = "127.0.0.1"
    port: int = 8090
    token: Secret = Secret()
    grace_minutes: int = 90


class AccountShare(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many runs of one account go on at once."""

    max_concurrency: int = 1


class ResourceGovernance(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How scarce resources are shared, by account."""

    pixiv_accounts: Mapping[str, AccountShare] = {}


class SchedulerRuntime(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the scheduler of this process behaves.

    In a loaded snapshot what `mode` forces is done: `external` has its trigger on and catches nothing up, `internal`
    never leaves when idle. Units: milliseconds.
    """

    mode: SchedulerMode = "internal"
    catch_up_missed_runs: bool = True
    watch_config: bool = True
    reload_debounce_ms: int = 500
    queue_limit: int = 8
    queued_timeout_ms: int = 1_800_000
    stall_timeout_ms: int = 900_000
    exit_when_idle: bool = False
    idle_grace_ms: int = 600_000
    max_lifetime_ms: int = 10_800_000
    trigger: Trigger = Trigger()
    resource_governance: ResourceGovernance = ResourceGovernance()
