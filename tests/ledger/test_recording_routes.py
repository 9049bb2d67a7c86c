"""Cells of several routes, cells that have ended, and work without any cell."""

import pytest

from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    OutboxRow,
    PermanentFailure,
    RowKind,
)
from pixivflow.ids import OutboxId, RouteName
from pixivflow.ledger import deliveries, outbox_rows
from pixivflow.ledger.connection import Db
from pixivflow.slots.model import RouteFact
from tests.fixtures.deliveries import NOW, ONE_OF_EACH, SLOT, TARGET, an_order
from tests.fixtures.ledgers import transaction
from tests.ledger.promising import answered, claimed, cleared, owed, recorded, sole, table


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
        outbox_rows.put(db, notice, NOW)
    row = claimed(db)

    assert cleared(db, row)
    assert recorded(db, row, ack)

    assert sole(db, "outbox")["status"] != "processing"
    assert table(db, "deliveries") == []
