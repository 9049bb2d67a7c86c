"""What the settings in force mean for the rooms."""

import pytest

from pixivflow.daemon.resolved import (
    budgets_of,
    catching_up,
    governance_of,
    plans_of,
    retries_of,
    targets_of,
    ticking,
)
from pixivflow.delivery.backoff import RetryPolicy
from pixivflow.ids import ScheduleId
from pixivflow.slots.stall import Budgets
from tests.daemon.configured import configured

NOW = 1_768_446_000_000
PLAN = {"id": "nightly", "cron": "0 3 * * *", "timezone": "Asia/Tokyo", "enabled": True}


@pytest.mark.parametrize(("account", "lane"), [("default", "default"), ("second", "second"), ("  second ", "second")])
def test_runs_of_one_account_share_a_lane_whatever_their_plan(account: str, lane: str) -> None:
    settings = configured(pixiv={"accountId": account}, schedules=[PLAN, {**PLAN, "id": "hourly"}])
    assert {plan.lane for plan in plans_of(settings, NOW).values()} == {f"pixiv-account:{lane}"}


def test_the_share_of_an_account_is_found_under_the_lane_that_its_plans_use() -> None:
    share = {"resourceGovernance": {"pixivAccounts": {"second": {"maxConcurrency": 3}}}}
    settings = configured(pixiv={"accountId": "second"}, schedules=[PLAN], schedulerRuntime=share)
    (plan,) = plans_of(settings, NOW).values()
    assert governance_of(settings).capacities[plan.lane] == 3


def test_a_plan_that_is_switched_off_is_known_and_not_armed() -> None:
    plans = plans_of(configured(schedules=[PLAN, {**PLAN, "id": "off", "enabled": False}]), NOW)
    assert (plans[ScheduleId("nightly")].armed_at, plans[ScheduleId("off")].armed_at) == (NOW, None)


def test_what_the_file_says_of_a_plan_is_what_is_decided_with() -> None:
    limits = {"timeout": 60_000, "minInterval": 1, "failureRetryDelay": 2, "maxExecutions": 3}
    (plan,) = plans_of(configured(schedules=[{**PLAN, **limits, "maxConsecutiveFailures": 4}]), NOW).values()
    assert (plan.cron, plan.timezone, plan.timeout_ms) == ("0 3 * * *", "Asia/Tokyo", 60_000)
    assert (plan.min_interval_ms, plan.failure_retry_delay_ms) == (1, 2)
    assert (plan.max_executions, plan.max_consecutive_failures) == (3, 4)


def test_targets_without_a_name_are_known_by_their_type_and_place() -> None:
    one = {"type": "illustration", "tag": "x", "limit": 1}
    settings = configured(targets=[one, {**one, "id": "named"}, one])
    assert list(targets_of(settings)) == ["illustration-1", "named", "illustration-3"]


def test_the_queue_and_the_waits_are_the_configured_ones() -> None:
    settings = configured(schedulerRuntime={"queueLimit": 7, "queuedTimeoutMs": 120_000, "stallTimeoutMs": 600_000})
    assert governance_of(settings).queue_limit == 7
    assert budgets_of(settings) == Budgets(queued_ms=120_000, stalled_ms=600_000)


def test_a_delivery_may_be_tried_again_at_once() -> None:
    settings = configured(delivery={"targets": {}, "outboxRetryBaseMs": 0, "outboxRetryMaxMs": 0})
    assert retries_of(settings) == RetryPolicy(base_ms=0, max_ms=0)


@pytest.mark.parametrize(
    ("runtime", "fires", "owes"),
    [
        ({}, True, True),
        ({"catchUpMissedRuns": False}, True, False),
        ({"mode": "external"}, False, False),
        ({"mode": "external", "catchUpMissedRuns": True}, False, False),
    ],
    ids=["a clock inside", "it does not catch up", "a clock outside", "nor does that one catch up"],
)
def test_plans_fire_and_are_caught_up_only_where_the_clock_is_inside(
    runtime: dict[str, object], fires: bool, owes: bool
) -> None:
    settings = configured(schedules=[PLAN], schedulerRuntime=runtime)
    plans = plans_of(settings, NOW).values()
    assert list(ticking(settings.scheduler_runtime, plans)) == (list(plans) if fires else [])
    assert list(catching_up(settings.scheduler_runtime, plans)) == (list(plans) if owes else [])
