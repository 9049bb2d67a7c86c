"""What one target reported, made a verdict about its cell."""

import pytest

from pixivflow.slots.model import CellStatus, ReasonCode
from pixivflow.slots.reasons import REASONS
from pixivflow.slots.target import (
    Duplicate,
    Enqueued,
    NoCandidate,
    Scan,
    Stored,
    Submitted,
    TargetFailed,
    TargetOutcome,
    verdict,
)
from tests.fixtures.slots import WORK, a_cell


@pytest.mark.parametrize(
    ("outcome", "to"),
    [
        (Submitted(work=WORK), CellStatus.SUBMITTED),
        (Stored(work=WORK), CellStatus.SUBMITTED),
        (Enqueued(work=WORK), CellStatus.DELIVERY_PENDING),
        (NoCandidate(), CellStatus.NO_CANDIDATE),
        (Duplicate(work=WORK), CellStatus.DUPLICATE),
        (TargetFailed(error="HTTP 503", retryable=True), None),
        (TargetFailed(error="HTTP 503", retryable=False), CellStatus.FAILED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_of_outcome_has_one_effect(outcome: TargetOutcome, to: CellStatus | None) -> None:
    change = verdict(a_cell(), outcome)
    assert change is not None
    assert change.to is to


@pytest.mark.parametrize(
    "outcome", [Submitted(work=WORK), Stored(work=WORK), Enqueued(work=WORK), Duplicate(work=WORK)]
)
def test_an_outcome_about_a_work_locks_it(outcome: TargetOutcome) -> None:
    change = verdict(a_cell(), outcome)
    assert change is not None
    assert change.work == WORK


@pytest.mark.parametrize("outcome", [Submitted(work=WORK), Enqueued(work=WORK), Stored(work=WORK)])
def test_a_success_carries_no_reason(outcome: TargetOutcome) -> None:
    change = verdict(a_cell(), outcome)
    assert change is not None
    assert (change.reason, change.message, change.error) == (None, None, None)


def test_an_empty_search_does_not_end_a_cell_that_holds_a_work() -> None:
    assert verdict(a_cell(work_id="101", status=CellStatus.SELECTED), NoCandidate()) is None
    assert verdict(a_cell(), NoCandidate()) is not None


def test_a_retryable_failure_leaves_the_state_and_keeps_its_error() -> None:
    change = verdict(a_cell(), TargetFailed(error="HTTP 503", retryable=True, report="{}"))
    assert change is not None
    assert (change.to, change.error, change.reason, change.report) == (None, "HTTP 503", None, "{}")


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (NoCandidate(), ReasonCode.NO_CANDIDATE),
        (NoCandidate(scan=Scan(skips=("duplicate",))), ReasonCode.DUPLICATE_EXHAUSTED),
        (NoCandidate(scan=Scan(skips=("filtered",))), ReasonCode.FILTER_EXHAUSTED),
        (Duplicate(), ReasonCode.DUPLICATE_EXHAUSTED),
        (TargetFailed(error="HTTP 429", retryable=False), ReasonCode.INTERNAL_ERROR),
        (TargetFailed(error="HTTP 429", retryable=False, code=ReasonCode.METADATA_FAILED), ReasonCode.METADATA_FAILED),
    ],
)
def test_an_end_without_a_publication_has_a_reason_and_words_for_people(
    outcome: TargetOutcome, reason: ReasonCode
) -> None:
    change = verdict(a_cell(), outcome)
    assert change is not None
    assert (change.reason, change.message) == (reason, REASONS[reason].zh)
