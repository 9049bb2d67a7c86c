"""The audit."""

import pytest

from pixivflow.ledger import events
from pixivflow.ledger.connection import Db
from pixivflow.ledger.events import EXECUTION_SUMMARY, Event
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import NOW, SLOT


def test_an_event_is_kept_with_all_its_fields(db: Db) -> None:
    event = Event(
        event="outbox.retry_scheduled",
        ts=NOW,
        delivery_id="d",
        outbox_id="o",
        execution_id="x",
        slot_id=SLOT,
        pixiv_id="101",
        delivery_target="r1",
        error_class="timeout",
        retryable=True,
        counts_as_attempt=True,
        actor="worker",
        detail="{}",
    )
    with transaction(db):
        events.append(db, event)
    [row] = db.execute(
        "SELECT event, ts, delivery_id, outbox_id, execution_id, slot_id, pixiv_id, delivery_target, error_class,"
        " retryable, counts_as_attempt, actor, detail FROM delivery_events"
    ).fetchall()
    assert row == (event.event, NOW, "d", "o", "x", SLOT, "101", "r1", "timeout", 1, 1, "worker", "{}")


def test_an_event_without_a_name_is_refused(db: Db) -> None:
    with pytest.raises(Exception, match="CHECK"), transaction(db):
        events.append(db, Event(event="", ts=NOW))


def test_an_event_that_is_kept_once_is_kept_once_for_each_slot(db: Db) -> None:
    with transaction(db):
        added = [
            events.append_once(db, Event(event=EXECUTION_SUMMARY, ts=NOW, slot_id=slot, detail=detail))
            for slot, detail in ((SLOT, "first"), (SLOT, "second"), ("q@1", "other"))
        ]
    assert added == [True, False, True]
    assert db.execute("SELECT detail FROM delivery_events ORDER BY id").fetchall() == [("first",), ("other",)]


def test_a_row_is_told_in_the_log_with_its_fields_and_its_detail() -> None:
    event = Event(
        event="outbox.dead",
        ts=NOW,
        outbox_id="o",
        slot_id=SLOT,
        delivery_target="r1",
        error_class="timeout",
        retryable=False,
        counts_as_attempt=True,
        actor="cli",
        detail='{"attempt": 3, "error": "no answer"}',
    )
    assert event.line() == (
        "outbox.dead",
        {
            "slot_id": SLOT,
            "route": "r1",
            "outbox_id": "o",
            "errorClass": "timeout",
            "retryable": False,
            "countsAsAttempt": True,
            "by": "cli",
            "attempt": 3,
            "error": "no answer",
        },
    )


def test_the_end_of_an_occurrence_is_told_as_its_outcome_record() -> None:
    detail = '{"summary": "a sentence", "outcome": {"event": "schedule.outcome", "slot_id": "s", "alertable": false}}'
    event = Event(event=EXECUTION_SUMMARY, ts=NOW, slot_id="s", execution_id="s", detail=detail)
    assert event.line() == ("schedule.outcome", {"slot_id": "s", "alertable": False})
