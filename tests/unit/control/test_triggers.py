"""The run route: each disposition has its answer, its row and its event, exactly once."""

from typing import Any

import pytest
from trio.testing import MockClock

from pixivflow.control import triggers
from pixivflow.ledger.interface import Ledger
from tests.edges.control.doors import TEN, behind
from tests.fixtures.slots import MINUTE, SLOT, states
from tests.unit.control.asking import outcomes, trigger
from tests.unit.control.scenes import (
    BUSY,
    Prepare,
    as_it_is,
    broken,
    busy,
    completed,
    failed_for_good,
    leaving,
    off,
    running,
    too_late,
    without_cron,
    without_targets,
)

CELLS = [{"targetId": name, "status": "pending", "workId": None} for name in "ab"]


def view(disposition: str, status: str, **more: Any) -> dict[str, Any]:
    return {"scheduleId": "p", "slotId": SLOT, "disposition": disposition, "status": status, **more}


CASES = [
    pytest.param(
        as_it_is,
        (202, {"status": "accepted", "schedule": view("accepted", "pending", cells=CELLS), "note": "queued"}),
        ("accepted", None),
        id="accepted",
    ),
    pytest.param(
        running,
        (202, {"status": "running", "schedule": view("already_running", "running", cells=CELLS)}),
        ("already_running", "scheduler_busy"),
        id="somebody runs it",
    ),
    pytest.param(
        completed,
        (
            200,
            {
                "status": "completed",
                "schedule": view(
                    "already_completed",
                    "success",
                    alreadyCompleted=True,
                    cells=[
                        {"targetId": "a", "status": "submitted", "workId": "100"},
                        {"targetId": "b", "status": "submitted", "workId": "101"},
                    ],
                ),
            },
        ),
        ("already_completed", None),
        id="it was done",
    ),
    pytest.param(
        busy,
        (503, {"status": "rejected", "schedule": view("rejected", "pending", cells=CELLS)}),
        ("rejected", "scheduler_busy"),
        id="the plan runs another slot",
    ),
    pytest.param(
        off,
        (503, {"status": "rejected", "schedule": view("rejected", "failed")}),
        ("rejected", "disabled"),
        id="the plan is off",
    ),
    pytest.param(
        without_targets,
        (503, {"status": "rejected", "schedule": view("rejected", "pending")}),
        ("rejected", "no_targets"),
        id="the plan selects nothing",
    ),
    pytest.param(leaving, (503, {"status": "rejected", "note": "stopping"}), ("stopping", "stopping"), id="it leaves"),
    pytest.param(
        too_late,
        (410, {"status": "error", "error": f"too late for {SLOT}: it closed at 2026-09-08T03:30:00.000Z"}),
        ("too_late", "too_late"),
        id="too late",
    ),
    pytest.param(
        without_cron,
        (400, {"status": "error", "error": "schedules.p.cron: a plan without a cron line has no occurrences"}),
        ("bad_request", "no_occurrence"),
        id="no occurrence",
    ),
    pytest.param(
        broken,
        (500, {"status": "error", "error": triggers.BROKE}),
        ("error", "NoAnswer"),
        id="it breaks",
    ),
]

EVENTS = {
    "accepted": "schedule.trigger_accepted",
    "already_running": "schedule.trigger_already_running",
    "already_completed": "schedule.trigger_already_completed",
    "not_found": "schedule.trigger_not_found",
    "unauthorized": "schedule.trigger_unauthorized",
    "disabled": "schedule.trigger_unauthorized",
    "error": "schedule.trigger_error",
}


@pytest.mark.case("slots", 86)
@pytest.mark.parametrize(("prepare", "answer", "kept"), CASES)
async def test_each_disposition_has_its_status_its_body_its_one_event_and_its_row(
    ledger: Ledger,
    mock_clock: MockClock,
    prepare: Prepare,
    answer: tuple[int, dict[str, Any]],
    kept: tuple[str, str | None],
) -> None:
    process = behind(ledger)
    await prepare(process)
    got = await trigger(process, x_attempt_id="clock-7", x_schedule_provider="cron.example")

    status, body = answer
    expected = body if "error" in body else {"note": kept[0], **body}
    if kept[0] == "rejected":
        expected["reason"] = kept[1]
    assert (got.status, got.body) == (status, expected)

    [(event, fields)] = outcomes(process)
    assert event == EVENTS.get(kept[0], "schedule.trigger_rejected")
    assert (fields["http_status"], fields["disposition"], fields.get("reason")) == (status, *kept)
    assert (fields["attempt_id"], fields["provider"], fields["schedule_id"]) == ("clock-7", "cron.example", "p")
    assert fields["trigger_source"] == "http"

    [row] = await process.rows()
    assert (row["route"], row["http_status"], row["disposition"], row["reason"]) == ("run", status, *kept)
    assert (row["attempt_id"], row["provider"], row["schedule_id"]) == ("clock-7", "cron.example", "p")
    assert row["received_at"] == TEN + (89 * MINUTE if prepare is too_late else 0)


async def test_a_slot_stands_for_every_answer_that_tells_of_one_and_for_no_other(ledger: Ledger) -> None:
    for prepare in (off, without_targets, leaving, too_late, without_cron):
        process = behind(ledger)
        await prepare(process)
        await trigger(process)
        assert await process.slots() == []
        assert process.offered == []
    process = behind(ledger)
    await busy(process)
    await trigger(process)
    assert await process.slots() == [SLOT]
    assert await ledger.read(states) == {"a": "pending", "b": "pending"}


async def test_whoever_may_ask_again_is_told_when(ledger: Ledger) -> None:
    process = behind(ledger)
    process.answer = BUSY
    assert (await trigger(process)).headers == {"retry-after": "60"}
    process.is_leaving = True
    assert (await trigger(process)).headers == {"retry-after": "5"}


@pytest.mark.case("slots", 90)
@pytest.mark.parametrize(("prepare", "status"), [(completed, "success"), (failed_for_good, "failed")])
async def test_a_slot_that_is_over_is_told_to_be_and_is_offered_to_nobody(
    ledger: Ledger, prepare: Prepare, status: str
) -> None:
    process = behind(ledger)
    await prepare(process)
    got = await trigger(process)
    assert (got.status, got.body["status"], got.body["note"]) == (200, "completed", "already_completed")
    assert (got.body["schedule"]["status"], got.body["schedule"]["alreadyCompleted"]) == (status, True)
    assert process.offered == []


async def test_a_cell_says_why_it_failed(ledger: Ledger) -> None:
    process = behind(ledger)
    await failed_for_good(process)
    cells = (await trigger(process)).body["schedule"]["cells"]
    assert cells[0] == {"targetId": "a", "status": "failed", "workId": None, "error": "no such tag"}


async def test_a_ledger_with_damaged_pages_is_not_written_to_for_a_trigger(ledger: Ledger) -> None:
    """The write might be the one that ends the process; who calls is told, and nothing is said to be kept."""
    process = behind(ledger)
    ledger.damaged = "page 7"
    got = await trigger(process)
    assert (got.status, got.body) == (503, {"status": "rejected", "note": "rejected", "reason": "ledger_damaged"})
    assert (await process.slots(), await process.rows()) == ([], [])
