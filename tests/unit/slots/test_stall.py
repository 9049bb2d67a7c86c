"""When a slot is beyond rescue."""

import pytest

from pixivflow.slots.model import Cell, CellStatus, ReasonCode, Slot, SlotStatus
from pixivflow.slots.stall import Budgets, end, verdict
from tests.fixtures.slots import HOUR, NOW, OTHER, a_cell, a_slot

R, C = ReasonCode, CellStatus
RUNNING = SlotStatus.RUNNING
LIMITS = Budgets()
OLD = NOW - 6 * HOUR


@pytest.mark.parametrize(
    ("slot", "reason"),
    [
        pytest.param(a_slot(created_at=NOW - LIMITS.queued_ms), R.QUEUED_TOO_LONG, id="queued for the whole budget"),
        pytest.param(a_slot(created_at=NOW - LIMITS.queued_ms + 1), None, id="queued for less"),
        pytest.param(a_slot(created_at=None), None, id="queued since nobody knows when"),
        pytest.param(
            a_slot(created_at=OLD, lease_owner=OTHER, lease_until=NOW + 1), None, id="queued, but just claimed"
        ),
        pytest.param(
            a_slot(status=RUNNING, heartbeat_at=NOW - LIMITS.stalled_ms, created_at=OLD),
            R.STALLED_NO_HEARTBEAT,
            id="no heartbeat for the whole budget",
        ),
        pytest.param(
            a_slot(status=RUNNING, heartbeat_at=NOW - LIMITS.stalled_ms + 1, created_at=OLD),
            None,
            id="a fresh heartbeat",
        ),
        pytest.param(
            a_slot(status=RUNNING, heartbeat_at=OLD, lease_owner=OTHER, lease_until=NOW + 1),
            None,
            id="six hours of work under a live lease",
        ),
        pytest.param(
            a_slot(status=RUNNING, started_at=OLD, created_at=NOW), R.STALLED_NO_HEARTBEAT, id="started, never beat"
        ),
        pytest.param(a_slot(status=RUNNING, started_at=NOW, created_at=OLD), None, id="started just now"),
        pytest.param(a_slot(status=RUNNING, created_at=OLD), R.STALLED_NO_HEARTBEAT, id="only its creation is known"),
        pytest.param(a_slot(status=SlotStatus.FAILED, created_at=OLD), None, id="ended"),
        pytest.param(a_slot(status=SlotStatus.SUCCESS, created_at=OLD), None, id="published"),
    ],
)
def test_a_slot_is_beyond_rescue_when_its_lease_and_its_progress_are_both_dead(
    slot: Slot, reason: ReasonCode | None
) -> None:
    assert verdict(slot, LIMITS, NOW) is reason


@pytest.mark.parametrize(
    ("cells", "status", "failed", "is_verdict"),
    [
        pytest.param([a_cell(), a_cell("b")], SlotStatus.FAILED, 2, True, id="nothing was done"),
        pytest.param([a_cell("a", C.SUBMITTED), a_cell("b")], SlotStatus.PARTIAL, 1, True, id="some was"),
        pytest.param([a_cell("a", C.DELIVERY_PENDING)], SlotStatus.FAILED, 0, True, id="a delivery keeps its own life"),
        pytest.param([], SlotStatus.FAILED, 0, True, id="no cells at all"),
        pytest.param([a_cell("a", C.SUBMITTED)], SlotStatus.SUCCESS, 0, False, id="all done, never added up"),
    ],
)
def test_a_slot_beyond_rescue_ends_with_what_it_has(
    cells: list[Cell], status: SlotStatus, failed: int, is_verdict: bool
) -> None:
    plan, found = end(cells, R.STALLED_NO_HEARTBEAT)
    assert (plan.status, len(plan.changes), found) == (status, failed, is_verdict)
    assert all(change.reason is R.STALLED_NO_HEARTBEAT for change in plan.changes)
