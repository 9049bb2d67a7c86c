"""Who may move what, and what an ended run does to its slot."""

from itertools import product

import pytest

from actors.kit.cancel import CancelOrigin, Crashed, End, Ended, Finished
from pixivflow.slots.machine import (
    CELL_MOVES,
    ExecutionStatus,
    Fate,
    Role,
    cell_sources,
    counted,
    fate,
    is_over,
    slot_sources,
)
from pixivflow.slots.model import TERMINAL_CELL, CellStatus, SlotStatus
from tests.fixtures.slots import LEGAL

ENDS: list[tuple[End, Fate, ExecutionStatus | None]] = [
    (Finished(None), Fate.ROLL_UP, ExecutionStatus.SUCCESS),
    (Crashed(RuntimeError("a bug")), Fate.ROLL_UP, ExecutionStatus.FAILED),
    (Ended(CancelOrigin.TIMEOUT), Fate.ROLL_UP, ExecutionStatus.TIMEOUT),
    (Ended(CancelOrigin.SHUTDOWN), Fate.LEAVE_RESUMABLE, ExecutionStatus.SKIPPED),
    (Ended(None), Fate.LEAVE_RESUMABLE, ExecutionStatus.SKIPPED),
    (Ended(CancelOrigin.CONSUMER), Fate.WRITE_NOTHING, ExecutionStatus.SKIPPED),
    (Ended(CancelOrigin.LEASE_LOST), Fate.WRITE_NOTHING, None),
]

COLUMNS = [
    "selected",
    "artifact_ready",
    "delivery_pending",
    "submitted",
    "no_candidate",
    "duplicate",
    "failed",
    "pending",
]
MATRIX = {
    "pending": "yes yes yes yes yes yes yes -",
    "selected": "- yes yes yes yes yes yes yes",
    "artifact_ready": "no - yes yes no yes yes no",
    "delivery_pending": "no no - yes no yes yes no",
    "submitted": "no no no no no no no no",
    "no_candidate": "no no no no no no no no",
    "duplicate": "no no no no no no no no",
    "failed": "no no no no no no no no",
}


@pytest.mark.parametrize(("end", "expected", "status"), ENDS, ids=lambda value: repr(value))
def test_each_end_of_a_run_has_one_fate_and_counts_in_one_way(
    end: End, expected: Fate, status: ExecutionStatus | None
) -> None:
    assert fate(end) is expected
    assert counted(end) is status


def test_every_origin_of_a_cancellation_is_in_that_table() -> None:
    origins = {end.origin for end, _, _ in ENDS if isinstance(end, Ended)}
    assert origins == {*CancelOrigin, None}


@pytest.mark.parametrize(("start", "to"), list(product(CellStatus, CellStatus)))
def test_a_cell_moves_exactly_as_drawn(start: CellStatus, to: CellStatus) -> None:
    drawn = MATRIX[start.value].split()[COLUMNS.index(to.value)]
    assert (to in LEGAL[start]) == (drawn == "yes")


def test_nobody_is_allowed_a_move_that_is_not_drawn() -> None:
    for role, moves in CELL_MOVES.items():
        for to, sources in moves.items():
            assert all(to in LEGAL[start] or start is to for start in sources), (role, to)


def test_every_drawn_move_is_allowed_to_somebody_but_for_the_state_that_nobody_writes() -> None:
    drawn = {(start, to) for start, tos in LEGAL.items() for to in tos}
    allowed = {(start, to) for moves in CELL_MOVES.values() for to, sources in moves.items() for start in sources}
    assert {to for _, to in drawn - allowed} == {CellStatus.ARTIFACT_READY}


@pytest.mark.parametrize("role", Role)
def test_no_role_moves_a_cell_that_has_ended(role: Role) -> None:
    for to in CellStatus:
        assert not cell_sources(role, to) & TERMINAL_CELL


@pytest.mark.parametrize("role", [Role.STALL, Role.ABANDON])
def test_what_is_being_delivered_is_never_failed_by_decree(role: Role) -> None:
    assert cell_sources(role, CellStatus.FAILED) == {CellStatus.PENDING, CellStatus.SELECTED}


SLOT_TABLE = {
    (Role.RUN, "running"): {"pending", "running", "failed"},
    (Role.RUN, "success"): {"pending", "running"},
    (Role.RUN, "partial"): {"pending", "running"},
    (Role.RUN, "failed"): {"pending", "running"},
    (Role.RECONCILER, "success"): {"pending", "running", "failed"},
    (Role.RECONCILER, "partial"): {"pending", "running", "failed"},
    (Role.RECONCILER, "failed"): {"pending", "running"},
    (Role.ABANDON, "success"): {"pending", "running"},
    (Role.ABANDON, "partial"): {"pending", "running"},
    (Role.ABANDON, "failed"): {"pending", "running"},
    (Role.STALL, "success"): {"pending", "running"},
    (Role.STALL, "partial"): {"pending", "running"},
    (Role.STALL, "failed"): {"pending", "running"},
    (Role.CONSUMER, "partial"): {"pending", "running", "failed"},
    (Role.CONSUMER, "failed"): {"pending", "running"},
}


@pytest.mark.parametrize(("role", "to"), list(product(Role, SlotStatus)))
def test_a_slot_moves_exactly_as_drawn(role: Role, to: SlotStatus) -> None:
    assert slot_sources(role, to) == SLOT_TABLE.get((role, to.value), set())


@pytest.mark.parametrize(
    ("status", "with_open_cell", "without"),
    [
        (SlotStatus.PENDING, False, False),
        (SlotStatus.RUNNING, False, False),
        (SlotStatus.SUCCESS, True, True),
        (SlotStatus.PARTIAL, True, True),
        (SlotStatus.FAILED, False, True),
        (SlotStatus.EXPIRED, True, True),
    ],
)
def test_a_slot_is_over_when_no_run_can_change_it(status: SlotStatus, with_open_cell: bool, without: bool) -> None:
    assert is_over(status, has_open_cell=True) is with_open_cell
    assert is_over(status, has_open_cell=False) is without
