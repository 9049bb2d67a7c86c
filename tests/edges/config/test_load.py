"""From a file to a snapshot."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pixivflow.config.load import ConfigInvalid, Loaded, examine, load
from pixivflow.config.mask import Secret
from pixivflow.config.model import Webhook
from tests.edges.config.conftest import NOBODY, Write
from tests.fixtures.documents import a_document, a_schedule, a_target, a_webhook, said


def case(number: int) -> pytest.MarkDecorator:
    return pytest.mark.case("operate", number)


def test_the_defaults_are_those_that_are_promised(write: Write) -> None:
    settings = load(write({"targets": []}), NOBODY).settings
    home = settings.storage.database_path.parent.parent
    assert settings.generation == 1
    network = settings.network
    assert (network.timeout_ms, network.retries, network.request_pacing_ms) == (30_000, 3, None)
    assert (settings.download.candidate_scan_limit, settings.download.timeout_ms) == (5, None)
    assert (settings.delivery.outbox_retry_base_ms, settings.delivery.outbox_retry_max_ms) == (30_000, 21_600_000)
    runtime = settings.scheduler_runtime
    assert (runtime.mode, runtime.queue_limit, runtime.idle_grace_ms) == ("internal", 8, 600_000)
    assert (runtime.trigger.enabled, runtime.trigger.host, runtime.trigger.port) == (False, "127.0.0.1", 8090)
    assert settings.storage.illustration_directory == home / "downloads/illustrations"
    assert settings.storage.database_path == home / "data/pixiv-downloader.db"


def test_a_whole_configuration_arrives_with_its_types(write: Write) -> None:
    target = a_target(storageMode="cache", delivery={"targets": ["hook"], "fields": {"n": 1, "l": ["a"]}}, limit=5)
    document = a_document(
        targets=[target],
        delivery={"targets": {"hook": a_webhook(token="${T}", headers={"X": "y"})}},
        schedules=[a_schedule(targetIds=["sky"], timeout=60_000)],
        _comment="mine",
    )
    settings = load(write(document), NOBODY).settings
    assert settings.targets[0].routes == ("hook",)
    assert settings.targets[0].delivery.fields == {"n": 1, "l": ("a",)}
    assert settings.schedules[0].timeout_ms == 60_000
    route = settings.delivery.targets[settings.targets[0].routes[0]]
    assert isinstance(route, Webhook)
    assert (route.token, route.headers) == (Secret("${T}"), {"X": Secret("y")})


def test_a_time_that_is_written_counts_as_written_also_where_it_is_a_usual_one(loaded: Callable[..., Loaded]) -> None:
    assert loaded(download={"timeout": 60_000}).settings.download.timeout_ms == 60_000


def test_unknown_keys_are_kept_and_warned_about(write: Write) -> None:
    document = a_document(foo={"bar": 1}, _note="x")
    result = load(write(document), NOBODY)
    assert [str(each) for each in result.warnings] == ["foo: this key means nothing here"]
    assert result.document == document


def test_a_file_is_never_written_to(write: Write) -> None:
    path = write({"targets": [], "scheduler": {"enabled": True}})
    before = path.read_bytes(), path.stat().st_mtime_ns
    load(path, {"PIXIV_REFRESH_TOKEN": "x" * 20})
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@case(5)
def test_a_newer_file_is_refused_and_left_alone(write: Write) -> None:
    path = write(a_document(schemaVersion=99))
    before = path.read_bytes()
    with pytest.raises(ConfigInvalid) as caught:
        load(path, NOBODY)
    assert said(caught.value.report) == ["E:SCHEMA_VERSION_UNSUPPORTED schemaVersion"]
    assert path.read_bytes() == before


def test_every_fault_is_told_at_once_also_those_of_the_writing(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"targets": [], "logLevel": "a", "logLevel": "b", "schemaVersion": -1}')
    with pytest.raises(ConfigInvalid) as caught:
        load(path, NOBODY)
    assert said(caught.value.report) == [
        "E:DUPLICATE_KEY logLevel",
        "E:SCHEMA_VERSION_INVALID schemaVersion",
        "E:LOG_LEVEL_INVALID logLevel",
    ]
    assert str(path) in str(caught.value)
    assert said(examine(path, NOBODY)) == said(caught.value.report)


@case(35)
def test_the_old_plan_is_not_read_beside_new_ones(loaded: Callable[..., Loaded]) -> None:
    result = loaded(scheduler={"enabled": True}, schedules=[a_schedule()])
    assert [each.id for each in result.settings.schedules] == ["nightly"]
    assert [each.code for each in result.warnings] == ["CONFIG_VALIDATION_LEGACY_SCHEDULER_IGNORED"]


def test_the_old_plan_is_the_plan_default(loaded: Callable[..., Loaded]) -> None:
    (plan,) = loaded(scheduler={"enabled": True, "timeout": 5_000}).settings.schedules
    assert (plan.id, plan.enabled, plan.cron, plan.timezone) == ("default", True, "0 3 * * *", "Asia/Shanghai")
    assert (plan.timeout_ms, plan.target_ids) == (5_000, ())
    (unspoken,) = loaded().settings.schedules
    assert (unspoken.id, unspoken.enabled) == ("default", False)
    assert loaded(schedules=[]).settings.schedules == ()


def test_an_external_clock_forces_the_trigger_on_and_catching_up_off(loaded: Callable[..., Loaded]) -> None:
    runtime = {"mode": "external", "exitWhenIdle": True, "catchUpMissedRuns": True}
    result = loaded(schedulerRuntime=runtime)
    used = result.settings.scheduler_runtime
    assert (used.trigger.enabled, used.catch_up_missed_runs, used.exit_when_idle) == (True, False, True)
    assert result.warnings == ()
    inside = loaded(schedulerRuntime={"exitWhenIdle": True}).settings.scheduler_runtime
    assert (inside.trigger.enabled, inside.catch_up_missed_runs, inside.exit_when_idle) == (False, True, False)


@case(37)
def test_a_budget_of_liveness_that_is_too_small_is_replaced(loaded: Callable[..., Loaded]) -> None:
    result = loaded(schedulerRuntime={"queuedTimeoutMs": 5000})
    assert result.settings.scheduler_runtime.queued_timeout_ms == 1_800_000
    assert [each.field for each in result.warnings] == ["schedulerRuntime.queuedTimeoutMs"]


def test_the_least_concurrency_is_not_above_the_concurrency(loaded: Callable[..., Loaded]) -> None:
    assert loaded(download={"concurrency": 2, "minConcurrency": 5}).settings.download.min_concurrency == 2
