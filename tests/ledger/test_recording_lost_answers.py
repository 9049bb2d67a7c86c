"""Answers that were lost, and workers that wake when another has taken their row."""

import json
from pathlib import Path

import pytest

from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    OutboxRow,
    PermanentFailure,
    RetryableFailure,
)
from pixivflow.ids import OutboxId
from pixivflow.ledger import orders
from pixivflow.ledger.connection import Db, connect_plain
from tests.fixtures.deliveries import KEY, ME, NOW, ONE_OF_EACH, OTHER
from tests.fixtures.ledgers import transaction
from tests.ledger.promising import (
    answered,
    claimed,
    cleared,
    owed,
    recorded,
    sole,
    states,
    table,
    told,
)

LEASE = 120_000
UNAVAILABLE = RetryableFailure(error="answered HTTP 503", http_status=503)
TIMED_OUT = RetryableFailure(error="timed out", answer_unknown=True)


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
def test_a_worker_that_wakes_after_its_successor_has_closed_the_row_closes_nothing(db: Db, other_process: Db) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    fresh = claimed(other_process, owner=OTHER, now=NOW + LEASE)
    assert recorded(other_process, fresh, IdempotentReplay(remote_id="7"), OTHER, NOW + LEASE)
    before = sole(db, "outbox")

    assert not recorded(db, stale, Accepted(remote_id="8"), ME, NOW + LEASE + 5)

    assert sole(db, "outbox") == before
    assert states(db) == ("done", "delivered", "submitted")
    assert sole(db, "deliveries")["remote_id"] == "7"


@pytest.mark.case("delivery", 27)
@pytest.mark.parametrize("ack", [UNAVAILABLE, PermanentFailure(error="bad"), ONE_OF_EACH[3]])
def test_a_worker_that_wakes_with_a_failure_takes_no_publication_back(db: Db, other_process: Db, ack: Ack) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    fresh = claimed(other_process, owner=OTHER, now=NOW + LEASE)
    recorded(other_process, fresh, Accepted(remote_id="7"), OTHER, NOW + LEASE)
    before = [table(db, name) for name in ("outbox", "deliveries", "delivery_events")]

    assert not recorded(db, stale, ack, ME, NOW + LEASE + 5)

    assert [table(db, name) for name in ("outbox", "deliveries", "delivery_events")] == before


def test_a_failure_of_a_worker_that_lost_its_row_leaves_its_successor_alone(db: Db, other_process: Db) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    claimed(other_process, owner=OTHER, now=NOW + LEASE)
    before = [table(db, name) for name in ("outbox", "deliveries", "schedule_slot_items")]

    assert not recorded(db, stale, PermanentFailure(error="bad"), ME, NOW + LEASE)

    assert [table(db, name) for name in ("outbox", "deliveries", "schedule_slot_items")] == before
    assert told(db) == []


def test_a_publication_is_kept_though_the_row_was_taken_over_and_is_not_sent_again(db: Db, other_process: Db) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    fresh = claimed(other_process, owner=OTHER, now=NOW + LEASE)

    assert not recorded(db, stale, Accepted(remote_id="7"), ME, NOW + LEASE)

    assert states(db) == ("processing", "delivered", "submitted")
    assert sole(db, "outbox")["lease_owner"] == OTHER
    assert not cleared(other_process, fresh, OTHER, NOW + LEASE + 5)
    assert states(db) == ("done", "delivered", "submitted")


def test_a_duplicate_found_by_an_overtaken_worker_may_be_its_successors_publication(db: Db, other_process: Db) -> None:
    owed(db, "a")
    stale = claimed(db, owner=ME)
    claimed(other_process, owner=OTHER, now=NOW + LEASE)

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
    with transaction(db):
        orders.revive(db, OutboxId(sole(db, "outbox")["id"]), NOW + 200_000, source="delivery retry")

    assert sole(db, "outbox")["status"] == "pending"
    assert sole(db, "outbox")["answer_unknown"] == 1
