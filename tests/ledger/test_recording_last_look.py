"""The last look before a send, and the trace that a delivery leaves."""

import json
import sqlite3

import pytest

from pixivflow.delivery.model import (
    Accepted,
    IdempotentReplay,
)
from pixivflow.ledger import events
from pixivflow.ledger.connection import Db
from tests.fixtures.deliveries import ME, NOW, ONE_OF_EACH, OTHER, an_order
from tests.ledger.promising import (
    answered,
    cancelled_by_consumer,
    claimed,
    cleared,
    owed,
    put,
    recorded,
    sole,
    states,
    table,
    told,
)

LEASE = 120_000


def test_the_last_look_announces_the_attempt_and_begins_the_lease_anew(db: Db) -> None:
    owed(db, "a")
    row = claimed(db)

    assert cleared(db, row, now=NOW + 100_000)

    assert told(db) == ["outbox.claimed"]
    assert sole(db, "outbox")["lease_until"] == NOW + 100_000 + LEASE


def test_the_last_look_refuses_a_row_that_is_somebody_elses(db: Db, other_process: Db) -> None:
    owed(db, "a")
    row = claimed(db, owner=ME)
    claimed(other_process, owner=OTHER, now=NOW + LEASE)
    before = sole(db, "outbox")

    assert not cleared(db, row, ME, NOW + LEASE)

    assert sole(db, "outbox") == before
    assert told(db) == []


@pytest.mark.parametrize("status", ["pending", "retry_wait", "done", "dead", "cancelled"])
def test_the_last_look_refuses_a_row_that_nobody_holds(db: Db, status: str) -> None:
    owed(db, "a")
    row = claimed(db)
    put(db, status=status, lease_owner=None, lease_until=None)

    assert not cleared(db, row)

    assert sole(db, "outbox")["status"] == status


@pytest.mark.case("delivery", 89)
def test_a_publication_that_arrives_after_the_cancel_is_recorded_and_the_cell_stays_cancelled(db: Db) -> None:
    owed(db, "a")
    row = claimed(db)
    assert cleared(db, row)
    cancelled_by_consumer(db)

    recorded(db, row, Accepted(remote_id="7"))

    assert states(db) == ("done", "delivered", "failed")
    assert sole(db, "schedule_slot_items")["terminal_reason_code"] == "cancelled_by_consumer"
    late = [row for row in table(db, "delivery_events") if row["event"] == "delivery.late_ack"]
    assert [json.loads(row["detail"]) for row in late] == [{"reason": "accepted", "remoteId": "7"}]


@pytest.mark.case("delivery", 43)
@pytest.mark.parametrize(
    "broken",
    [
        "DROP TABLE delivery_events",
        "CREATE TRIGGER t BEFORE INSERT ON delivery_events BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TRIGGER t BEFORE INSERT ON delivery_events BEGIN SELECT RAISE(FAIL, 'no'); END",
        "CREATE UNIQUE INDEX t ON delivery_events (outbox_id)",
    ],
)
def test_a_delivery_is_recorded_though_the_audit_cannot_be_written(db: Db, broken: str) -> None:
    owed(db, "a")
    row = claimed(db)
    db.execute(broken)

    assert cleared(db, row)
    assert recorded(db, row, IdempotentReplay())

    assert states(db) == ("done", "delivered", "submitted")


def test_an_audit_that_ends_the_transaction_is_not_hushed_up(db: Db) -> None:
    owed(db, "a")
    row = claimed(db)
    db.execute("CREATE TRIGGER t BEFORE INSERT ON delivery_events BEGIN SELECT RAISE(ROLLBACK, 'no'); END")

    with pytest.raises(sqlite3.IntegrityError):
        recorded(db, row, Accepted())

    assert states(db) == ("processing", "pending", "delivery_pending")


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR | 3 << 8, sqlite3.SQLITE_BUSY])
def test_a_disk_that_fails_under_the_audit_is_not_hushed_up(db: Db, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    owed(db, "a")
    row = claimed(db)

    def fail(_db: Db, _event: events.Event) -> None:
        error = sqlite3.OperationalError("disk")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr(events, "append", fail)
    with pytest.raises(sqlite3.OperationalError):
        recorded(db, row, Accepted())

    assert states(db) == ("processing", "pending", "delivery_pending")


def test_every_kind_of_answer_leaves_its_trace(db: Db) -> None:
    expected = [
        ["outbox.delivered"],
        ["delivery.duplicate", "outbox.delivered"],
        ["delivery.duplicate", "outbox.delivered"],
        ["delivery.remote_failed"],
        ["outbox.retry_scheduled"],
        ["outbox.dead"],
    ]
    for n, (ack, names) in enumerate(zip(ONE_OF_EACH, expected, strict=True)):
        seen = len(told(db))
        owed(db, "a", order=an_order(f"work-{n}", None, None))
        answered(db, ack)
        assert told(db)[seen:] == names
