"""What acting in any order has brought to light, each told once more as a short story."""

import pytest

from pixivflow.delivery.model import Accepted, PermanentFailure
from pixivflow.errors import Conflict
from pixivflow.ids import Owner, RouteName
from pixivflow.ledger import orders, outbox, recording
from pixivflow.ledger.connection import Db
from tests.fixtures.deliveries import NOW, an_order, promised
from tests.fixtures.ledgers import transaction
from tests.ledger.promising import a_cell, brought

HOUR = 3_600_000
ROUTE, PUMP, OTHER_PUMP = RouteName("a"), Owner("worker-1-00000001"), Owner("worker-2-00000002")
REFUSED = PermanentFailure(error="answered HTTP 400", http_status=400)


def owed(db: Db, slot: str) -> None:
    """Illustration 1 promised to the route for a cell of `slot`."""
    order = a_cell(db, an_order(slot=slot))
    with transaction(db):
        brought(db, order, promised(order, ROUTE))


@pytest.mark.parametrize("again", [orders.revive, orders.requeue])
def test_a_dead_row_is_not_sent_again_while_its_route_is_about_to_get_the_work_under_another_key(
    db: Db, again: object
) -> None:
    owed(db, "daily@2027-01-15T0800")
    with transaction(db):
        [row] = outbox.claim(db, ROUTE, 1, PUMP, NOW)
        recording.record(db, row.id, REFUSED, PUMP, NOW, 0.5)
    owed(db, "daily@2027-01-15T2000")
    with pytest.raises(Conflict, match="another promise"), transaction(db):
        again(db, row.id, NOW, source="outbox retry")  # type: ignore[operator]


def test_a_work_that_a_late_answer_tells_to_be_there_is_not_sent_under_the_key_of_another_cell(db: Db) -> None:
    owed(db, "daily@2027-01-15T0800")
    with transaction(db):
        [late] = outbox.claim(db, ROUTE, 1, PUMP, NOW)
        [again] = outbox.claim(db, ROUTE, 1, OTHER_PUMP, NOW + HOUR)
        recording.record(db, again.id, REFUSED, OTHER_PUMP, NOW + HOUR, 0.5)
    owed(db, "daily@2027-01-15T2000")
    with transaction(db):
        recording.record(db, late.id, Accepted(remote_id="7"), PUMP, NOW + HOUR, 0.5)
        [second] = outbox.claim(db, ROUTE, 1, PUMP, NOW + HOUR)
        assert not recording.cleared(db, second.id, PUMP, NOW + HOUR)
    statuses = db.execute(
        "SELECT d.status, o.status FROM deliveries d JOIN outbox o ON o.delivery_id = d.id"
    ).fetchall()
    assert statuses == [("delivered", "dead"), ("duplicate", "done")]
    cell = "SELECT status FROM schedule_slot_items WHERE slot_id = 'daily@2027-01-15T2000'"
    assert db.execute(cell).fetchall() == [("duplicate",)]
