"""Whether a plan may start a run now."""

import pytest

from actors.ports import Admitted, Busy, Refused
from pixivflow.ids import TargetId
from pixivflow.scheduling.admission import Opening, PlanFacts, SlotFacts, decide, decide_tick
from pixivflow.scheduling.model import Governance, Plan
from tests.fixtures.slots import HOUR, MINUTE, NOW, SLOT, A, B, a_plan

LANE = "pixiv-account:default"
READY = SlotFacts(id=SLOT)
FRESH = PlanFacts()


def busy(n: int, lane: str = LANE) -> tuple[Busy, ...]:
    return tuple(Busy(slot=f"q{lane}{i}@x", plan=f"q{lane}{i}", lane=lane) for i in range(n))


def asked(
    slot: SlotFacts | None = READY,
    plan: Plan | None = None,
    facts: PlanFacts = FRESH,
    taken: tuple[Busy, ...] = (),
    governance: Governance | None = None,
) -> Admitted | Refused:
    return decide(slot, plan or a_plan(), facts, taken, governance or Governance(), NOW)


def test_a_plan_that_nothing_holds_back_is_admitted_with_its_lane_and_its_budget() -> None:
    governance = Governance(capacities={LANE: 3})
    assert asked(plan=a_plan(timeout_ms=7_200_000), governance=governance) == Admitted(
        plan="p", lane=LANE, capacity=3, timeout_ms=7_200_000, delay_ms=0
    )


IN_ORDER = [
    "already_completed",
    "scheduler_not_instantiated",
    "scheduler_busy",
    "unknown_occurrence",
    "already_running",
    "schedule_stopped",
    "min_interval",
    "max_executions",
    "max_consecutive_failures",
    "queue_full",
]


@pytest.mark.parametrize("first", range(len(IN_ORDER)), ids=IN_ORDER)
def test_the_guards_refuse_in_a_fixed_order(first: int) -> None:
    """Every guard from the `first` on would refuse; the first of them is the one that is named."""
    refusing = set(IN_ORDER[first:])
    plan = a_plan(
        enabled="scheduler_not_instantiated" not in refusing,
        stopped="schedule_stopped" in refusing,
        min_interval_ms=HOUR if "min_interval" in refusing else 0,
        max_executions=1 if "max_executions" in refusing else None,
        max_consecutive_failures=1 if "max_consecutive_failures" in refusing else None,
    )
    slot = SlotFacts(
        id=SLOT,
        is_over="already_completed" in refusing,
        has_occurrence="unknown_occurrence" not in refusing,
        is_leased="already_running" in refusing,
    )
    facts = PlanFacts(executions=1, failures=1, failures_since_armed=1, last_start_at=NOW - 1)
    own = (Busy(slot="p@other", plan="p", lane="another"),) if "scheduler_busy" in refusing else ()
    assert asked(slot, plan, facts, own + busy(1), Governance(queue_limit=0)) == Refused(IN_ORDER[first])


def test_nothing_is_known_of_a_slot_without_a_row() -> None:
    assert asked(slot=None) == Refused("unknown_slot")


@pytest.mark.parametrize("plan", [None, a_plan(enabled=False), a_plan(armed_at=None)])
def test_a_plan_that_is_gone_off_or_not_armed_yet_admits_nothing(plan: Plan | None) -> None:
    assert decide(READY, plan, FRESH, (), Governance(), NOW) == Refused("scheduler_not_instantiated")


@pytest.mark.parametrize(
    "taken", [Busy(slot="p@other", plan="p", lane=LANE), Busy(slot=SLOT, plan="renamed", lane=LANE)]
)
def test_a_plan_and_a_slot_have_at_most_one_run_at_a_time(taken: Busy) -> None:
    assert asked(taken=(taken,), governance=Governance(capacities={LANE: 5})) == Refused("scheduler_busy")


@pytest.mark.parametrize(
    ("last_start_at", "admitted"),
    [(None, True), (NOW - 10 * MINUTE, True), (NOW - 10 * MINUTE + 1, False), (NOW, False), (NOW + HOUR, True)],
    ids=["never ran", "exactly the interval ago", "a moment less", "just now", "in a future that a set clock undid"],
)
def test_two_runs_of_a_plan_start_at_least_its_interval_apart(last_start_at: int | None, admitted: bool) -> None:
    answer = asked(plan=a_plan(min_interval_ms=10 * MINUTE), facts=PlanFacts(last_start_at=last_start_at))
    assert isinstance(answer, Admitted) is admitted


@pytest.mark.parametrize(("executions", "admitted"), [(0, True), (2, True), (3, False), (4, False)])
def test_a_plan_runs_no_more_often_than_it_may(executions: int, admitted: bool) -> None:
    answer = asked(plan=a_plan(max_executions=3), facts=PlanFacts(executions=executions))
    assert isinstance(answer, Admitted) is admitted


@pytest.mark.parametrize(("failures", "admitted"), [(1, True), (2, False)])
def test_a_plan_that_keeps_failing_stops_until_it_is_armed_again(failures: int, admitted: bool) -> None:
    plan = a_plan(max_consecutive_failures=2)
    assert isinstance(asked(plan=plan, facts=PlanFacts(failures_since_armed=failures)), Admitted) is admitted
    assert isinstance(asked(plan=plan, facts=PlanFacts(failures=failures)), Admitted)


@pytest.mark.parametrize(("failures", "delay_ms"), [(0, 0), (1, MINUTE), (7, MINUTE)])
def test_a_plan_that_failed_waits_before_it_tries_again(failures: int, delay_ms: int) -> None:
    answer = asked(plan=a_plan(failure_retry_delay_ms=MINUTE), facts=PlanFacts(failures=failures))
    assert isinstance(answer, Admitted)
    assert answer.delay_ms == delay_ms


@pytest.mark.parametrize(
    ("taken", "capacities", "queue_limit", "admitted"),
    [
        pytest.param(busy(0), {}, 0, True, id="the lane is free, and nobody may wait"),
        pytest.param(busy(1), {}, 0, False, id="the lane is taken, and nobody may wait"),
        pytest.param(busy(1), {}, 1, True, id="the first waits"),
        pytest.param(busy(2), {}, 1, False, id="the second does not"),
        pytest.param(busy(1), {LANE: 2}, 0, True, id="a lane for two"),
        pytest.param(busy(2), {LANE: 2}, 0, False, id="a lane for two is taken"),
        pytest.param(busy(1) + busy(2, "x"), {}, 1, False, id="another lane's waiters take the places"),
        pytest.param(busy(0) + busy(9, "x"), {}, 0, True, id="another lane's runs never block this one"),
        pytest.param(busy(9), {}, 8, False, id="eight wait, and no ninth"),
        pytest.param(busy(8), {}, 8, True, id="seven wait, and an eighth may"),
    ],
)
def test_a_run_finds_a_permit_or_a_place_to_wait(
    taken: tuple[Busy, ...], capacities: dict[str, int], queue_limit: int, admitted: bool
) -> None:
    answer = asked(taken=taken, governance=Governance(capacities=capacities, queue_limit=queue_limit))
    assert answer == Refused("queue_full") or isinstance(answer, Admitted)
    assert isinstance(answer, Admitted) is admitted


OWN = Busy(slot="p@other", plan="p", lane="another")
NOWHERE = a_plan(target_ids=(TargetId("gone"),))


def test_a_tick_of_a_plan_that_is_free_opens_a_slot_with_the_targets_that_it_selects() -> None:
    assert decide_tick(a_plan(), (A, B), busy(3)) == Opening(plan=a_plan(), targets=(A, B))
    one = a_plan(target_ids=(B, TargetId("gone")))
    assert decide_tick(one, (A, B), ()) == Opening(plan=one, targets=(B,))


@pytest.mark.parametrize(
    ("plan", "taken", "reason"),
    [
        pytest.param(None, (OWN,), "scheduler_not_instantiated", id="the plan is gone"),
        pytest.param(a_plan(enabled=False), (OWN,), "scheduler_not_instantiated", id="it is off"),
        pytest.param(a_plan(armed_at=None), (OWN,), "scheduler_not_instantiated", id="it is not armed yet"),
        pytest.param(a_plan(cron=" "), (OWN,), "scheduler_not_instantiated", id="it lost its cron line"),
        pytest.param(NOWHERE, (OWN,), "scheduler_busy", id="it runs another slot, whatever it selects"),
        pytest.param(NOWHERE, (), "no_targets", id="it selects no target"),
    ],
)
def test_a_tick_that_its_plan_cannot_take_is_refused(plan: Plan | None, taken: tuple[Busy, ...], reason: str) -> None:
    assert decide_tick(plan, (A, B), taken) == Refused(reason)
