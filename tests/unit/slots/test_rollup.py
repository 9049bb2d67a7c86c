"""What becomes of a slot once its cells have been looked at."""

from itertools import product

import pytest

from pixivflow.ids import TargetId
from pixivflow.slots.model import (
    IN_DELIVERY,
    TERMINAL_CELL,
    CellStatus,
    Confirmed,
    Downstream,
    Live,
    Lost,
    ReasonCode,
    SlotStatus,
    Unknown,
)
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.rollup import DID_NOT_COMPLETE, aggregate, force, forced, left_to_run, roll_up, settled
from tests.fixtures.slots import WORK, A, a_cell

C = CellStatus
SEVERAL = [states for n in range(4) for states in product(CellStatus, repeat=n)]


def test_cells_add_up_to_one_status_whatever_their_order() -> None:
    for states in SEVERAL:
        found = aggregate(states)
        if not states:
            assert found is SlotStatus.PENDING
        elif not TERMINAL_CELL.issuperset(states):
            assert found is SlotStatus.RUNNING
        elif set(states) == {C.SUBMITTED}:
            assert found is SlotStatus.SUCCESS
        elif C.SUBMITTED in states:
            assert found is SlotStatus.PARTIAL
        else:
            assert found is SlotStatus.FAILED
        assert found is aggregate(reversed(states))


def test_a_forced_end_is_always_an_end_and_hides_no_publication() -> None:
    for states in SEVERAL:
        found, plain = forced(states), aggregate(states)
        assert found is (SlotStatus.FAILED if plain in (SlotStatus.RUNNING, SlotStatus.PENDING) else plain)


@pytest.mark.parametrize("state", CellStatus)
def test_a_run_that_ends_fails_what_it_did_not_finish_and_nothing_else(state: CellStatus) -> None:
    plan = roll_up([a_cell("a", state)], (), ReasonCode.INTERNAL_ERROR)
    touched = [change.to for change in plan.changes]
    assert touched == ([C.FAILED] if state in (C.PENDING, C.SELECTED) else [])
    assert plan.is_terminal is (state not in IN_DELIVERY)


def test_a_cell_without_an_error_of_its_own_says_that_it_did_not_complete() -> None:
    [change] = roll_up([a_cell()], (), ReasonCode.EXECUTION_TIMEOUT).changes
    assert (change.error, change.reason) == (DID_NOT_COMPLETE, ReasonCode.EXECUTION_TIMEOUT)
    assert change.message == REASONS[ReasonCode.EXECUTION_TIMEOUT].zh


def test_a_cell_that_left_an_error_is_judged_by_it_and_keeps_it() -> None:
    [change] = roll_up([a_cell(last_error="HTTP 429 from the list")], (), ReasonCode.INTERNAL_ERROR).changes
    assert (change.error, change.reason) == (None, ReasonCode.RATE_LIMITED)


@pytest.mark.parametrize("state", sorted(IN_DELIVERY))
def test_a_delivery_that_nobody_owes_any_more_ends_its_cell(state: CellStatus) -> None:
    plan = roll_up([a_cell("a", state), a_cell("b", C.SUBMITTED)], {A}, ReasonCode.INTERNAL_ERROR)
    [change] = plan.changes
    assert (change.target_id, change.reason) == (A, ReasonCode.DELIVERY_ABANDONED)
    assert plan.status is SlotStatus.PARTIAL


def test_a_delivery_that_is_owed_keeps_the_slot_open() -> None:
    plan = roll_up([a_cell("a", C.DELIVERY_PENDING), a_cell("b", C.SUBMITTED)], (), ReasonCode.INTERNAL_ERROR)
    assert plan.changes == ()
    assert not plan.is_terminal


@pytest.mark.parametrize("state", CellStatus)
@pytest.mark.parametrize("delivery_too", [False, True])
def test_a_decree_fails_what_was_to_be_run_and_spares_deliveries_unless_nobody_wants_them(
    state: CellStatus, delivery_too: bool
) -> None:
    plan = force([a_cell("a", state)], ReasonCode.EXECUTION_TIMEOUT, "given up", delivery_too=delivery_too)
    ended = state in (C.PENDING, C.SELECTED) or (delivery_too and state in IN_DELIVERY)
    assert [change.to for change in plan.changes] == ([C.FAILED] if ended else [])
    assert plan.is_terminal


def test_a_decree_keeps_the_error_that_a_cell_has() -> None:
    plan = force([a_cell("a", last_error="HTTP 503"), a_cell("b")], ReasonCode.EXECUTION_TIMEOUT, "given up")
    assert [change.error for change in plan.changes] == [None, "given up"]


def test_a_slot_without_cells_fails_when_it_is_forced() -> None:
    assert force([], ReasonCode.QUEUED_TOO_LONG, "").status is SlotStatus.FAILED


@pytest.mark.parametrize(
    ("said", "to"),
    [
        pytest.param(Live(), None, id="a delivery under way is left alone"),
        pytest.param(Unknown(), None, id="a cell without a promise is run"),
        pytest.param(Confirmed(WORK), C.SUBMITTED, id="an ACK that landed before a crash is not forgotten"),
        pytest.param(Confirmed(WORK, duplicate=True), C.DUPLICATE, id="somebody else's publication is a duplicate"),
        pytest.param(Lost("r1: HTTP 400"), C.FAILED, id="a lost delivery fails its cell, no other work is chosen"),
    ],
)
def test_the_delivery_ledger_settles_a_cell_that_is_with_it(said: Downstream, to: CellStatus | None) -> None:
    change = settled(a_cell("a", C.DELIVERY_PENDING), said)
    assert (change.to if change else None) is to
    if isinstance(said, Confirmed) and change:
        assert change.work == WORK


def test_a_lost_delivery_says_why_and_that_nothing_takes_its_place() -> None:
    change = settled(a_cell("a", C.DELIVERY_PENDING), Lost("r1: HTTP 400"))
    assert change is not None
    assert change.reason is ReasonCode.DELIVERY_FAILED
    assert change.error is not None
    assert "without an ACK" in change.error
    assert "no other work" in change.error
    assert "r1: HTTP 400" in change.error


@pytest.mark.parametrize("state", CellStatus)
@pytest.mark.parametrize("said", [Live(), Unknown(), Confirmed(WORK), Lost("")])
def test_a_run_gets_the_cells_that_nothing_else_carries(state: CellStatus, said: Downstream) -> None:
    cell = a_cell("a", state)
    expected = state in (C.PENDING, C.SELECTED) or (state in IN_DELIVERY and isinstance(said, Unknown))
    assert left_to_run([cell], {TargetId("a"): said}) == ((cell,) if expected else ())
