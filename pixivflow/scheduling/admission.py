"""Whether a plan may start a run of a slot now: every guard, in order, before anybody is told "admitted".

    the slot      unknown_slot · already_completed
    the plan      scheduler_not_instantiated · scheduler_busy
    the row       unknown_occurrence   an old row that does not say which fire it stands for
    the lease     already_running      another process has it; a promise to run it would be empty
    the limits    schedule_stopped · min_interval · max_executions · max_consecutive_failures
    the lane      queue_full           the slot stays as it is, and recovery offers it again

A plan has at most one run that is running or waiting. A run that must wait for its lane counts as waiting.

A tick of the process's own clock asks the guards of its plan, and whether it selects any target (no_targets), before
its slot is opened: one that its plan cannot take leaves no row.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import msgspec

from actors.ports import Admitted, Busy, Refused
from pixivflow.ids import SlotId, TargetId
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.scheduling.occurrence import membership
from pixivflow.scheduling.ticks import fires_by_itself


class PlanFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How a plan fared, from its rows.

    `executions`: runs since it was armed. `failures`: the failures in a row that its newest runs are.
    `failures_since_armed`: those of them since it was armed; a restart or a reload gives a stopped plan a new chance.
    `last_start_at`: epoch ms of the newest run that counts, None before the first.
    """

    executions: int = 0
    failures: int = 0
    failures_since_armed: int = 0
    last_start_at: int | None = None


class SlotFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the guards ask about a slot. `is_over`: no run can change it any more. `is_leased`: somebody owns it now.

    `has_occurrence`: the row says for which instant it stands; without it no run could tell what to do.
    """

    id: SlotId
    has_occurrence: bool = True
    is_over: bool = False
    is_leased: bool = False


def decide(
    slot: SlotFacts | None,
    plan: Plan | None,
    facts: PlanFacts,
    busy: Sequence[Busy],
    governance: Governance,
    now: int,
) -> Admitted | Refused:
    """Whether the run may start, and how; see the table above."""
    if slot is None:
        return Refused("unknown_slot")
    if slot.is_over:
        return Refused("already_completed")
    if plan is None or not plan.is_armed:
        return Refused("scheduler_not_instantiated")
    if any(run.plan == plan.id or run.slot == slot.id for run in busy):
        return Refused("scheduler_busy")
    if not slot.has_occurrence:
        return Refused("unknown_occurrence")
    if slot.is_leased:
        return Refused("already_running")
    if reason := over_limit(plan, facts, now):
        return Refused(reason)
    if not has_room(plan.lane, busy, governance):
        return Refused("queue_full")
    return Admitted(
        plan=plan.id,
        lane=plan.lane,
        capacity=governance.capacity(plan.lane),
        timeout_ms=plan.timeout_ms,
        delay_ms=plan.failure_retry_delay_ms if facts.failures > 0 else 0,
    )


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """A tick may open the slot of its fire, frozen with `targets`."""

    plan: Plan
    targets: tuple[TargetId, ...]


def decide_tick(plan: Plan | None, configured: Sequence[TargetId], busy: Collection[Busy]) -> Opening | Refused:
    """Whether a fire of the process's own clock may open its slot, as far as no rows are asked.

    Shape: `configured` all targets, in order. What the rows say of the plan is `over_limit`'s.
    """
    if plan is None or not fires_by_itself(plan):
        return Refused("scheduler_not_instantiated")
    if any(run.plan == plan.id for run in busy):
        return Refused("scheduler_busy")
    targets = membership(plan, configured)
    return Opening(plan=plan, targets=targets) if targets else Refused("no_targets")


def over_limit(plan: Plan, facts: PlanFacts, now: int) -> str | None:
    """The limit of its own that keeps the plan from running, or None."""
    if plan.stopped:
        return "schedule_stopped"
    if facts.last_start_at is not None and 0 <= now - facts.last_start_at < plan.min_interval_ms:
        return "min_interval"
    if plan.max_executions is not None and facts.executions >= plan.max_executions:
        return "max_executions"
    if plan.max_consecutive_failures is not None and facts.failures_since_armed >= plan.max_consecutive_failures:
        return "max_consecutive_failures"
    return None


def has_room(lane: str, busy: Sequence[Busy], governance: Governance) -> bool:
    """Whether one more run of `lane` finds a free permit, or else a place to wait.

    What exceeds a lane's capacity waits; the places to wait are shared by all lanes. After a cut of the capacity the
    permits still held above it count as waiting, which refuses sooner and never later.
    """
    taken = Counter(run.lane for run in busy)
    if taken[lane] < governance.capacity(lane):
        return True
    waiting = sum(max(0, n - governance.capacity(name)) for name, n in taken.items())
    return waiting < governance.queue_limit
