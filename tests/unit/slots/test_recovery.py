"""What a slot that nobody runs needs."""

import pytest

from actors.ports import Course
from pixivflow.slots.model import Cell, CellStatus, Confirmed, Downstream, Live, Lost, Slot, SlotStatus, Unknown
from pixivflow.slots.recovery import course, is_candidate
from tests.fixtures.slots import NOW, OTHER, WORK, A, B, a_cell, a_slot

C = CellStatus
CONFIRMED, LOST = Confirmed(WORK), Lost("dead")


@pytest.mark.parametrize(
    ("a", "b", "needed"),
    [
        pytest.param((C.PENDING, None), (C.SUBMITTED, None), Course.DISPATCH, id="a cell is still to be run"),
        pytest.param((C.SELECTED, None), (C.DELIVERY_PENDING, Live()), Course.DISPATCH, id="one of them is"),
        pytest.param((C.DELIVERY_PENDING, Unknown()), (C.SUBMITTED, None), Course.DISPATCH, id="a promise never made"),
        pytest.param((C.DELIVERY_PENDING, Live()), (C.SUBMITTED, None), Course.WAIT, id="a delivery is on its way"),
        pytest.param((C.DELIVERY_PENDING, Live()), (C.DELIVERY_PENDING, Live()), Course.WAIT, id="both are"),
        pytest.param((C.DELIVERY_PENDING, CONFIRMED), (C.SUBMITTED, None), Course.SETTLE, id="it has arrived"),
        pytest.param((C.DELIVERY_PENDING, LOST), (C.SUBMITTED, None), Course.SETTLE, id="it is lost"),
        pytest.param((C.DELIVERY_PENDING, LOST), (C.DELIVERY_PENDING, Live()), Course.SETTLE, id="one of two is"),
        pytest.param((C.SUBMITTED, None), (C.FAILED, None), Course.SETTLE, id="every cell has ended"),
    ],
)
def test_a_slot_is_dispatched_settled_or_left_alone(
    a: tuple[CellStatus, Downstream | None], b: tuple[CellStatus, Downstream | None], needed: Course
) -> None:
    cells: list[Cell] = [a_cell("a", a[0]), a_cell("b", b[0])]
    said = {target: answer for target, answer in ((A, a[1]), (B, b[1])) if answer is not None}
    assert course(cells, said) is needed


@pytest.mark.parametrize(
    ("slot", "candidate"),
    [
        (a_slot(), True),
        (a_slot(status=SlotStatus.RUNNING, lease_owner=OTHER, lease_until=NOW), True),
        (a_slot(status=SlotStatus.RUNNING, lease_owner=OTHER, lease_until=NOW + 1), False),
        (a_slot(status=SlotStatus.FAILED), False),
        (a_slot(status=SlotStatus.SUCCESS), False),
        (a_slot(status=SlotStatus.EXPIRED), False),
    ],
)
def test_recovery_looks_at_what_is_unfinished_and_owned_by_nobody(slot: Slot, candidate: bool) -> None:
    assert is_candidate(slot, NOW) is candidate
