"""Rows whose receiver is not ready: told of once in a while, and otherwise left as they are."""

from typing import Any

import pytest

from pixivflow.delivery.deferral import Unready
from pixivflow.ids import OutboxId, RouteName
from pixivflow.ledger import outbox, outbox_rows
from pixivflow.ledger.connection import Db
from pixivflow.ledger.deferrals import defer
from pixivflow.ledger.enqueue import fan_out
from tests.fixtures.deliveries import ME, NOW, an_order, promised
from tests.fixtures.ledgers import transaction

A = RouteName("a")
WHY = Unready(reason="http_503", status=503)


def events(db: Db) -> list[Any]:
    return db.execute(
        """SELECT outbox_id, event, error_class, retryable, counts_as_attempt, detail, delivery_target, execution_id, ts
           FROM delivery_events ORDER BY id"""
    ).fetchall()


def waiting(db: Db, *works: str, route: str = "a", now: int = NOW) -> list[OutboxId]:
    """Due rows of these works, in their order."""
    found = []
    with transaction(db):
        for n, work in enumerate(works):
            order = an_order(work, slot=None, target=None)
            [promise] = promised(order, route)
            fan_out(db, order, [promise], now + n)
            found.append(promise.outbox_id)
    return found


def deferred(db: Db, *, count: int = 4, now: int = NOW, why: Unready = WHY) -> int:
    with transaction(db):
        return defer(db, A, count, why, now)


def test_a_row_that_waits_keeps_its_state_and_its_budget_and_the_audit_says_why(db: Db) -> None:
    [row_id] = waiting(db, "1")
    before = outbox_rows.read(db, row_id)

    assert deferred(db) == 1

    assert outbox_rows.read(db, row_id) == before
    detail = '{"reason":"http_503","status":503}'
    expected = (row_id, "outbox.deferred", "dependency_not_ready", 1, 0, detail, "a", "run-1", NOW)
    assert events(db) == [expected]


@pytest.mark.parametrize(("later_ms", "told"), [(0, 1), (59_999, 1), (60_000, 2)])
def test_a_row_is_told_of_once_a_minute_whatever_process_asks(db: Db, later_ms: int, told: int) -> None:
    waiting(db, "1")
    deferred(db)
    deferred(db, now=NOW + later_ms)
    assert len(events(db)) == told


def test_a_row_that_came_later_is_told_of_by_itself(db: Db) -> None:
    [first] = waiting(db, "1")
    deferred(db)
    [second] = waiting(db, "2")
    deferred(db, now=NOW + 10)
    assert [row[0] for row in events(db)] == [first, second]


def test_only_rows_that_would_have_been_sent_now_are_told_of(db: Db) -> None:
    first, second, *_ = waiting(db, "1", "2", "3", now=NOW - 10)
    waiting(db, "4", now=NOW + 1)
    waiting(db, "5", route="b", now=NOW - 10)
    assert deferred(db, count=2) == 2
    assert [row[0] for row in events(db)] == [first, second]


def test_a_row_that_somebody_sends_now_is_not_told_of(db: Db) -> None:
    waiting(db, "1")
    with transaction(db):
        outbox.claim(db, A, 1, ME, NOW)
    assert deferred(db) == 0


def test_other_events_of_the_row_do_not_silence_a_deferral(db: Db) -> None:
    [row_id] = waiting(db, "1")
    with transaction(db):
        db.execute("INSERT INTO delivery_events (ts, outbox_id, event) VALUES (?, ?, 'outbox.claimed')", (NOW, row_id))
    assert deferred(db) == 1


def test_a_timeout_has_no_status(db: Db) -> None:
    waiting(db, "1")
    deferred(db, why=Unready(reason="timeout"))
    assert events(db)[0][5] == '{"reason":"timeout","status":null}'
