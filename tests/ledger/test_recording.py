"""Recording an answer: the row, its promise, the audit and the cell, together, by the owner alone."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pixivflow.delivery.machine import RowEvent, row_after
from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    OutboxRow,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
    RowKind,
    RowStatus,
)
from pixivflow.ids import OutboxId, Owner, RouteName
from pixivflow.ledger import deliveries, events, outbox, recording
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.slots.model import RouteFact
from pixivflow.times import utc_text
from tests.fixtures.deliveries import KEY, ME, NOW, ONE_OF_EACH, OTHER, SLOT, TARGET, an_order
from tests.fixtures.ledgers import transaction
from tests.ledger.promising import cancelled_by_consumer, owed, put, sole, table, told

LEASE = 120_000
UNAVAILABLE = RetryableFailure(error="answered HTTP 503", http_status=503)
TIMED_OUT = RetryableFailure(error="timed out", answer_unknown=True)


@pytest.fixture
def other(db: Db, ledger_path: Path) -> Iterator[Db]:
    """A second process's connection to the same file."""
    connection = connect_plain(ledger_path)
    yield connection
    connection.close()


def claimed(db: Db, route: str = "a", owner: Owner = ME, now: int = NOW) -> OutboxRow:
    with transaction(db):
        [row] = outbox.claim(db, RouteName(route), 1, owner, now)
    return row


def recorded(db: Db, row: OutboxRow, ack: Ack, owner: Owner = ME, now: int = NOW, u: float = 0.0) -> bool:
    with transaction(db):
        return recording.record(db, row.id, ack, owner, now, u)


def cleared(db: Db, row: OutboxRow, owner: Owner = ME, now: int = NOW) -> bool:
    with transaction(db):
        return recording.cleared(db, row.id, owner, now)


def answered(db: Db, ack: Ack, route: str = "a", now: int = NOW) -> None:
    assert recorded(db, claimed(db, route, now=now), ack, now=now)


def states(db: Db) -> tuple[str, str, str]:
    """Of the one row, its promise and the cell."""
    return (
        sole(db, "outbox")["status"],
        sole(db, "deliveries")["status"],
        sole(db, "schedule_slot_items")["status"],
    )


@pytest.mark.parametrize(
    ("ack", "expected"),
    [
        (ONE_OF_EACH[0], ("done", "delivered", "submitted")),
        (ONE_OF_EACH[1], ("done", "delivered", "submitted")),
        (ONE_OF_EACH[2], ("done", "duplicate", "duplicate")),
        (ONE_OF_EACH[3], ("done", "failed", "failed")),
        (ONE_OF_EACH[4], ("retry_wait", "pending", "delivery_pending")),
        (ONE_OF_EACH[5], ("dead", "failed", "failed")),
    ],
    ids=[type(ack).__name__ for ack in ONE_OF_EACH],
)
def test_an_answer_moves_row_promise_and_cell_together(db: Db, ack: Ack, expected: tuple[str, str, str]) -> None:
    owed(db, "a")

    answered(db, ack)

    assert states(db) == expected


def test_an_acceptance_is_written_whole(db: Db) -> None:
    owed(db, "a")
    put(db, attempts=2, last_error="x")

    answered(db, Accepted(remote_id="7", remote_status="pending_review"), now=NOW + 5_000)

    row, intent = sole(db, "outbox"), sole(db, "deliveries")
    at = utc_text(NOW + 5_000)
    assert (row["attempts"], row["last_error"], row["completed_at"]) == (2, None, NOW + 5_000)
    assert (row["lease_owner"], row["lease_until"]) == (None, None)
    assert (intent["remote_id"], intent["remote_status"], intent["attempts"]) == ("7", "pending_review", 1)
    assert (intent["delivered_at"], intent["updated_at"], intent["last_error"]) == (at, at, None)
    event = sole(db, "delivery_events")
    assert (event["event"], event["ts"], event["outbox_id"], event["delivery_id"]) == (
        "outbox.delivered",
        NOW + 5_000,
        row["id"],
        intent["id"],
    )
    assert (event["execution_id"], event["slot_id"], event["pixiv_id"], event["delivery_target"]) == (
        "run-1",
        SLOT,
        "1",
        "a",
    )


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
@pytest.mark.parametrize("status", RowStatus)
def test_an_answer_changes_a_row_only_where_the_table_allows_it(db: Db, ack: Ack, status: RowStatus) -> None:
    owed(db, "a")
    row = claimed(db)
    if status is not RowStatus.PROCESSING:
        put(db, status=status, lease_owner=None, lease_until=None)
    before = sole(db, "outbox")

    assert recorded(db, row, ack) == (status is RowStatus.PROCESSING)

    event = {
        Accepted: RowEvent.SUCCEEDED,
        IdempotentReplay: RowEvent.SUCCEEDED,
        DuplicateExisting: RowEvent.SUCCEEDED,
        RemoteFailed: RowEvent.REMOTE_FAILED,
        RetryableFailure: RowEvent.FAILED_WITH_BUDGET,
        PermanentFailure: RowEvent.FAILED_FOR_GOOD,
    }[type(ack)]
    after = sole(db, "outbox")
    if row_after(status, event) is None:
        assert after == before
    else:
        assert after["status"] == row_after(status, event)


# Retries and budgets


@pytest.mark.case("delivery", 29)
@pytest.mark.parametrize(("u", "wait"), [(0.0, 15_000), (0.999_999, 30_000)])
def test_a_first_failure_waits_between_fifteen_and_thirty_seconds(db: Db, u: float, wait: int) -> None:
    owed(db, "a")

    recorded(db, claimed(db), UNAVAILABLE, u=u)

    row = sole(db, "outbox")
    assert (row["status"], row["attempts"], row["next_attempt_at"]) == ("retry_wait", 1, NOW + wait)
    assert row["last_error"] == "answered HTTP 503"


@pytest.mark.case("delivery", 30)
def test_the_twelfth_failure_ends_row_promise_and_cell_once(db: Db) -> None:
    owed(db, "a")
    put(db, attempts=11)

    answered(db, UNAVAILABLE)

    assert states(db) == ("dead", "failed", "failed")
    assert sole(db, "outbox")["attempts"] == 12
    assert told(db) == ["outbox.dead"]
    cell = sole(db, "schedule_slot_items")
    assert cell["terminal_reason_code"] == "delivery_failed"
    assert "confirmed on 0 of 1 routes, lost on a: answered HTTP 503" in cell["last_error"]


@pytest.mark.case("delivery", 31)
def test_a_receiver_that_asks_for_ninety_seconds_is_left_alone_so_long(db: Db) -> None:
    owed(db, "a")

    answered(db, RetryableFailure(error="slow down", http_status=429, retry_after_ms=90_000))

    assert sole(db, "outbox")["next_attempt_at"] >= NOW + 90_000


@pytest.mark.case("delivery", 32)
def test_a_permanent_failure_is_dead_after_one_call(db: Db) -> None:
    owed(db, "a")
    put(db, max_attempts=3)

    answered(db, PermanentFailure(error="bad"))

    assert (sole(db, "outbox")["status"], sole(db, "outbox")["attempts"]) == ("dead", 1)
    assert outbox.due(db, 2**62).routes == ()


@pytest.mark.case("delivery", 33)
def test_a_permanent_failure_that_speaks_of_a_timeout_is_dead_at_once(db: Db) -> None:
    owed(db, "a")

    answered(db, PermanentFailure(error="upstream timeout", http_status=400))

    assert (sole(db, "outbox")["status"], sole(db, "outbox")["attempts"]) == ("dead", 1)


@pytest.mark.case("delivery", 34)
def test_a_retryable_failure_that_speaks_of_a_duplicate_is_tried_again(db: Db) -> None:
    owed(db, "a")

    answered(db, RetryableFailure(error="try later, to avoid a duplicate"))

    assert sole(db, "outbox")["status"] == "retry_wait"


@pytest.mark.case("delivery", 28)
def test_a_work_promised_three_times_under_one_key_is_sent_once(db: Db) -> None:
    for _ in range(3):
        owed(db, "a")

    row = claimed(db)
    assert cleared(db, row)
    recorded(db, row, Accepted())

    assert outbox.due(db, 2**62).routes == ()
    assert told(db).count("outbox.claimed") == 1


# Lost answers and stale workers


class Receiver:
    """Keeps one record a key, as a receiver that can tell a repetition from a second publication does."""

    def __init__(self) -> None:
        self.records: dict[str, int] = {}

    def take(self, row: OutboxRow) -> Ack:
        key = json.loads(row.payload_json)["context"]["idempotencyKey"]
        if key in self.records:
            return IdempotentReplay(remote_id=str(self.records[key]))
        self.records[key] = len(self.records) + 1
        return Accepted(remote_id=str(self.records[key]))


@pytest.mark.case("delivery", 23)
def test_an_answer_lost_on_its_way_back_costs_a_replay_and_no_second_publication(db: Db) -> None:
    owed(db, "a")
    receiver = Receiver()

    first = claimed(db)
    receiver.take(first)
    recorded(db, first, TIMED_OUT)
    second = claimed(db, now=NOW + 15_000)
    recorded(db, second, receiver.take(second), now=NOW + 15_000)

    assert receiver.records == {KEY: 1}
    assert states(db) == ("done", "delivered", "submitted")
    assert sole(db, "deliveries")["remote_id"] == "1"
    assert told(db) == ["outbox.retry_scheduled", "delivery.duplicate", "outbox.delivered"]


@pytest.mark.case("delivery", 24)
def test_a_process_that_died_between_the_answer_and_the_ledger_is_made_good_by_the_next(
    db: Db, ledger_path: Path
) -> None:
    owed(db, "a")
    receiver = Receiver()
    dying = connect_plain(ledger_path)
    receiver.take(claimed(dying, owner=OTHER))
    dying.close()

    row = claimed(db, now=NOW + LEASE)
    assert cleared(db, row, now=NOW + LEASE)
    recorded(db, row, receiver.take(row), now=NOW + LEASE)

    assert receiver.records == {KEY: 1}
    assert states(db) == ("done", "delivered", "submitted")


@pytest.mark.case("delivery", 26)
def test_a_worker_that_wakes_after_its_successor_has_closed_the_row_closes_nothing(db: Db, other: Db) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    fresh = claimed(other, owner=OTHER, now=NOW + LEASE)
    assert recorded(other, fresh, IdempotentReplay(remote_id="7"), OTHER, NOW + LEASE)
    before = sole(db, "outbox")

    assert not recorded(db, stale, Accepted(remote_id="8"), ME, NOW + LEASE + 5)

    assert sole(db, "outbox") == before
    assert states(db) == ("done", "delivered", "submitted")
    assert sole(db, "deliveries")["remote_id"] == "7"


@pytest.mark.case("delivery", 27)
@pytest.mark.parametrize("ack", [UNAVAILABLE, PermanentFailure(error="bad"), ONE_OF_EACH[3]])
def test_a_worker_that_wakes_with_a_failure_takes_no_publication_back(db: Db, other: Db, ack: Ack) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    fresh = claimed(other, owner=OTHER, now=NOW + LEASE)
    recorded(other, fresh, Accepted(remote_id="7"), OTHER, NOW + LEASE)
    before = [table(db, name) for name in ("outbox", "deliveries", "delivery_events")]

    assert not recorded(db, stale, ack, ME, NOW + LEASE + 5)

    assert [table(db, name) for name in ("outbox", "deliveries", "delivery_events")] == before


def test_a_failure_of_a_worker_that_lost_its_row_leaves_its_successor_alone(db: Db, other: Db) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    claimed(other, owner=OTHER, now=NOW + LEASE)
    before = [table(db, name) for name in ("outbox", "deliveries", "schedule_slot_items")]

    assert not recorded(db, stale, PermanentFailure(error="bad"), ME, NOW + LEASE)

    assert [table(db, name) for name in ("outbox", "deliveries", "schedule_slot_items")] == before
    assert told(db) == []


def test_a_publication_is_kept_though_the_row_is_somebody_elses_and_is_not_sent_again(db: Db, other: Db) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    fresh = claimed(other, owner=OTHER, now=NOW + LEASE)

    assert not recorded(db, stale, Accepted(remote_id="7"), ME, NOW + LEASE)

    assert states(db) == ("processing", "delivered", "submitted")
    assert sole(db, "outbox")["lease_owner"] == OTHER
    assert not cleared(other, fresh, OTHER, NOW + LEASE + 5)
    assert states(db) == ("done", "delivered", "submitted")


def test_a_duplicate_found_by_a_worker_that_was_overtaken_may_be_its_successors_publication(db: Db, other: Db) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    claimed(other, owner=OTHER, now=NOW + LEASE)

    recorded(db, stale, DuplicateExisting(), ME, NOW + LEASE)

    assert sole(db, "deliveries")["status"] == "delivered"


@pytest.mark.case("delivery", 111)
@pytest.mark.parametrize(
    "ack", [DuplicateExisting(http_status=409), PermanentFailure(error="conflict", http_status=409)]
)
def test_a_conflict_met_by_the_successor_of_a_dead_process_is_our_own_publication(
    db: Db, ledger_path: Path, ack: Ack
) -> None:
    owed(db, "a")
    dying = connect_plain(ledger_path)
    claimed(dying, owner=OTHER)
    dying.close()

    answered(db, ack, now=NOW + LEASE)

    assert sole(db, "outbox")["answer_unknown"] == 1
    assert states(db) == ("done", "delivered", "submitted")
    assert sole(db, "deliveries")["remote_status"] == "idempotent_replay"


@pytest.mark.case("delivery", 112)
def test_a_duplicate_after_an_answer_that_was_known_is_somebody_elses(db: Db) -> None:
    owed(db, "a")

    answered(db, UNAVAILABLE)
    answered(db, DuplicateExisting(), now=NOW + 15_000)

    assert states(db) == ("done", "duplicate", "duplicate")


@pytest.mark.parametrize(
    ("ack", "status"),
    [
        (PermanentFailure(error="conflict", http_status=409), "delivered"),
        (DuplicateExisting(), "delivered"),
        (DuplicateExisting(matched_key=KEY), "delivered"),
        (DuplicateExisting(matched_key="another"), "duplicate"),
    ],
)
def test_after_a_timeout_the_receiver_speaks_of_us_unless_it_names_another(db: Db, ack: Ack, status: str) -> None:
    owed(db, "a")

    answered(db, TIMED_OUT)
    answered(db, ack, now=NOW + 15_000)

    assert sole(db, "deliveries")["status"] == status


def test_a_lost_answer_is_remembered_through_every_later_change(db: Db) -> None:
    owed(db, "a")
    answered(db, TIMED_OUT)
    answered(db, UNAVAILABLE, now=NOW + 30_000)
    answered(db, PermanentFailure(error="bad"), now=NOW + 120_000)
    owed(db, "a", now=NOW + 200_000)

    assert sole(db, "outbox")["status"] == "pending"
    assert sole(db, "outbox")["answer_unknown"] == 1


# Several routes


def cell(db: Db) -> str:
    return str(sole(db, "schedule_slot_items")["status"])


@pytest.mark.parametrize("first", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
def test_one_routes_answer_never_decides_a_cell_that_another_still_owes(db: Db, first: Ack) -> None:
    owed(db, "a", "b")

    answered(db, first, "a")

    assert cell(db) == "delivery_pending"


@pytest.mark.parametrize(
    ("second", "expected"),
    [(Accepted(), "submitted"), (DuplicateExisting(), "submitted"), (PermanentFailure(error="x"), "failed")],
)
def test_the_last_route_decides_for_all(db: Db, second: Ack, expected: str) -> None:
    owed(db, "a", "b")

    answered(db, Accepted(), "a")
    answered(db, second, "b")

    assert cell(db) == expected


@pytest.mark.case("delivery", 83)
def test_a_cell_lost_on_one_route_fails_and_what_the_other_published_stays_known(db: Db) -> None:
    owed(db, "a", "b")

    answered(db, PermanentFailure(error="bad"), "a")
    assert cell(db) == "delivery_pending"
    answered(db, Accepted(remote_id="7"), "b")

    assert cell(db) == "failed"
    assert deliveries.routes_of(db, SLOT, TARGET) == (
        RouteFact(route=RouteName("a"), status="failed"),
        RouteFact(route=RouteName("b"), status="delivered", remote_id="7"),
    )
    assert "confirmed on 1 of 2 routes, lost on a: bad" in sole(db, "schedule_slot_items")["last_error"]


def test_routes_that_all_had_the_work_before_make_the_cell_a_duplicate(db: Db) -> None:
    owed(db, "a", "b")

    answered(db, DuplicateExisting(), "a")
    answered(db, DuplicateExisting(), "b")

    assert cell(db) == "duplicate"


@pytest.mark.parametrize("ended", ["submitted", "duplicate", "failed", "no_candidate"])
@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
def test_no_answer_changes_a_cell_that_has_ended(db: Db, ack: Ack, ended: str) -> None:
    owed(db, "a")
    with transaction(db):
        db.execute("UPDATE schedule_slot_items SET status = ?", (ended,))

    answered(db, ack)

    assert cell(db) == ended


def test_a_publication_of_another_work_does_not_settle_the_cell(db: Db) -> None:
    owed(db, "a")
    with transaction(db):
        db.execute("UPDATE schedule_slot_items SET work_id = '2'")

    answered(db, Accepted())

    assert cell(db) == "delivery_pending"


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
def test_a_work_outside_any_occurrence_has_no_cell_to_settle(db: Db, ack: Ack) -> None:
    owed(db, "a", order=an_order("1", None, None))

    answered(db, ack)

    assert sole(db, "outbox")["status"] != "processing"


@pytest.mark.parametrize("ack", ONE_OF_EACH, ids=lambda ack: type(ack).__name__)
def test_a_notice_is_answered_without_a_promise(db: Db, ack: Ack) -> None:
    notice = OutboxRow(id=OutboxId("n"), kind=RowKind.NOTIFICATION, route=RouteName("a"), payload_json="{}")
    with transaction(db):
        outbox.put(db, notice, NOW)
    row = claimed(db)

    assert cleared(db, row)
    assert recorded(db, row, ack)

    assert sole(db, "outbox")["status"] != "processing"
    assert table(db, "deliveries") == []


# The last look


def test_the_last_look_announces_the_attempt_and_begins_the_lease_anew(db: Db) -> None:
    owed(db, "a")
    row = claimed(db)

    assert cleared(db, row, now=NOW + 100_000)

    assert told(db) == ["outbox.claimed"]
    assert sole(db, "outbox")["lease_until"] == NOW + 100_000 + LEASE


def test_the_last_look_refuses_a_row_that_is_somebody_elses(db: Db, other: Db) -> None:
    owed(db, "a")
    row = claimed(db, owner=ME)
    claimed(other, owner=OTHER, now=NOW + LEASE)
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


# The audit


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


# Hostile answers


def test_an_error_of_megabytes_and_broken_characters_is_kept_short(db: Db) -> None:
    owed(db, "a")

    answered(db, RetryableFailure(error="\x00\ud800 https://u:p@h/?secret " + "x y " * 1_250_000))

    error = sole(db, "outbox")["last_error"]
    assert error.startswith("? https://redacted@h/?…")
    assert len(error) <= 1_000


def test_a_remote_id_that_breaks_other_programs_is_kept_as_it_can_be(db: Db) -> None:
    owed(db, "a")

    answered(db, Accepted(remote_id="\ud800\x00" + "7" * 5_000_000, remote_status="\udfff"))

    intent = sole(db, "deliveries")
    assert intent["remote_id"] == "? " + "7" * 498
    assert intent["remote_status"] == "?"


@pytest.mark.parametrize("wish", [10**30, -(10**30), 0])
def test_no_wish_of_a_receiver_can_lose_a_row(db: Db, wish: int) -> None:
    owed(db, "a")

    answered(db, RetryableFailure(error="", retry_after_ms=wish))

    assert NOW + 15_000 <= sole(db, "outbox")["next_attempt_at"] <= NOW + 21_600_000


def test_a_row_that_was_tried_more_often_than_can_be_counted_still_ends(db: Db) -> None:
    owed(db, "a")
    put(db, attempts=2**63 - 1)

    answered(db, UNAVAILABLE)

    assert sole(db, "outbox")["status"] == "dead"


def test_an_answer_to_a_row_that_is_not_there_changes_nothing(db: Db) -> None:
    with transaction(db):
        assert not recording.record(db, OutboxId("gone"), Accepted(), ME, NOW, 0.0)
        assert not recording.cleared(db, OutboxId("gone"), ME, NOW)
