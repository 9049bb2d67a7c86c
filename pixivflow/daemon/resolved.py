"""From the settings in force to the small structs that the rooms decide with."""

from collections.abc import Iterable

from pixivflow.config.model import SchedulerRuntime, Settings, Target
from pixivflow.delivery.backoff import RetryPolicy
from pixivflow.ids import ScheduleId, TargetId
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.slots.stall import Budgets

LANE = "pixiv-account:{}"
"""The scarce resource of every run: one account. Never a token, a receiver or a plan."""


def plans_of(settings: Settings, armed_at: int) -> dict[ScheduleId, Plan]:
    """Every plan, armed since `armed_at` (epoch ms) as far as it is enabled."""
    lane = LANE.format(settings.pixiv.account_id.strip() or "default")
    return {
        each.id: Plan(
            id=each.id,
            name=each.name or "",
            enabled=each.enabled,
            cron=each.cron,
            timezone=each.timezone,
            target_ids=each.target_ids,
            timeout_ms=each.timeout_ms,
            min_interval_ms=each.min_interval_ms,
            failure_retry_delay_ms=each.failure_retry_delay_ms,
            max_executions=each.max_executions,
            max_consecutive_failures=each.max_consecutive_failures,
            lane=lane,
            armed_at=armed_at if each.enabled else None,
        )
        for each in settings.schedules
    }


def ticking(runtime: SchedulerRuntime, plans: Iterable[Plan]) -> Iterable[Plan]:
    """The plans that fire by themselves here, and not by a clock outside."""
    return plans if runtime.mode == "internal" else ()


def catching_up(runtime: SchedulerRuntime, plans: Iterable[Plan]) -> Iterable[Plan]:
    """The plans of which a start looks for what was missed."""
    return ticking(runtime, plans) if runtime.catch_up_missed_runs else ()


def targets_of(settings: Settings) -> dict[TargetId, Target]:
    """Every configured target by its name, in order; one without an id is known by its type and its place."""
    return {target.id or TargetId(f"{target.type}-{place}"): target for place, target in enumerate(settings.targets, 1)}


def governance_of(settings: Settings) -> Governance:
    """How runs share their accounts."""
    runtime = settings.scheduler_runtime
    shares = runtime.resource_governance.pixiv_accounts
    return Governance(
        capacities={LANE.format(account): share.max_concurrency for account, share in shares.items()},
        queue_limit=runtime.queue_limit,
    )


def budgets_of(settings: Settings) -> Budgets:
    """How long slots may wait and stand still."""
    runtime = settings.scheduler_runtime
    return Budgets(queued_ms=runtime.queued_timeout_ms, stalled_ms=runtime.stall_timeout_ms)


def retries_of(settings: Settings) -> RetryPolicy:
    """How failed attempts at a delivery are spaced."""
    return RetryPolicy(base_ms=settings.delivery.outbox_retry_base_ms, max_ms=settings.delivery.outbox_retry_max_ms)
