"""Every key of the settings is in force where the reload says so: after it a daemon does what a restarted one would."""

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path as File
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from pixivflow.config.model import Settings
from pixivflow.config.watch.decide import AT_START, NEEDS_RESTART, spelled
from pixivflow.daemon.gaps import UNSERVED
from pixivflow.delivery.model import RetryableFailure
from pixivflow.ids import RouteName
from tests.daemon.house import BASES, FIVE, ONE, PLAN, House, Parts, living, named

Path = tuple[str, ...]
ROOT = File(__file__).parents[2]
SINK = BASES.app.replace("/app", "/sink")
OF_NO_FILE = ("generation", "manual_token")
"""Fields of a snapshot that no file can change."""
SEARCH, DETAIL, IMAGE = "/v1/search/illust", "/v1/illust/detail", "/img/"


@dataclass(frozen=True)
class Effect:
    """A key, written in two ways, and what can be seen of it."""

    written: Parts
    changed: Parts
    seen: Callable[[House], Awaitable[object]]


# --- what can be seen ---


async def tries(house: House) -> object:
    """When a work that does not come is asked for."""
    house.played.fault("status", match={"route": DETAIL}, code=500)
    await house.run()
    return gaps(house.played.times(DETAIL))


async def tried(house: House) -> object:
    """How many works of a list are tried, when none of them is there."""
    house.played.fault("status", match={"route": DETAIL}, code=404)
    await house.run()
    return len(house.played.paths(DETAIL))


async def lists(house: House) -> object:
    """Which lists are asked for."""
    await house.run()
    return [request.url.params["word"] for _, request in house.played.sent if SEARCH in request.url.path]


async def pauses(house: House) -> object:
    """The pauses between the pages of a list, and between the starts of the pictures of a work."""
    await house.run()
    return gaps(house.played.times(SEARCH)), gaps(house.played.times(IMAGE))


async def pictures(house: House) -> object:
    """How many pictures are asked for at once, and how long is waited for one that does not come."""
    house.played.fault("stall", match={"kind": "img"}, after_bytes=100)
    began = trio.current_time()
    await house.run()
    return len(house.played.paths(IMAGE)), round(trio.current_time() - began)


async def promise(house: House) -> object:
    """What is promised of the files of a delivered work."""
    await house.run()
    [(payload,)] = await house.rows("SELECT payload_json FROM outbox")
    return json.loads(payload).get("deleteAfterDelivery")


async def next_attempt(house: House) -> object:
    """When a delivery is tried again of which the receiver says to come back in an hour, and one without a wish."""
    await house.run()
    now, waits = house.clock.now_ms(), []
    for wish in (None, 3_600_000):
        [row] = await house.outbox.claim("channel", 1, "worker-1-aaaaaaaa", now)
        await house.outbox.record(row, RetryableFailure(error="x", retry_after_ms=wish), "worker-1-aaaaaaaa", now)
        [(due,)] = await house.rows("SELECT next_attempt_at FROM outbox")
        waits.append(due - now)
        now = due
    return waits


async def readiness(house: House) -> object:
    """Whether the receiver of a route is asked if it is ready."""
    await house.program.ground.ready(RouteName("channel"))
    return len(house.played.paths("/sink/ready"))


async def plans(house: House) -> object:
    return {plan.id: plan.cron for plan in house.program.ground.plans().values()}


async def governance(house: House) -> object:
    return house.program.ground.governance()


async def budgets(house: House) -> object:
    return house.program.ground.budgets()


async def grace(house: House) -> object:
    """How late a trigger may come, as the door that stands open sees it."""
    return house.door.runtime().trigger.grace_minutes


async def lines(house: House) -> object:
    """Whether a quiet event is a line of the log."""
    house.log.note("actor.stopping")
    return "actor.stopping" in house.log_text.getvalue()


def gaps(times: list[float]) -> list[int]:
    return [round(later - earlier) for earlier, later in pairwise(times)]


# --- the table ---


def download(seen: Callable[[House], Awaitable[object]], key: str, one: int, other: int, **more: Any) -> Effect:
    targets = {"targets": more.pop("targets", [named(ONE)])}
    return Effect({"download": {**more, key: one}, **targets}, {"download": {**more, key: other}, **targets}, seen)


def delivery(seen: Callable[[House], Awaitable[object]], one: Parts, other: Parts) -> Effect:
    return Effect(delivered(one), delivered(other), seen)


def delivered(said: Parts) -> Parts:
    """A work that goes to the route `channel`, with what is `said` of deliveries and, as `channel`, of the route."""
    more = {key: value for key, value in said.items() if key != "channel"}
    route = {"type": "httpMultipart", "url": f"{SINK}/submissions", **said.get("channel", {})}
    target = named(ONE, storageMode="cache", delivery={"target": "channel"})
    return {"targets": [target], "delivery": {"targets": {"channel": route}, **more}}


def runtime(seen: Callable[[House], Awaitable[object]], one: Parts, other: Parts) -> Effect:
    return Effect({"schedulerRuntime": one}, {"schedulerRuntime": other}, seen)


def a_search(tag: str = "風景", **more: Any) -> dict[str, Any]:
    return {"id": "found", "type": "illustration", "tag": tag, "limit": 1, **more}


def a_plan(cron: str) -> Parts:
    return {"schedules": [{"id": PLAN, "cron": cron, "timezone": "UTC", "enabled": True}]}


NOTHING = a_search(minBookmarks=10**9)
"""A search that takes nothing of what it finds."""

AT_ONCE: dict[Path, Effect] = {
    ("log_level",): Effect({"logLevel": "info"}, {"logLevel": "debug"}, lines),
    ("download", "concurrency"): download(pictures, "concurrency", 3, 1, timeout=5_000, targets=[named(FIVE)]),
    ("download", "request_delay_ms"): download(
        pauses, "requestDelay", 1_000, 3_000, maxFallbackStages=1, targets=[NOTHING, named(FIVE)]
    ),
    ("download", "max_retries"): download(tries, "maxRetries", 2, 4),
    ("download", "retry_delay_ms"): download(tries, "retryDelay", 3_000, 7_000, maxRetries=3),
    ("download", "timeout_ms"): download(pictures, "timeout", 60_000, 9_000),
    ("download", "candidate_scan_limit"): download(
        tried, "candidateScanLimit", 2, 4, maxFallbackStages=1, targets=[a_search()]
    ),
    ("download", "max_fallback_stages"): download(lists, "maxFallbackStages", 1, 3, targets=[NOTHING]),
    ("targets",): Effect({"targets": [a_search()]}, {"targets": [a_search("海")]}, lists),
    ("delivery", "targets"): delivery(readiness, {}, {"channel": {"readinessUrl": f"{SINK}/ready"}}),
    ("delivery", "delete_after_delivery"): delivery(
        promise, {"deleteAfterDelivery": True}, {"deleteAfterDelivery": False}
    ),
    ("delivery", "outbox_retry_base_ms"): delivery(next_attempt, {}, {"outboxRetryBaseMs": 90_000}),
    ("delivery", "outbox_retry_max_ms"): delivery(next_attempt, {}, {"outboxRetryMaxMs": 40_000}),
    ("schedules",): Effect(a_plan("0 3 * * *"), a_plan("0 4 * * *"), plans),
    ("scheduler_runtime", "queue_limit"): runtime(governance, {"queueLimit": 8}, {"queueLimit": 2}),
    ("scheduler_runtime", "queued_timeout_ms"): runtime(budgets, {}, {"queuedTimeoutMs": 70_000}),
    ("scheduler_runtime", "stall_timeout_ms"): runtime(budgets, {}, {"stallTimeoutMs": 70_000}),
    ("scheduler_runtime", "trigger", "grace_minutes"): runtime(grace, {}, {"trigger": {"graceMinutes": 5}}),
    ("scheduler_runtime", "resource_governance", "pixiv_accounts"): runtime(
        governance, {}, {"resourceGovernance": {"pixivAccounts": {"default": {"maxConcurrency": 2}}}}
    ),
}
"""Every key that a reload puts in force at once, by its field."""


@pytest.mark.parametrize("path", AT_ONCE, ids=".".join)
async def test_a_reloaded_key_does_at_once_what_a_restart_would_make_it_do(
    path: Path, tmp_path: File, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    effect, seen = AT_ONCE[path], {}
    for name, written, changed in (
        ("before", effect.written, None),
        ("reloaded", effect.written, effect.changed),
        ("restarted", effect.changed, None),
    ):
        async with living(tmp_path / name, written, monkeypatch) as house:
            await house.warm()
            if changed is not None:
                assert house.reload(changed).waiting == ()
            seen[name] = await effect.seen(house)
    assert seen["reloaded"] == seen["restarted"]
    assert seen["reloaded"] != seen["before"]


def test_every_key_is_in_force_at_once_or_waits_for_a_restart_or_is_named_as_not_served() -> None:
    known = [path for path in leaves(Settings()) if path[0] not in (*NEEDS_RESTART, *OF_NO_FILE)]
    assert {*AT_ONCE, *AT_START, *filter(is_unserved, known)} == set(known)
    assert set(AT_ONCE).isdisjoint(AT_START)


async def test_a_run_keeps_the_settings_that_it_began_with(
    tmp_path: File, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: Parts = {"download": {"maxRetries": 3, "retryDelay": 5_000}}
    async with living(tmp_path, parts, monkeypatch) as house:
        house.played.fault("status", match={"route": DETAIL}, code=500)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.run)
            await house.probe.until("work.failed")
            house.reload({"download": {"maxRetries": 1, "retryDelay": 0}})
        assert gaps(house.played.times(DETAIL)) == [5, 10]


def is_unserved(path: Path) -> bool:
    place = f"{spelled(Settings(), path)}."
    return any(place.startswith(f"{row.key}.") for row in UNSERVED)


def leaves(part: msgspec.Struct, path: Path = ()) -> Iterator[Path]:
    """Every field that holds a value and no further part."""
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, msgspec.Struct):
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name)
