"""What is asked for in vain is said before the first run, and not found out by waiting."""

import json
from pathlib import Path
from typing import Any

import pytest

from pixivflow.daemon.gaps import UNSERVED, gaps, with_gaps
from pixivflow.daemon.program import whole_reader
from tests.daemon.configured import loaded
from tests.daemon.readers import is_read, is_read_as_written, places
from tests.fixtures.documents import a_multipart, a_telegram, a_webhook

TOKEN = "a-token-that-could-be-one"

CARRIED = {"delivery.deleteAfterDelivery"}
"""Keys that are read, kept with every promise, and acted on by nobody yet."""

KEYS = [row.key for row in UNSERVED]


def fields(environ: dict[str, str] | None = None, **parts: Any) -> list[str]:
    parts["pixiv"] = {"refreshToken": TOKEN, **parts.get("pixiv", {})}
    return [each.field for each in gaps(loaded(environ, **parts))]


def of_target(**more: Any) -> list[str]:
    return fields(targets=[{"id": "t", "type": "illustration", "tag": "x", **more}])


def of_route(route: dict[str, Any]) -> list[str]:
    return [each.removeprefix("delivery.targets.r") for each in fields(delivery={"targets": {"r": route}})]


def is_covered(place: str) -> bool:
    return any(place == key or place.startswith((f"{key}.", f"{key}[", f"{key}{{")) for key in KEYS)


def test_a_configuration_that_is_served_whole_has_no_gap() -> None:
    sky = {"id": "sky", "type": "illustration", "tag": "x", "limit": 1, "excludeAI": True}
    sent = {**sky, "id": "sent", "storageMode": "cache", "delivery": {"targets": ["r"]}}
    assert fields(targets=[sky, sent], delivery={"targets": {"r": a_webhook()}}, schedules=[]) == []


def test_every_accepted_key_is_read_by_somebody_or_said_to_be_asked_for_in_vain() -> None:
    silent = [
        place
        for place, way in places()
        if not is_read(way) and not is_covered(place) and not is_read_as_written(place.rpartition(".")[2])
    ]
    assert silent == ["_manualToken"]  # a variable of the environment; the next test but one


def test_no_key_that_is_read_is_said_to_be_asked_for_in_vain() -> None:
    assert {place for place, way in places() if is_read(way) and is_covered(place)} == CARRIED


def test_a_token_for_routes_that_are_not_there_is_named_by_its_variable() -> None:
    assert fields({"PIXIVFLOW_REFETCH_TOKEN": TOKEN}) == ["PIXIVFLOW_REFETCH_TOKEN"]


def test_keys_of_old_files_that_no_longer_do_anything_are_named() -> None:
    assert of_route(a_multipart(maxAttempts=3, retryDelayMs=1)) == [".maxAttempts", ".retryDelayMs"]


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"initialDelay": 5}, "initialDelay"),
        ({"download": {"dynamicConcurrency": True}}, "download.dynamicConcurrency"),
        ({"download": {"materializationPolicy": "on-demand"}}, "download.materializationPolicy"),
        ({"storage": {"cacheRetentionDays": 3}}, "storage.cacheRetentionDays"),
        ({"storage": {"novelDirectory": "novels"}}, "storage.novelDirectory"),
        ({"delivery": {"deleteAfterDelivery": True}}, "delivery.deleteAfterDelivery"),
        ({"jobs": {"callbacks": {"allowHosts": ["h"]}}}, "jobs"),
        ({"tokenMaintenance": {"refreshInterval": 90_000_000}}, "tokenMaintenance"),
        ({"operations": {"notificationUrl": "https://ops.example.test"}}, "operations.notificationUrl"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_key_that_nothing_reads_is_named_by_its_place(part: dict[str, Any], field: str) -> None:
    assert fields(**part) == [field]


@pytest.mark.parametrize(
    "part",
    [
        {"initialDelay": 0},
        {"download": {"dynamicConcurrency": False, "materializationPolicy": "eager", "novelEpub": "off"}},
        {"storage": {"cacheRetentionDays": 0, "cacheMaxSizeMB": 0}},
        {"delivery": {"deleteAfterDelivery": False}},
        {"tokenMaintenance": {"enabled": False}},
        {"jobs": {}},
        {"pixiv": {"deviceToken": "pixiv"}},
        {"operations": {"notificationUrl": None}},
    ],
)
def test_who_asks_for_what_happens_anyway_is_told_nothing(part: dict[str, Any]) -> None:
    assert fields(**part) == []


def test_what_is_asked_of_a_target_in_vain_is_named_with_the_target() -> None:
    assert of_target(noMatchPolicy={"lookbackDays": 2}) == ["targets[0].noMatchPolicy.lookbackDays"]
    assert of_target(languageFilter="chinese", aiMetadataCheck=True) == [
        "targets[0].aiMetadataCheck",
        "targets[0].languageFilter",
    ]


def test_what_is_asked_of_a_route_in_vain_is_named_with_the_route() -> None:
    assert of_route(a_multipart(notificationUrl="http://n.test")) == [".notificationUrl"]
    assert of_route(a_multipart(capabilities={"image": False})) == [".capabilities"]
    assert of_route(a_webhook(pairingUrl="https://p.test", capabilities={"image": False})) == [".pairingUrl"]


def test_a_route_to_telegram_is_said_to_deliver_nothing_and_by_nobody_to_be_served() -> None:
    whole = with_gaps(loaded(delivery={"targets": {"r": a_telegram()}}))
    said = {each.field: each.message for each in whole.warnings}
    assert said["delivery.targets.r.type"] == "telegram is no longer advised"
    assert said["delivery.targets.r"].startswith("nothing is delivered to it")


async def test_a_file_that_is_read_again_says_so_again(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"targets": [], "initialDelay": 5, "pixiv": {"refreshToken": TOKEN}}))
    again = await whole_reader(path, {})()
    assert [each.field for each in again.warnings] == ["initialDelay"]


def test_no_key_is_warned_of_twice() -> None:
    whole = with_gaps(loaded(targets=[{"id": "t", "type": "illustration", "tag": "x", "restrict": "private"}]))
    assert [each.field for each in whole.warnings].count("targets[0].restrict") == 1


def test_a_missing_token_is_named() -> None:
    assert fields(pixiv={"refreshToken": "YOUR_REFRESH_TOKEN"}) == ["pixiv.refreshToken"]


def test_a_target_whose_works_would_never_be_delivered_is_named() -> None:
    silent = {"id": "t", "type": "illustration", "tag": "x", "delivery": {"targets": ["r"]}}
    assert fields(targets=[silent], delivery={"targets": {"r": a_webhook()}}) == ["targets[0].delivery"]


@pytest.mark.parametrize(
    ("target", "field"),
    [({"type": "novel"}, "type"), ({"mode": "follow"}, "mode"), ({"userId": "12"}, "userId")],
    ids=["novels", "what one follows", "works of a user"],
)
def test_a_target_of_a_kind_that_is_not_served_yet_is_named(target: dict[str, Any], field: str) -> None:
    assert of_target(**target) == [f"targets[0].{field}"]
