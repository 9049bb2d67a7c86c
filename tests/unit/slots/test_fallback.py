"""How often a target that found nothing looks again."""

import pytest

from pixivflow.slots.fallback import is_dead_end, next_stage, scan_bound
from pixivflow.slots.model import CellStatus
from pixivflow.slots.target import (
    Duplicate,
    Enqueued,
    NoCandidate,
    Scan,
    Stored,
    Submitted,
    TargetFailed,
    TargetOutcome,
)
from tests.fixtures.slots import WORK, a_cell

EMPTY = NoCandidate(scan=Scan(attempted=3, skips=("filtered",)))
STALE = NoCandidate(scan=Scan(skips=("duplicate", "duplicate")))


@pytest.mark.parametrize(
    ("base", "bounds"),
    [(5, [5, 10, 15]), (1, [1, 2, 3]), (60, [60, 100, 100])],
    ids=lambda value: str(value),
)
def test_each_pass_tries_more_up_to_a_cap(base: int, bounds: list[int]) -> None:
    assert [scan_bound(base, stage) for stage in range(3)] == bounds


@pytest.mark.parametrize(
    ("outcome", "looks_again"),
    [
        (EMPTY, True),
        (NoCandidate(), True),
        (STALE, False),
        (Duplicate(), True),
        (Duplicate(work=WORK), True),
        (Submitted(work=WORK), False),
        (Stored(work=WORK), False),
        (Enqueued(work=WORK), False),
        (TargetFailed(error="", retryable=True), False),
        (TargetFailed(error="", retryable=False), False),
    ],
)
def test_only_an_empty_search_looks_again(outcome: TargetOutcome, looks_again: bool) -> None:
    assert next_stage(a_cell(), outcome, 3, is_manual=False) == (1 if looks_again else None)


@pytest.mark.parametrize(("stages", "reached"), [(0, 0), (1, 0), (3, 2), (10, 9)])
def test_the_last_pass_is_final(stages: int, reached: int) -> None:
    stage = 0
    while (following := next_stage(a_cell(fallback_stage=stage), EMPTY, stages, is_manual=False)) is not None:
        assert following == stage + 1
        stage = following
    assert stage == reached


def test_a_requester_who_waits_gets_the_first_answer() -> None:
    assert next_stage(a_cell(), EMPTY, 3, is_manual=True) is None


def test_a_work_that_a_cell_holds_is_never_searched_away() -> None:
    assert next_stage(a_cell(work_id="101"), Duplicate(), 3, is_manual=False) is None


@pytest.mark.parametrize("state", CellStatus)
def test_only_a_cell_that_is_still_to_be_run_looks_again(state: CellStatus) -> None:
    expected = 1 if state in (CellStatus.PENDING, CellStatus.SELECTED) else None
    assert next_stage(a_cell("a", state), EMPTY, 3, is_manual=False) == expected


@pytest.mark.parametrize(
    ("scan", "dead"),
    [
        (Scan(skips=("duplicate", "duplicate")), True),
        (Scan(skips=("duplicate", "filtered")), False),
        (Scan(skips=("duplicate",), attempted=1), False),
        (Scan(skips=("duplicate",), outages=("network_outage",)), False),
        (Scan(), False),
    ],
)
def test_a_pool_of_nothing_but_published_works_is_a_dead_end(scan: Scan, dead: bool) -> None:
    assert is_dead_end(scan) is dead
