"""The judge of repeats excuses a second arrival by a kill between claim and record, and by nothing else."""

from pathlib import Path
from typing import Any

import pytest

from tests.promises.evidence import Snapshot, Stop, snapshot
from tests.promises.ledgers import KEY, ROUTE, WORK, a_published_slot
from tests.whole import receipts

CLAIMED, DELIVERED = 1_000, 3_000


def a_receipt(count: int, *more: str) -> dict[str, Any]:
    bodies = [{"sha256": digest, "count": count} for digest in ("d", *more)]
    return {"kind": "webhook", "key": KEY, "arrivals": count, "bodies": bodies}


def killed(wall_ms: int, how: str = "KILL") -> Stop:
    return Stop(pid=1, signal=how, at=0, until=0, wall_ms=wall_ms)


@pytest.fixture
def final(tmp_path: Path) -> Snapshot:
    with a_published_slot(tmp_path / "l.db") as db:
        db.execute("UPDATE delivery_events SET ts = ? WHERE event = 'outbox.claimed'", (CLAIMED,))
        db.execute("UPDATE delivery_events SET ts = ? WHERE event = 'outbox.delivered'", (DELIVERED,))
    return snapshot(tmp_path / "l.db")


@pytest.mark.parametrize(
    ("count", "stops", "is_right"),
    [
        (1, (), True),
        (2, (), False),
        (2, (killed(2_000),), True),
        (3, (killed(2_000),), False),
        (2, (killed(CLAIMED - 1),), False),
        (2, (killed(DELIVERED + 1),), False),
        (2, (killed(2_000, "TERM"),), False),
    ],
)
def test_a_repeat_needs_a_kill_in_flight(final: Snapshot, count: int, stops: tuple[Stop, ...], is_right: bool) -> None:
    assert (receipts.repeats([a_receipt(count)], final, stops) == []) is is_right


def test_every_body_of_a_key_is_an_arrival_of_its_route_and_work(final: Snapshot) -> None:
    found = receipts.arrivals([a_receipt(2, "another")], final)
    assert [(each.route, each.key, each.digest, each.work) for each in found] == [
        ("channel", KEY, "d", WORK),
        ("channel", KEY, "another", WORK),
    ]
    assert ROUTE not in {each.route for each in found}, "the receiver's name for it decides"
