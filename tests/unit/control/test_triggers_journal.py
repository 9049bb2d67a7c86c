"""The run route: what is written down, and that nothing is lost for the sake of it."""

from typing import Any

import pytest
import trio

from pixivflow.control import triggers
from pixivflow.errors import StorageFull, Unavailable
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.scheduling.occurrence import occurrence_of
from tests.edges.control.doors import behind
from tests.fixtures.slots import HOUR, NOW, SLOT
from tests.unit.control.asking import Told, outcomes, trigger
from tests.unit.control.scenes import BUSY, without_cron


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
