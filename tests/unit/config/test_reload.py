"""What a new snapshot may change while the process runs."""

import msgspec
import pytest

from pixivflow.config.mask import Secret
from pixivflow.config.model import Settings
from pixivflow.config.watch import Keep, Refuse, Replace, decide
from pixivflow.config.watch.decide import AT_START, NEEDS_RESTART

NOW = Settings(generation=7, manual_token=Secret("manual"))


def settings(**parts: object) -> Settings:
    """A snapshot as `load` makes it from a changed file."""
    return msgspec.convert(parts, Settings, dec_hook=lambda kind, value: kind(value))


def test_a_file_that_says_the_same_changes_nothing() -> None:
    assert decide(NOW, settings()) == Keep()


def test_a_new_plan_is_in_force_one_generation_later() -> None:
    plan = {"id": "nightly", "enabled": True, "cron": "0 3 * * *"}
    verdict = decide(NOW, settings(schedules=[plan]))
    assert isinstance(verdict, Replace)
    assert (verdict.settings.generation, verdict.waiting) == (8, ())
    assert [each.id for each in verdict.settings.schedules] == ["nightly"]
    assert verdict.settings.manual_token == NOW.manual_token


@pytest.mark.parametrize(
    ("parts", "keys"),
    [
        ({"pixiv": {"refreshToken": "another-token"}}, ("pixiv.refreshToken",)),
        ({"network": {"proxy": {"enabled": True, "host": "h"}}}, ("network.proxy.enabled", "network.proxy.host")),
        (
            {"storage": {"downloadDirectory": "/x", "cacheMaxSizeMB": 5}},
            ("storage.downloadDirectory", "storage.cacheMaxSizeMB"),
        ),
        ({"tokenMaintenance": {"refreshInterval": 5}}, ("tokenMaintenance.refreshInterval",)),
    ],
)
def test_what_everything_open_was_built_from_needs_a_restart_and_takes_the_rest_with_it(
    parts: dict[str, object], keys: tuple[str, ...]
) -> None:
    changed = {"logLevel": "debug", "schedulerRuntime": {"mode": "external", "queueLimit": 5}}
    assert decide(NOW, settings(**changed, **parts)) == Refuse(keys)


@pytest.mark.parametrize(
    ("parts", "key"),
    [
        ({"schedulerRuntime": {"mode": "external"}}, "schedulerRuntime.mode"),
        ({"schedulerRuntime": {"catchUpMissedRuns": False}}, "schedulerRuntime.catchUpMissedRuns"),
        ({"schedulerRuntime": {"watchConfig": False}}, "schedulerRuntime.watchConfig"),
        ({"schedulerRuntime": {"reloadDebounceMs": 100}}, "schedulerRuntime.reloadDebounceMs"),
        ({"schedulerRuntime": {"exitWhenIdle": True}}, "schedulerRuntime.exitWhenIdle"),
        ({"schedulerRuntime": {"idleGraceMs": 5}}, "schedulerRuntime.idleGraceMs"),
        ({"schedulerRuntime": {"maxLifetimeMs": 5}}, "schedulerRuntime.maxLifetimeMs"),
        ({"schedulerRuntime": {"trigger": {"enabled": True}}}, "schedulerRuntime.trigger.enabled"),
        ({"schedulerRuntime": {"trigger": {"host": "::1"}}}, "schedulerRuntime.trigger.host"),
        ({"schedulerRuntime": {"trigger": {"port": 5}}}, "schedulerRuntime.trigger.port"),
        ({"schedulerRuntime": {"trigger": {"token": "new"}}}, "schedulerRuntime.trigger.token"),
        ({"download": {"assetNamespace": "mine"}}, "download.assetNamespace"),
    ],
)
def test_what_is_read_at_the_start_waits_for_the_next_one_and_stops_nothing_else(
    parts: dict[str, dict[str, object]], key: str
) -> None:
    runtime = parts.get("schedulerRuntime", {}) | {"queueLimit": 3}
    verdict = decide(NOW, settings(**{**parts, "schedulerRuntime": runtime}))
    assert isinstance(verdict, Replace)
    assert verdict.waiting == (key,)
    assert verdict.settings.scheduler_runtime.queue_limit == 3
    in_force = msgspec.structs.replace(verdict.settings.scheduler_runtime, queue_limit=8)
    assert (in_force, verdict.settings.download) == (NOW.scheduler_runtime, NOW.download)


@pytest.mark.parametrize(
    "parts",
    [
        {"logLevel": "debug"},
        {"download": {"concurrency": 1}},
        {"targets": [{"type": "novel"}]},
        {"delivery": {"targets": {"r": {"type": "webhook", "url": "http://x"}}}},
        {"schedulerRuntime": {"queueLimit": 1}},
        {"schedulerRuntime": {"stallTimeoutMs": 60_000}},
        {"schedulerRuntime": {"trigger": {"graceMinutes": 5}}},
        {"schedulerRuntime": {"resourceGovernance": {"pixivAccounts": {"default": {"maxConcurrency": 2}}}}},
        {"jobs": {"callbacks": {"allowHttp": True}}},
        {"operations": {"notificationUrl": "http://x"}},
    ],
)
def test_everything_else_is_in_force_at_once(parts: dict[str, object]) -> None:
    candidate = settings(**parts)
    expected = msgspec.structs.replace(candidate, generation=8, manual_token=NOW.manual_token)
    assert decide(NOW, candidate) == Replace(expected)


def test_every_path_of_the_tables_leads_to_a_field() -> None:
    assert all(hasattr(NOW, part) for part in NEEDS_RESTART)
    for path in AT_START:
        part: object = NOW
        for name in path:
            part = getattr(part, name)
