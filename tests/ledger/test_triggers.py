"""The journal of requests and the slots that they open: one transaction, and no slot less for the journal's sake."""

from typing import Any

import pytest

from actors.ports import Admitted, Refused
from pixivflow.ids import ScheduleId, SlotId
from pixivflow.ledger import slots, triggers
from pixivflow.ledger.connection import Db
from pixivflow.ledger.triggers import Accepted, Arrival, End, Found
from pixivflow.scheduling.disposition import Disposition
from pixivflow.slots.model import SlotStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    HOUR,
    ME,
    NOW,
    PLAN,
    SLOT,
    a_slot,
    everything,
    put_running,
    put_slot,
    set_cell,
    set_lease,
    set_slot,
    states,
)

ARRIVAL = Arrival(
    received_at=NOW + 5, schedule_id=PLAN, slot_id=SLOT, occurrence_at=NOW, attempt_id="clock-1", provider="cloud"
)
TAKEN = Admitted("p", "lane", 1, 1_000)
BUSY = Refused("scheduler_busy")


def journal(db: Db) -> list[dict[str, Any]]:
    """The rows, oldest first."""
    cursor = db.execute("SELECT * FROM trigger_requests ORDER BY id")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def accepted(db: Db) -> Accepted:
    with transaction(db):
        return triggers.accept(db, ARRIVAL, a_slot(), NOW)


def concluded(db: Db, answer: Admitted | Refused, journal: int | None = 1) -> Found:
    with transaction(db):
        return triggers.conclude(db, journal, SLOT, answer, 17, NOW)


def refuse_rows(db: Db) -> None:
    """From now on the journal takes nothing."""
    db.execute("CREATE TRIGGER broken BEFORE INSERT ON trigger_requests BEGIN SELECT RAISE(ABORT, 'no rows'); END")


def test_a_request_opens_its_slot_and_is_written_down_as_not_answered_yet(db: Db) -> None:
    assert accepted(db) == Accepted(is_over=False, journal=1)
    assert states(db) == {"a": "pending", "b": "pending"}
    assert journal(db) == [
        {
            "id": 1,
            "received_at": NOW + 5,
            "route": "run",
            "schedule_id": "p",
            "slot_id": SLOT,
            "occurrence_at": NOW,
            "attempt_id": "clock-1",
            "provider": "cloud",
            "disposition": "error",
            "http_status": 0,
            "reason": None,
            "elapsed_ms": 0,
            "count": 1,
        }
    ]


def test_the_slot_and_the_row_of_its_request_are_kept_together_or_not_at_all(db: Db) -> None:
    def crash_after(db: Db) -> None:
        triggers.accept(db, ARRIVAL, a_slot(), NOW)
        raise RuntimeError

    with pytest.raises(RuntimeError), transaction(db):
        crash_after(db)
    assert slots.read(db, SLOT) is None
    assert journal(db) == []


def test_a_request_for_a_slot_that_is_there_changes_nothing_in_it(db: Db) -> None:
    with transaction(db):
        put_running(db)
    before = everything(db)
    assert accepted(db) == Accepted(is_over=False, journal=1)
    assert everything(db) == before


@pytest.mark.parametrize(
    ("status", "cells", "is_over"),
    [
        ("success", {"a": "submitted", "b": "submitted"}, True),
        ("partial", {"a": "submitted", "b": "failed"}, True),
        ("failed", {"a": "failed", "b": "no_candidate"}, True),
        ("failed", {"a": "failed", "b": "delivery_pending"}, False),
        ("running", {"a": "submitted", "b": "pending"}, False),
        ("pending", {}, False),
    ],
)
def test_a_slot_that_no_run_can_change_any_more_is_said_to_be_over(
    db: Db, status: str, cells: dict[str, str], is_over: bool
) -> None:
    with transaction(db):
        put_slot(db, status=status)
        for target, state in cells.items():
            set_cell(db, SLOT, target, status=state)
    assert accepted(db).is_over is is_over


def test_what_this_process_took_is_accepted_with_the_slot_as_it_stands(db: Db) -> None:
    accepted(db)
    found = concluded(db, TAKEN)
    assert (found.disposition, found.reason, found.status) == (Disposition.ACCEPTED, None, SlotStatus.PENDING)
    assert [cell.target_id for cell in found.cells] == ["a", "b"]
    [row] = journal(db)
    assert (row["disposition"], row["http_status"], row["reason"], row["elapsed_ms"]) == ("accepted", 202, None, 17)


@pytest.mark.parametrize(
    ("answer", "leased_until", "status", "expected"),
    [
        pytest.param(BUSY, None, "pending", ("rejected", 503, "scheduler_busy"), id="nobody runs it"),
        pytest.param(BUSY, NOW, "running", ("rejected", 503, "scheduler_busy"), id="whoever ran it is gone"),
        pytest.param(BUSY, NOW + 1, "running", ("already_running", 202, "scheduler_busy"), id="somebody runs it"),
        pytest.param(
            Refused("already_running"), NOW + 1, "running", ("already_running", 202, "already_running"), id="x"
        ),
        pytest.param(
            Refused("already_completed"), None, "success", ("already_completed", 200, None), id="it just ended"
        ),
        pytest.param(Refused("stopping"), None, "pending", ("rejected", 503, "stopping"), id="the process ends"),
    ],
)
def test_what_this_process_did_not_take_is_answered_by_who_runs_the_slot(
    db: Db, answer: Refused, leased_until: int | None, status: str, expected: tuple[str, int, str | None]
) -> None:
    accepted(db)
    with transaction(db):
        set_slot(db, SLOT, status=status)
        set_lease(db, SLOT, ME if leased_until else None, leased_until)
        for target in "ab":
            set_cell(db, SLOT, target, status="submitted" if status == "success" else "pending")
    found = concluded(db, answer)
    [row] = journal(db)
    assert (row["disposition"], row["http_status"], row["reason"]) == expected
    assert (found.disposition, found.reason) == (expected[0], expected[2])


def test_an_answer_is_written_down_once(db: Db) -> None:
    accepted(db)
    concluded(db, TAKEN)
    with transaction(db):
        triggers.answered(db, 1, End(disposition=Disposition.ERROR, http_status=500))
    assert journal(db)[0]["http_status"] == 202


def test_a_request_that_reaches_no_slot_has_a_row_of_its_own(db: Db) -> None:
    end = End(disposition=Disposition.TOO_EARLY, http_status=425, reason="too_early", elapsed_ms=-3)
    with transaction(db):
        assert triggers.keep(db, Arrival(received_at=NOW), end) is None
    [row] = journal(db)
    assert (row["disposition"], row["http_status"], row["elapsed_ms"], row["slot_id"]) == ("too_early", 425, 0, None)


def test_a_journal_that_takes_nothing_costs_no_slot_and_is_told(db: Db) -> None:
    refuse_rows(db)
    assert accepted(db) == Accepted(is_over=False, journal=None, fault="no rows")
    assert states(db) == {"a": "pending", "b": "pending"}
    assert concluded(db, TAKEN, journal=None).disposition is Disposition.ACCEPTED
    with transaction(db):
        end = End(disposition=Disposition.NOT_FOUND, http_status=404)
        assert triggers.keep(db, ARRIVAL, end) == "no rows"


def test_an_answer_that_cannot_be_written_down_is_told_and_given_all_the_same(db: Db) -> None:
    accepted(db)
    db.execute("CREATE TRIGGER broken BEFORE UPDATE ON trigger_requests BEGIN SELECT RAISE(ABORT, 'no more'); END")
    found = concluded(db, TAKEN)
    assert (found.disposition, found.fault) == (Disposition.ACCEPTED, "no more")


def test_an_error_that_ended_the_whole_transaction_is_never_hidden(db: Db) -> None:
    db.execute("CREATE TRIGGER broken BEFORE INSERT ON trigger_requests BEGIN SELECT RAISE(ROLLBACK, 'gone'); END")
    with pytest.raises(Exception, match="gone"), transaction(db):
        triggers.accept(db, ARRIVAL, a_slot(), NOW)
    assert slots.read(db, SLOT) is None


def test_a_slot_whose_row_is_gone_has_no_answer(db: Db) -> None:
    with pytest.raises(Exception, match="nowhere"), transaction(db):
        triggers.conclude(db, None, SlotId("p@nowhere"), TAKEN, 0, NOW)


def test_old_rows_are_dropped_in_pieces_oldest_first(db: Db) -> None:
    end = End(disposition=Disposition.NOT_FOUND, http_status=404)
    with transaction(db):
        for hours in (3, 1, 2, 0):
            triggers.keep(db, Arrival(received_at=NOW - hours * HOUR), end)
    dropped = []
    for _ in range(3):
        with transaction(db):
            dropped.append(triggers.prune(db, NOW, 2))
    assert dropped == [2, 1, 0]
    assert [row["received_at"] for row in journal(db)] == [NOW]


def test_the_journal_is_read_by_its_indexes(db: Db) -> None:
    for query, asked, index in (
        (triggers.PRUNE, {"before": NOW, "at_most": 10}, "idx_trigger_requests_time"),
        ("SELECT * FROM trigger_requests WHERE schedule_id = ? ORDER BY received_at", (PLAN,), "schedule"),
    ):
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", asked).fetchall()]
        assert any(index in step for step in plan), plan
        assert not any("TEMP B-TREE" in step for step in plan), plan


def test_the_row_of_a_request_takes_only_what_the_table_knows(db: Db) -> None:
    for broken in (
        Arrival(received_at=NOW, schedule_id=ScheduleId("")),
        Arrival(received_at=NOW, attempt_id="x" * 65),
        Arrival(received_at=NOW, provider="x" * 33),
    ):
        with transaction(db):
            fault = triggers.keep(db, broken, End(disposition=Disposition.ERROR, http_status=500))
        assert fault is not None
        assert "CHECK" in fault
    assert journal(db) == []


def test_a_caller_who_left_has_one_row_whether_or_not_its_slot_was_opened(db: Db) -> None:
    gone = End(disposition=Disposition.ERROR, http_status=0, reason="caller_gone")
    for _ in range(2):
        with transaction(db):
            triggers.depart(db, ARRIVAL, gone)
    assert [row["reason"] for row in journal(db)] == ["caller_gone"]


def test_a_caller_who_left_after_the_commit_keeps_the_row_of_its_slot(db: Db) -> None:
    accepted(db)
    with transaction(db):
        triggers.depart(db, ARRIVAL, End(disposition=Disposition.ERROR, http_status=0, reason="caller_gone"))
    assert [row["reason"] for row in journal(db)] == [None]
