"""The run route: what is answered, what is written down, what is said, each exactly once."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.kit import NoAnswer
from actors.ports import Fire, Refused
from pixivflow.control import triggers
from pixivflow.control.ports import Failed
from pixivflow.errors import StorageFull, Unavailable
from pixivflow.ids import ScheduleId, TargetId
from pixivflow.ledger.connection import Db
from pixivflow.ledger.fires import FireLedger
from pixivflow.ledger.interface import Ledger
from pixivflow.scheduling.occurrence import occurrence_of
from tests.edges.control.doors import TEN, TOKEN, Behind, a_runtime, behind
from tests.fixtures.slots import HOUR, ME, MINUTE, NOW, SLOT, a_plan, put_running, put_slot, set_cell, states
from tests.unit.control.asking import Told, outcomes, trigger

Prepare = Callable[[Behind], Awaitable[None]]
BUSY = Refused("scheduler_busy")
CELLS = [{"targetId": name, "status": "pending", "workId": None} for name in "ab"]
SHANGHAI = {"timezone": "Asia/Shanghai"}


def view(disposition: str, status: str, **more: Any) -> dict[str, Any]:
    return {"scheduleId": "p", "slotId": SLOT, "disposition": disposition, "status": status, **more}


async def as_it_is(process: Behind) -> None:
    """Nothing is prepared."""


async def completed(process: Behind) -> None:
    def put(db: Db) -> None:
        put_slot(db, status="success")
        for target in "ab":
            set_cell(db, SLOT, target, status="submitted", work_id=f"10{target == 'b':d}", work_type="illustration")

    await process.ledger.write(put)


async def failed_for_good(process: Behind) -> None:
    def put(db: Db) -> None:
        put_slot(db, status="failed")
        for target in "ab":
            set_cell(db, SLOT, target, status="failed", last_error="no such tag")

    await process.ledger.write(put)


async def running(process: Behind) -> None:
    process.answer = BUSY
    await process.ledger.write(lambda db: put_running(db, owner=ME, now=TEN) and None)


async def busy(process: Behind) -> None:
    process.answer = BUSY


async def leaving(process: Behind) -> None:
    process.is_leaving = True


async def off(process: Behind) -> None:
    process.plans[ScheduleId("p")] = a_plan(enabled=False, **SHANGHAI)


async def without_targets(process: Behind) -> None:
    process.plans[ScheduleId("p")] = a_plan(target_ids=(TargetId("gone"),), **SHANGHAI)


async def without_cron(process: Behind) -> None:
    process.plans[ScheduleId("p")] = a_plan(cron="", **SHANGHAI)


async def too_late(process: Behind) -> None:
    process.clock.step(89 * MINUTE)


async def open_to_nobody(process: Behind) -> None:
    process.runtime = a_runtime("")


async def broken(process: Behind) -> None:
    process.answer = NoAnswer("nobody is there")


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


@pytest.mark.case("slots", 87)
async def test_an_unknown_plan_runs_nothing_and_a_wrong_token_is_received_before_it_is_refused(
    ledger: Ledger,
) -> None:
    process = behind(ledger)
    got = await trigger(process, plan="nowhere")
    assert (got.status, got.body) == (404, {"status": "error", "error": "unknown schedule: nowhere"})
    assert (process.offered, await process.slots()) == ([], [])
    assert [event for event, _ in process.probe.notes] == ["schedule.trigger_received", "schedule.trigger_not_found"]

    process.probe.notes.clear()
    got = await trigger(process, token="wrong-" + TOKEN, x_attempt_id=TOKEN)
    assert (got.status, got.body) == (401, {"status": "error", "error": "unauthorized"})
    assert got.headers == {"www-authenticate": "Bearer"}
    assert [event for event, _ in process.probe.notes] == [
        "schedule.trigger_received",
        "schedule.trigger_unauthorized",
    ]
    assert TOKEN not in repr(process.probe.notes)
    assert [row["disposition"] for row in await process.rows()] == ["not_found"]


async def test_without_a_token_nobody_is_let_in(ledger: Ledger) -> None:
    process = behind(ledger)
    await open_to_nobody(process)
    for token in (None, "", TOKEN):
        got = await trigger(process, token=token)
        assert (got.status, got.body["error"]) == (503, "endpoint disabled: token not configured")
    assert [(event, fields["disposition"]) for event, fields in outcomes(process)] == [
        ("schedule.trigger_unauthorized", "disabled")
    ] * 3
    assert await process.slots() == []


@pytest.mark.case("slots", 88)
async def test_labels_are_cleaned_cut_or_left_out_and_decide_nothing(ledger: Ledger) -> None:
    process = behind(ledger)
    await trigger(process, x_schedule_attempt_id=" a b\r\n{c} ", x_schedule_provider="cloudflare")
    await trigger(process, x_attempt_id="x" * 200)
    await trigger(process, token="wrong", x_schedule_provider="cloudflare")
    rows = await process.rows()
    assert [(row["attempt_id"], row["provider"]) for row in rows] == [("abc", "cloudflare"), ("x" * 64, None)]
    said = [fields for _, fields in outcomes(process)]
    assert [fields.get("attempt_id") for fields in said] == ["abc", "x" * 64, None]
    assert "attempt_id" not in said[2]
    assert [fields["http_status"] for fields in said] == [202, 202, 401]
    assert await process.slots() == [SLOT]


@pytest.mark.case("slots", 12)
async def test_no_date_that_a_caller_sends_reaches_the_slot(ledger: Ledger) -> None:
    process = behind(ledger)
    body = b'{"date": "2020-01-01", "occurrenceAt": 0, "slotId": "p@2020-01-01T0000", "label": "Morning round"}'
    got = await trigger(process, body)
    assert got.body["schedule"]["slotId"] == SLOT
    assert await ledger.read(
        lambda db: db.execute("SELECT id, occurrence_at, slot_name, trigger_source FROM schedule_slots").fetchall()
    ) == [(SLOT, NOW, "Morning round", "http")]


@pytest.mark.parametrize("label", [b'{"label": 7}', b'{"label": null}', b'{"label": {"a": 1}}'])
async def test_a_label_of_a_wrong_kind_costs_no_run(ledger: Ledger, label: bytes) -> None:
    assert (await trigger(behind(ledger), label)).status == 202


@pytest.mark.parametrize(
    ("sent", "status"),
    [(b"{", 400), (b"[" * 100_000, 400), (Failed(413, "the body is too large"), 413), (Failed(408, "late"), 408)],
    ids=["broken", "deep", "large", "late"],
)
async def test_a_body_that_cannot_be_read_opens_nothing_and_is_written_down(
    ledger: Ledger, sent: bytes | Failed, status: int
) -> None:
    process = behind(ledger)
    assert (await trigger(process, sent)).status == status
    assert await process.slots() == []
    [row] = await process.rows()
    assert (row["disposition"], row["http_status"], row["reason"]) == ("bad_request", status, "bad_body")


@pytest.mark.case("slots", 7)
async def test_the_window_of_a_trigger_holds_its_last_instant_and_nothing_of_the_future(
    ledger: Ledger, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = behind(ledger)
    process.clock.step(NOW + 90 * MINUTE - process.clock.now_ms())
    assert (await trigger(process)).status == 202
    process.clock.step(NOW + 90 * MINUTE + 1 - process.clock.now_ms())
    assert (await trigger(process)).status == 410
    process.clock.step(NOW + 22 * HOUR - process.clock.now_ms())
    monkeypatch.setattr(triggers, "occurrence_for", lambda plan, at: occurrence_of(plan, NOW + 24 * HOUR))
    got = await trigger(process)
    assert got.status == 425
    assert got.body["error"] == "too early for p@2026-09-09T1000: it opens at 2026-09-09T01:45:00.000Z"


@pytest.mark.case("slots", 8)
async def test_a_plan_without_a_cron_line_answers_400_and_opens_nothing(ledger: Ledger) -> None:
    process = behind(ledger)
    await without_cron(process)
    assert (await trigger(process)).status == 400
    assert await process.slots() == []


@pytest.mark.case("slots", 2)
async def test_a_tick_and_a_trigger_ten_minutes_later_are_one_slot_of_one_instant(ledger: Ledger) -> None:
    process = behind(ledger)
    clock = FireLedger(
        ledger,
        plans=lambda: process.plans,
        targets=lambda: process.targets,
        busy=tuple,
        ticking=lambda: True,
        catching_up=lambda: False,
    )
    process.clock.step(NOW + 10 * MINUTE - process.clock.now_ms())
    assert await clock.open(Fire("p", NOW), NOW) == SLOT
    assert (await trigger(process)).body["schedule"]["slotId"] == SLOT
    opened = "SELECT id, occurrence_at, trigger_source FROM schedule_slots"
    assert await ledger.read(lambda db: db.execute(opened).fetchall()) == [(SLOT, NOW, "cron")]


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


@pytest.mark.case("slots", 107)
async def test_every_answer_of_the_run_route_leaves_one_row(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    process = behind(ledger)

    async def asked(name: str, **more: Any) -> Told:
        return await trigger(process, x_attempt_id=name, **more)

    await asked("taken")
    process.answer = BUSY
    await asked("busy")
    await asked("unknown", plan="nowhere")
    process.clock.step(2 * HOUR)
    await asked("late")
    monkeypatch.setattr(triggers, "occurrence_for", lambda plan, at: occurrence_of(plan, NOW + 24 * HOUR))
    await asked("early")
    monkeypatch.undo()
    await without_cron(process)
    await asked("no cron")
    assert [(row["attempt_id"], row["disposition"], row["http_status"]) for row in await process.rows()] == [
        ("taken", "accepted", 202),
        ("busy", "rejected", 503),
        ("unknown", "not_found", 404),
        ("late", "too_late", 410),
        ("early", "too_early", 425),
        ("nocron", "bad_request", 400),
    ]


async def test_the_slot_of_an_accepted_request_and_its_row_are_one_commit(ledger: Ledger) -> None:
    process = behind(ledger)
    seen: list[tuple[list[str], list[tuple[str, int]]]] = []

    async def look() -> None:
        rows = [(row["slot_id"], row["http_status"]) for row in await process.rows()]
        seen.append((await process.slots(), rows))

    process.meet = look
    await trigger(process)
    assert seen == [([SLOT], [(SLOT, 0)])]


@pytest.mark.case("slots", 110)
@pytest.mark.parametrize("moment", ["INSERT", "UPDATE"])
async def test_a_journal_that_fails_costs_neither_slot_nor_answer_and_is_said_once(ledger: Ledger, moment: str) -> None:
    process = behind(ledger)

    def break_it(db: Db) -> None:
        db.execute(f"CREATE TRIGGER broken BEFORE {moment} ON trigger_requests BEGIN SELECT RAISE(ABORT, 'no'); END")

    await ledger.write(break_it)
    assert (await trigger(process)).status == 202
    assert await process.slots() == [SLOT]
    [said] = process.probe.heard("schedule.journal_failed")
    assert said["error"] == "no"
    assert [event for event, _ in outcomes(process)] == ["schedule.trigger_accepted"]


async def test_a_journal_that_fails_costs_a_refusal_nothing_either(ledger: Ledger) -> None:
    process = behind(ledger)
    await ledger.write(lambda db: db.execute("DROP TABLE trigger_requests") and None)
    assert (await trigger(process, plan="nowhere")).status == 404
    assert len(process.probe.heard("schedule.journal_failed")) == 1


async def test_a_log_that_fails_changes_no_answer(ledger: Ledger) -> None:
    process = behind(ledger)

    def broken_note(event: str, /, **fields: object) -> None:
        raise RuntimeError(event)

    process.probe.note = broken_note  # type: ignore[method-assign]
    assert (await trigger(process)).status == 202


class Unwilling:
    """A ledger whose writes from the `nth` on fail."""

    def __init__(self, inner: Ledger, error: Exception, nth: int = 0) -> None:
        self._inner, self._error, self._left = inner, error, nth

    async def write(self, *args: Any, **kwargs: Any) -> Any:
        if self._left <= 0:
            await trio.lowlevel.checkpoint()
            raise self._error
        self._left -= 1
        return await self._inner.write(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.mark.parametrize(
    ("error", "reason"),
    [(StorageFull("no room"), "storage_full"), (Unavailable("another process keeps it"), "ledger_busy")],
)
async def test_a_ledger_that_takes_nothing_now_is_asked_again_later(
    ledger: Ledger, error: Exception, reason: str
) -> None:
    process = behind(Unwilling(ledger, error))  # type: ignore[arg-type]
    got = await trigger(process)
    assert (got.status, got.body["status"], got.headers) == (503, "rejected", {"retry-after": "60"})
    assert (process.offered, await process.slots()) == ([], [])
    [(_, fields)] = outcomes(process)
    assert (fields["disposition"], fields["reason"]) == ("rejected", reason)


async def test_what_was_taken_stays_taken_although_the_ledger_cannot_be_asked_again(ledger: Ledger) -> None:
    process = behind(Unwilling(ledger, Unavailable("busy"), nth=1))  # type: ignore[arg-type]
    got = await trigger(process)
    assert (got.status, got.body["schedule"]["status"]) == (202, "pending")
    assert [row["http_status"] for row in await process.rows()] == [0]


async def test_a_caller_that_goes_away_leaves_its_slot_and_a_row_without_an_answer(ledger: Ledger) -> None:
    process = behind(ledger)
    process.meet = trio.sleep_forever
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trigger, process)
        while not process.offered:
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert await process.slots() == [SLOT]
    [row] = await process.rows()
    assert (row["disposition"], row["http_status"]) == ("error", 0)
    [(event, fields)] = outcomes(process)
    assert (event, fields["http_status"], fields["reason"]) == ("schedule.trigger_error", 0, "caller_gone")


@pytest.mark.parametrize("name", ["p/../q", "p\nschedule.trigger_accepted", "x" * 5_000, "P", "p ", "\u65e5\u672c", ""])
async def test_a_name_that_is_no_plans_is_unknown_and_cannot_flood_or_break_a_line(ledger: Ledger, name: str) -> None:
    process = behind(ledger, a_plan(timezone="Asia/Shanghai"), a_plan(id=ScheduleId("x" * 64), **SHANGHAI))
    got = await trigger(process, plan=name)
    assert got.status == 404
    assert "\n" not in got.body["error"]
    assert len(got.body["error"]) < 100
    [row] = await process.rows()
    assert row["disposition"] == "not_found"
    assert "\n" not in (row["schedule_id"] or "")
    assert all(len(repr(fields)) < 1_000 for _, fields in process.probe.notes)


async def test_a_name_of_64_characters_is_a_plans(ledger: Ledger) -> None:
    name = ScheduleId("x" * 64)
    process = behind(ledger, a_plan(id=name, **SHANGHAI))
    assert (await trigger(process, plan=name)).status == 202
    assert (await trigger(process, plan=name + "x")).status == 404
