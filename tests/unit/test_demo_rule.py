"""When a round of the demo was whole: all cells submitted, every delivery arrived once and no more, a clean end."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from pixivflow.cli.play import ROUTES, Played
from pixivflow.ledger.story import CellStory, DeliveryStory, SlotStory, Story

CELLS = tuple(
    CellStory(target_id=name, status="submitted", work_id=work, error=None, stored_count=0)
    for name, work in (("a", None), ("b", "12"))
)
DELIVERIES = tuple(
    DeliveryStory(
        route=route,
        work_id="12",
        status="delivered",
        key=f"key-{route}",
        remote_id=None,
        attempts=1,
        error=None,
        next_attempt_at=None,
    )
    for route in ROUTES
)
RECEIPTS = {(ROUTES[each.route], each.key): 1 for each in DELIVERIES}


def a_story(cells: tuple[CellStory, ...] = CELLS, deliveries: tuple[DeliveryStory, ...] = DELIVERIES) -> Story:
    slot = SlotStory(id="demo@2026-01-01T0000", status="success", business_status="success", cells=cells)
    return Story(open_slots=0, owed_rows=0, slots=(slot,), files=(), deliveries=deliveries)


def a_round(**changed: Any) -> Played:
    whole = Played(
        story=a_story(),
        receipts=RECEIPTS,
        exit_reason="idle",
        exit_code=0,
        duration_ms=1_000,
        directory=Path("demo"),
        ledger=Path("demo/ledger.db"),
    )
    return msgspec.structs.replace(whole, **changed)


def one_is(status: str) -> Story:
    return a_story(cells=(CELLS[0], msgspec.structs.replace(CELLS[1], status=status)))


FIRST, SECOND = RECEIPTS


def test_a_round_in_which_everything_came_once_is_whole() -> None:
    assert a_round().is_whole


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"exit_code": 1}, id="the daemon failed"),
        pytest.param({"story": a_story(cells=())}, id="nothing was to be done"),
        pytest.param({"story": msgspec.structs.replace(a_story(), slots=())}, id="no slot was opened"),
        pytest.param({"story": one_is("failed")}, id="a cell failed"),
        pytest.param({"story": one_is("no_candidate")}, id="a cell found nothing"),
        pytest.param({"story": one_is("delivery_pending")}, id="a cell still waits"),
        pytest.param({"story": one_is("duplicate")}, id="a cell found what was there"),
        pytest.param({"story": a_story(deliveries=())}, id="nothing was promised"),
        pytest.param({"story": a_story(deliveries=DELIVERIES[:1])}, id="a route was forgotten"),
        pytest.param({"receipts": {}}, id="nothing arrived"),
        pytest.param({"receipts": {FIRST: 1}}, id="one delivery did not arrive"),
        pytest.param({"receipts": {FIRST: 1, SECOND: 2}}, id="one delivery arrived twice"),
        pytest.param({"receipts": {FIRST: 1, (SECOND[0], "other"): 1}}, id="one delivery arrived under another key"),
        pytest.param({"receipts": {FIRST: 1, ("elsewhere", SECOND[1]): 1}}, id="one delivery arrived somewhere else"),
    ],
)
def test_whatever_is_missing_or_too_much_makes_it_less_than_whole(changed: dict[str, Any]) -> None:
    assert not a_round(**changed).is_whole
