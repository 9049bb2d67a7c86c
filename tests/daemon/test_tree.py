"""The map of the actors, and the tree that a daemon grows from it."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.kit import Kind
from actors.kit.testing import Probe
from pixivflow.config.load import load
from pixivflow.daemon.program import Program
from pixivflow.daemon.tree import TREE, Body, children
from pixivflow.times import PRODUCTION

CORE = ["ledger", "runs", "slot_runner", "stall_sweeper", "scheduler", "outbox_pump"]
INTERNAL: dict[str, Any] = {"mode": "internal"}
EXTERNAL: dict[str, Any] = {"mode": "external"}


@pytest.fixture
def door() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        yield bound


def names(folder: Path, runtime: dict[str, Any], *sockets: socket.socket) -> list[str]:
    """Of the actors that a daemon with these settings starts, in their order."""
    config = folder / "config.json"
    target = {"id": "kept", "type": "illustration", "tag": "x", "limit": 1}
    config.write_text(json.dumps({"pixiv": {"refreshToken": "rt"}, "targets": [target], "schedulerRuntime": runtime}))
    program = Program(load(config, {}), sockets, Probe().hooks(), PRODUCTION, {})
    return [keeper.child.name for keeper in program.supervisor._keepers]


@pytest.mark.parametrize(
    ("runtime", "has_door", "more"),
    [
        (INTERNAL, False, ["config_watcher"]),
        (INTERNAL, True, ["control", "config_watcher"]),
        (EXTERNAL, True, ["control", "config_watcher"]),
        (EXTERNAL | {"exitWhenIdle": True}, True, ["control", "config_watcher", "idle"]),
    ],
    ids=["a clock inside", "with a door", "a clock outside", "that leaves when idle"],
)
async def test_the_settings_decide_which_actors_a_daemon_starts_and_never_their_order(
    tmp_path: Path, door: socket.socket, runtime: dict[str, Any], has_door: bool, more: list[str]
) -> None:
    assert names(tmp_path, runtime, *([door] if has_door else [])) == [*CORE, *more]


async def test_the_map_has_a_place_for_every_actor_and_no_other(tmp_path: Path, door: socket.socket) -> None:
    assert names(tmp_path, EXTERNAL | {"exitWhenIdle": True}, door) == [place.name for place in TREE]


def test_all_come_back_but_the_ledger_whose_batch_in_flight_nobody_knows() -> None:
    assert {place.kind for place in TREE} == {Kind.PERMANENT}
    assert [place.name for place in TREE if place.budget.intensity == 0] == ["ledger"]
    assert [place.name for place in TREE if place.is_foundation] == ["ledger"]


def test_a_body_without_a_place_is_an_error() -> None:
    async def nobody(_: object) -> None:
        return

    with pytest.raises(KeyError, match="lodger"):
        children({"lodger": Body(nobody)})
