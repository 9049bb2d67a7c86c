"""What the settings ask of the work of a run, and of a download by hand, is what is done."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from pixivflow.config.load import load
from pixivflow.daemon.adhoc import bring
from tests.daemon.house import FIVE, ONE, House, Parts, living, named

DETAIL = "/v1/illust/detail"


async def by_a_run(house: House) -> None:
    await house.run()


async def by_hand(house: House) -> None:
    brought = await bring(load(house.path, {}).settings, ONE, house.clock, house.probe.note, {})
    assert brought.error is not None


@pytest.fixture
def clock(autojump_clock: MockClock) -> MockClock:
    """A virtual clock that lets threads work: to it they look idle."""
    autojump_clock.autojump_threshold = 0.2
    return autojump_clock


@pytest.mark.parametrize("bringing", [by_a_run, by_hand])
@pytest.mark.parametrize(("written", "tries"), [({"maxRetries": 0}, 1), ({"maxRetries": 2}, 2), ({"maxRetries": 5}, 5)])
async def test_a_work_is_tried_as_often_as_the_settings_say_and_once_at_least(
    bringing: Callable[[House], Awaitable[None]],
    written: dict[str, int],
    tries: int,
    tmp_path: Path,
    clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with living(tmp_path, {"download": written}, monkeypatch) as house:
        house.played.fault("status", match={"route": DETAIL}, code=500)
        await bringing(house)
        assert len(house.played.paths(DETAIL)) == tries


@pytest.mark.parametrize("bringing", [by_a_run, by_hand])
async def test_the_pauses_between_the_attempts_at_a_work_grow_from_the_one_that_is_written(
    bringing: Callable[[House], Awaitable[None]], tmp_path: Path, clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {"download": {"maxRetries": 4, "retryDelay": 7_000}}
    async with living(tmp_path, parts, monkeypatch) as house:
        house.played.fault("status", match={"route": DETAIL}, code=500)
        await bringing(house)
        times = house.played.times(DETAIL)
        assert [round(at - times[0]) for at in times] == [0, 7, 7 + 14, 7 + 14 + 28]


async def test_the_pictures_of_a_promised_work_carry_the_namespace_that_is_written(
    tmp_path: Path, clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = named(ONE, storageMode="cache", delivery={"target": "channel"})
    routes = {"targets": {"channel": {"type": "webhook", "url": "http://127.0.0.1:8000/sink/webhook"}}}
    parts = {"targets": [target], "delivery": routes, "download": {"assetNamespace": "mine"}}
    async with living(tmp_path, parts, monkeypatch) as house:
        await house.run()
        [(payload,)] = await house.rows("SELECT payload_json FROM outbox")
    assert [asset["id"] for asset in json.loads(payload)["mediaAssets"]] == [f"mine:{ONE}:illust:page-1"]


async def test_pages_that_a_failed_run_left_whole_are_used_by_the_next_one_whatever_its_settings(
    tmp_path: Path, clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: Parts = {"targets": [named(FIVE)], "download": {"concurrency": 1}}
    async with living(tmp_path, parts, monkeypatch) as house:
        house.played.fault("status", match={"kind": "img", "page": 4}, code=500, count=1)
        await house.run()
        before = len(house.played.paths("/img/"))
        house.reload({**parts, "download": {"concurrency": 2}})
        await house.run()
        assert len(house.played.paths("/img/")) - before == 5 - (before - 1)


CARRIED = ("bot_id", "schedule_id", "slot_id", "target_id", "pixiv_id", "stage")


def carried(line: dict[str, Any]) -> dict[str, Any]:
    return {key: line[key] for key in CARRIED if key in line}


async def test_a_line_from_deep_inside_a_run_names_its_plan_slot_target_and_work(
    tmp_path: Path, clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: Parts = {"targets": [named(ONE), {"id": "found", "type": "illustration", "tag": "風景", "limit": 1}]}
    async with living(tmp_path, parts, monkeypatch) as house:
        house.played.fault("status", match={"route": DETAIL}, code=500, count=1)
        house.played.fault("status", match={"route": "/v1/search/illust"}, code=500, count=1)
        slot = await house.run()
        house.note("pixiv.attempt_failed", source="nobody's")
        lines = [carried(line) for line in house.lines("pixiv.attempt_failed")]
    run = {"bot_id": "nightly", "schedule_id": "nightly", "slot_id": slot}
    assert lines == [
        {**run, "target_id": f"w{ONE}", "pixiv_id": f"{ONE}", "stage": "download"},
        {**run, "target_id": "found", "stage": "candidate_selection"},
        {},
    ]


async def test_pictures_that_are_fetched_side_by_side_name_their_work_and_two_runs_do_not_mix(
    tmp_path: Path, clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with living(tmp_path, {"targets": [named(FIVE)]}, monkeypatch) as house:
        house.played.fault("status", match={"kind": "img"}, code=500)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.run)
            nursery.start_soon(house.run)
        lines = [carried(line) for line in house.lines("download.attempt_failed")]
        failed = [carried(line) for line in house.lines("work.failed")]
    assert {line["pixiv_id"] for line in lines} == {f"{FIVE}"}
    assert {line["slot_id"] for line in lines} == {"nightly@1", "nightly@2"}
    assert sorted(line["slot_id"] for line in failed) == ["nightly@1", "nightly@2"]
