"""Plans, and how the scheduler behaves."""

import pytest

from pixivflow.config.validate import validate
from tests.fixtures.documents import Document, a_document, a_schedule, a_target, found, said

EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound here


def case(number: int) -> pytest.MarkDecorator:
    return pytest.mark.case("operate", number)


EVERY_MINUTE = f"{','.join(map(str, range(60)))} {','.join(map(str, range(24)))} * * *"


def one(**parts: object) -> Document:
    return a_document(targets=[a_target()], schedules=[a_schedule(**parts)])


def runtime(**parts: object) -> Document:
    return a_document(schedulerRuntime=parts)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({}, id="five fields"),
        pytest.param({"cron": "0 3 L * *"}, id="the last day of a month"),
        pytest.param({"cron": EVERY_MINUTE}, id="every minute of every hour by its number"),
        pytest.param({"cron": "0 3 * * 1#2"}, id="the second Monday"),
        pytest.param({"cron": "0 3 29 2 *"}, id="a day of leap years"),
        pytest.param({"targetIds": []}, id="no target named: all of them"),
        pytest.param({"targetIds": ["sky"]}, id="a target that exists"),
        pytest.param({"enabled": False, "cron": None}, id="a plan that is off needs no cron"),
        pytest.param({"timezone": "America/New_York"}, id="a zone far away"),
    ],
)
def test_these_plans_are_fine(parts: Document) -> None:
    assert found(one(**parts)) == []


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param({"id": None}, "E:SCHEDULE_ID_INVALID schedules[0].id", id="without a name"),
        pytest.param({"cron": None}, "E:CRON_REQUIRED schedules[0].cron", id="enabled without cron"),
        pytest.param({"cron": ""}, "E:CRON_INVALID schedules[0].cron", id="a blank cron"),
        pytest.param({"cron": "* * * *"}, "E:CRON_INVALID schedules[0].cron", id="four fields"),
        pytest.param({"cron": "0 0 30 2 *"}, "E:CRON_INVALID schedules[0].cron", id="a day that never comes"),
        pytest.param({"cron": "1" * 5000 + " * * * *"}, "E:CRON_INVALID schedules[0].cron", id="a number without end"),
        pytest.param({"timezone": "Mars/Olympus"}, "E:TIMEZONE_INVALID schedules[0].timezone", id="no such zone"),
        pytest.param({"timezone": "../etc/passwd"}, "E:TIMEZONE_INVALID schedules[0].timezone", id="a path"),
        pytest.param({"timezone": "Asia"}, "E:TIMEZONE_INVALID schedules[0].timezone", id="a folder of zones"),
        pytest.param({"minInterval": -1}, "E:FIELD_INVALID schedules[0].minInterval", id="a negative pause"),
        pytest.param({"failureRetryDelay": -1}, "E:FIELD_INVALID schedules[0].failureRetryDelay", id="and another"),
        pytest.param({"maxExecutions": 0}, "E:FIELD_INVALID schedules[0].maxExecutions", id="no run at all"),
        pytest.param({"maxConsecutiveFailures": 0}, "E:FIELD_INVALID schedules[0].maxConsecutiveFailures", id="0"),
        pytest.param({"timeout": 999}, "W:FIELD_RANGE schedules[0].timeout", id="hardly any time"),
        pytest.param({"timeout": "30m"}, "E:FIELD_INVALID schedules[0].timeout", id="time with a unit"),
        pytest.param({"targetIds": "sky"}, "E:SCHEDULE_TARGET_UNKNOWN schedules[0].targetIds", id="no list"),
        pytest.param({"croon": "x"}, "W:UNKNOWN_KEY schedules[0].croon", id="a misspelt key"),
    ],
)
def test_these_plans_are_named_with_their_place(parts: Document, expected: str) -> None:
    assert found(one(**parts)) == [expected]


@case(33)
def test_a_cron_has_five_fields_in_range() -> None:
    assert found(one(cron="61 * * * *")) == ["E:CRON_INVALID schedules[0].cron"]
    assert found(one(cron="0 0 3 * * *")) == ["E:CRON_INVALID schedules[0].cron"]


@case(34)
def test_a_plan_names_targets_that_exist_and_the_nearest_one_is_offered() -> None:
    report = validate(one(targetIds=["skyy"])).report
    assert said(report) == ["E:SCHEDULE_TARGET_UNKNOWN schedules[0].targetIds[0]"]
    assert report.errors[0].message == 'no target is called "skyy"; did you mean "sky"?'


def test_two_plans_do_not_share_a_name() -> None:
    document = a_document(schedules=[a_schedule(), a_schedule()])
    assert found(document) == ["E:SCHEDULE_ID_INVALID schedules[1].id"]


@case(36)
def test_the_debounce_and_the_queue_have_their_ranges() -> None:
    assert found(runtime(reloadDebounceMs=50)) == ["E:RELOAD_DEBOUNCE_INVALID schedulerRuntime.reloadDebounceMs"]
    assert found(runtime(queueLimit=101)) == ["E:QUEUE_LIMIT_INVALID schedulerRuntime.queueLimit"]
    assert found(runtime(reloadDebounceMs=100, queueLimit=0)) == []


@case(38)
def test_the_times_of_leaving_are_not_negative() -> None:
    assert found(runtime(idleGraceMs=-1, maxLifetimeMs=0)) == [
        "E:IDLE_GRACE_INVALID schedulerRuntime.idleGraceMs",
        "E:MAX_LIFETIME_INVALID schedulerRuntime.maxLifetimeMs",
    ]
    assert found(runtime(idleGraceMs=0, maxLifetimeMs=1)) == []


@pytest.mark.parametrize("value", [5_000, 59_999, "60000", "soon", -1, 1.5, 90_000.0, True, float("nan")])
def test_a_budget_of_liveness_never_stops_a_start(value: object) -> None:
    checked = validate(runtime(stallTimeoutMs=value))
    assert said(checked.report) == ["W:LIVENESS_BUDGET_INVALID schedulerRuntime.stallTimeoutMs"]
    assert checked.used["schedulerRuntime"] == {"stallTimeoutMs": 900_000}
    assert "60000" in checked.report.warnings[0].message
    queued = validate(runtime(queuedTimeoutMs=value))
    assert queued.used["schedulerRuntime"] == {"queuedTimeoutMs": 1_800_000}


def test_a_budget_of_a_minute_or_more_is_kept() -> None:
    assert found(runtime(queuedTimeoutMs=60_000, stallTimeoutMs=60_001)) == []


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param({"mode": "cron"}, "E:SCHEDULER_MODE_INVALID mode", id="a mode that is none"),
        pytest.param({"watchConfig": "yes"}, "E:FIELD_INVALID watchConfig", id="yes is not true"),
        pytest.param({"exitWhenIdle": True}, "W:EXIT_WHEN_IDLE_IGNORED exitWhenIdle", id="nobody would wake it"),
        pytest.param({"trigger": {"port": 0}}, "E:TRIGGER_PORT_INVALID trigger.port", id="port 0"),
        pytest.param({"trigger": {"port": 65_536}}, "E:TRIGGER_PORT_INVALID trigger.port", id="a port too high"),
        pytest.param({"trigger": {"graceMinutes": 0}}, "E:TRIGGER_GRACE_INVALID trigger.graceMinutes", id="no grace"),
        pytest.param({"trigger": {"host": "http://x"}}, "E:FIELD_INVALID trigger.host", id="an address for a host"),
        pytest.param(
            {"resourceGovernance": {"pixivAccounts": {"default": {"maxConcurrency": 17}}}},
            "E:RESOURCE_GOVERNANCE_INVALID resourceGovernance.pixivAccounts.default.maxConcurrency",
            id="too many at once",
        ),
    ],
)
def test_these_ways_to_schedule_are_named(parts: Document, expected: str) -> None:
    code, field = expected.split()
    assert found(runtime(**parts)) == [f"{code} schedulerRuntime.{field}"]


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.0.2.7", "trigger.example.test"])
def test_a_door_that_others_reach_has_a_lock_for_each_family_of_routes(host: str) -> None:
    at = "schedulerRuntime.trigger.host"

    def door(token: str | None) -> Document:
        return runtime(mode="external", trigger={"host": host, "token": token})

    assert found(door(None)) == [f"E:TRIGGER_TOKEN_REQUIRED {at}"]
    assert found(door(" ")) == [f"E:TRIGGER_TOKEN_REQUIRED {at}"]
    assert found(door("opens-it")) == [f"W:ROUTES_CLOSED {at}"]
    assert found(door(None), manual_token=True) == [f"W:ROUTES_CLOSED {at}"]
    assert found(door("opens-it"), manual_token=True) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1", "localhost"])
def test_a_door_inside_this_machine_needs_none(host: str) -> None:
    assert found(runtime(mode="external", trigger={"host": host})) == []


def test_a_door_that_is_not_opened_needs_none() -> None:
    assert found(runtime(mode="internal", trigger={"host": EVERYWHERE})) == []


def test_the_old_plan_is_judged_as_the_new_ones_are() -> None:
    document = a_document(scheduler={"enabled": True, "cron": "61 * * * *", "timezone": "x"})
    assert found(document) == ["E:CRON_INVALID scheduler.cron", "E:TIMEZONE_INVALID scheduler.timezone"]
    assert found(a_document(scheduler={"enabled": True})) == []
