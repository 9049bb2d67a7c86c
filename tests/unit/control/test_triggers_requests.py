"""The run route: who asks, what is said, and when."""

import pytest
from trio.testing import MockClock

from actors.ports import Fire
from pixivflow.control import triggers
from pixivflow.control.ports import Failed
from pixivflow.ids import ScheduleId
from pixivflow.ledger.fires import FireLedger
from pixivflow.ledger.interface import Ledger
from pixivflow.scheduling.occurrence import occurrence_of
from tests.edges.control.doors import TOKEN, behind
from tests.fixtures.slots import HOUR, MINUTE, NOW, SLOT, a_plan
from tests.unit.control.asking import outcomes, trigger
from tests.unit.control.scenes import SHANGHAI, open_to_nobody, without_cron


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
        owing=tuple,
    )
    process.clock.step(NOW + 10 * MINUTE - process.clock.now_ms())
    assert await clock.open(Fire("p", NOW), NOW) == SLOT
    assert (await trigger(process)).body["schedule"]["slotId"] == SLOT
    opened = "SELECT id, occurrence_at, trigger_source FROM schedule_slots"
    assert await ledger.read(lambda db: db.execute(opened).fetchall()) == [(SLOT, NOW, "cron")]


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
