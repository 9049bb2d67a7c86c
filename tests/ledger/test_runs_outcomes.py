"""What a finished run leaves to be known of its occurrence."""

import pytest

from actors.kit.cancel import Finished
from actors.ports import Verdict
from pixivflow.ledger import cells, sweeps
from pixivflow.ledger.connection import Db
from pixivflow.slots.machine import Role
from pixivflow.slots.model import CellChange, CellStatus, ReasonCode, SlotStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    ME,
    MINUTE,
    NOW,
    SLOT,
    B,
    a_slot,
    put_intent,
    put_running,
    set_cell,
    the_cell,
    the_slot,
)
from tests.ledger.finishing import counted, finish, outcomes, running

C, S = CellStatus, SlotStatus


@pytest.mark.parametrize(
    ("a", "b", "status", "business", "alertable"),
    [
        pytest.param("submitted", "submitted", "success", "success", False, id="all published"),
        pytest.param(
            "submitted",
            "no_candidate",
            "partial",
            "partial_success",
            False,
            id="some published",
            marks=pytest.mark.case("slots", 36),
        ),
        pytest.param(
            "no_candidate",
            "no_candidate",
            "failed",
            "no_candidate",
            False,
            id="nothing found",
            marks=pytest.mark.case("slots", 37),
        ),
        pytest.param("duplicate", "duplicate", "failed", "duplicate_only", False, id="all published before"),
        pytest.param("duplicate", "failed", "failed", "failed", True, id="one broken, none published"),
    ],
)
def test_a_run_that_came_back_ends_its_slot_with_the_sum_of_its_cells(
    db: Db, a: str, b: str, status: str, business: str, alertable: bool
) -> None:
    running(db, a=a, b=b)
    assert finish(db, Finished(None)) == Verdict(status)
    assert counted(db) == ["success"]
    [outcome] = outcomes(db)
    assert (outcome["status"], outcome["business_status"], outcome["alertable"]) == (status, business, alertable)
    assert outcome["duration_ms"] == MINUTE
    slot = the_slot(db)
    assert (slot.status, slot.lease_owner, slot.reported_at) == (status, None, NOW + MINUTE)


@pytest.mark.case("slots", 38)
@pytest.mark.parametrize("exhausted", [0, 1, 2])
def test_a_day_of_nothing_but_published_works_is_called_that(db: Db, exhausted: int) -> None:
    running(db, a="duplicate", b="duplicate")
    for target in "ab"[:exhausted]:
        set_cell(db, SLOT, target, status="no_candidate", terminal_reason_code="duplicate_exhausted")
    finish(db, Finished(None))
    [outcome] = outcomes(db)
    assert (outcome["business_status"], outcome["alertable"]) == ("duplicate_only", False)


@pytest.mark.case("slots", 39)
def test_one_failure_and_no_publication_calls_an_operator(db: Db) -> None:
    running(db, a="no_candidate")
    with transaction(db):
        change = CellChange(target_id=B, to=C.FAILED, error="HTTP 503", reason=ReasonCode.REMOTE_HTTP_ERROR)
        cells.change(db, SLOT, change, Role.RUN, NOW, owner=ME)
    finish(db, Finished(None))
    [outcome] = outcomes(db)
    assert (outcome["business_status"], outcome["alertable"]) == ("failed", True)


@pytest.mark.case("slots", 40)
@pytest.mark.parametrize(
    ("other", "business", "alertable"),
    [("cancelled_by_consumer", "cancelled", False), ("internal_error", "failed", True)],
)
def test_a_cancel_calls_nobody_unless_something_broke_beside_it(
    db: Db, other: str, business: str, alertable: bool
) -> None:
    running(db, a="failed", b="failed")
    set_cell(db, SLOT, "a", terminal_reason_code="cancelled_by_consumer")
    set_cell(db, SLOT, "b", terminal_reason_code=other)
    finish(db, Finished(None))
    [outcome] = outcomes(db)
    assert (outcome["business_status"], outcome["alertable"]) == (business, alertable)


@pytest.mark.case("slots", 41)
def test_a_cancelled_delivery_counts_as_cancelled_and_not_as_lost(db: Db) -> None:
    running(db, a="failed", b="submitted")
    set_cell(db, SLOT, "a", terminal_reason_code="cancelled_by_consumer")
    put_intent(db, "a", "failed", "cancelled")
    finish(db, Finished(None))
    [outcome] = outcomes(db)
    assert (outcome["cells"]["cancelled"], outcome["cells"]["delivery_failed"]) == (1, 0)


def test_a_lost_delivery_is_told_apart_from_a_failed_run(db: Db) -> None:
    running(db, a="failed", b="failed")
    put_intent(db, "a", "failed", "dead", remote_id="m-1")
    finish(db, Finished(None))
    [outcome] = outcomes(db)
    assert (outcome["cells"]["delivery_failed"], outcome["cells"]["executor_failed"]) == (1, 1)
    a, b = outcome["cells"]["targets"]
    assert a["routes"] == [{"route": "r1", "status": "failed", "remoteId": "m-1"}]
    assert "routes" not in b


@pytest.mark.case("slots", 43)
def test_a_slot_lasted_from_its_first_start_to_its_first_end_and_a_long_report_does_not_keep_its_verdict(
    db: Db,
) -> None:
    running(db, a="submitted")
    with transaction(db):
        change = CellChange(target_id=B, to=C.NO_CANDIDATE, reason=ReasonCode.NO_CANDIDATE, report="x" * 5000)
        cells.change(db, SLOT, change, Role.RUN, NOW, owner=ME)
    finish(db, Finished(None), now=NOW + MINUTE)
    with transaction(db):
        db.execute("UPDATE schedule_slots SET reported_at = NULL")
        db.execute("DELETE FROM delivery_events")
        assert sweeps.roll_up_missed(db, SLOT, NOW + 11 * MINUTE) is S.PARTIAL
    [outcome] = outcomes(db)
    assert outcome["duration_ms"] == MINUTE
    assert (the_cell(db, "b").status, the_cell(db, "b").candidate_report) == (C.NO_CANDIDATE, None)


@pytest.mark.parametrize("manual", [None, "key"])
def test_an_ended_slot_is_reported_at_once_while_there_is_nobody_to_tell(db: Db, manual: str | None) -> None:
    with transaction(db):
        put_running(db, a_slot(manual_request_id=manual), cells={"a": "submitted", "b": "submitted"})
    finish(db, Finished(None))
    assert the_slot(db).reported_at == NOW + MINUTE
