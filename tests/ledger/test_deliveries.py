"""What the delivery ledger says about a cell, and what a consumer's or an operator's word does to its rows."""

import json
from collections.abc import Callable

import pytest

from pixivflow.delivery.machine import RowEvent, row_after
from pixivflow.delivery.model import Accepted, IntentStatus, RemoteFailed, RetryableFailure, RowStatus
from pixivflow.errors import Conflict
from pixivflow.ids import OutboxId, RouteName, WorkId
from pixivflow.ledger import deliveries, intents, orders, outbox, recording
from pixivflow.ledger.connection import Db
from pixivflow.slots.model import BoundWork, Confirmed, Live, Lost, Unknown, WorkType
from tests.fixtures.deliveries import ME, NOW, OTHER, SLOT, TARGET, an_order, promised
from tests.fixtures.ledgers import transaction
from tests.ledger.promising import brought, cancelled_by_consumer, owed, put, sole, table, told

WORK = BoundWork(work_id=WorkId("1"), work_type=WorkType.ILLUSTRATION)


def stands(db: Db, **routes: tuple[str, str | None]) -> None:
    """Promises of the cell, one a route, each with the status of its intent and of its row; None: no row."""
    owed(db, *routes)
    for route, (intent, row) in routes.items():
        with transaction(db):
            db.execute("UPDATE deliveries SET status = ? WHERE delivery_target = ?", (intent, route))
            if row is None:
                db.execute("DELETE FROM outbox WHERE delivery_target = ?", (route,))
        if row is not None:
            lease = {"lease_owner": OTHER, "lease_until": NOW + 9} if row == "processing" else {}
            put(db, f"delivery_target = '{route}'", status=row, **lease)


# The port


@pytest.mark.case("delivery", 87)
@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        pytest.param({"a": ("pending", "retry_wait")}, Live, id="owed"),
        pytest.param({"a": ("pending", "pending")}, Live, id="owed and never tried"),
        pytest.param({"a": ("pending", "processing")}, Live, id="being sent"),
        pytest.param({"a": ("pending", "dead")}, Lost, id="given up"),
        pytest.param({"a": ("pending", "cancelled")}, Lost, id="cancelled"),
        pytest.param({"a": ("pending", None)}, Lost, id="never queued"),
        pytest.param({"a": ("failed", "done")}, Lost, id="refused"),
        pytest.param({"a": ("delivered", "done"), "b": ("duplicate", "done")}, Confirmed, id="all confirmed"),
        pytest.param({"a": ("delivered", "done"), "b": ("failed", "dead")}, Lost, id="confirmed and dead"),
        pytest.param({"a": ("delivered", "done"), "b": ("pending", "pending")}, Live, id="confirmed and owed"),
        pytest.param({"a": ("delivered", None)}, Confirmed, id="confirmed, the other route without rows"),
    ],
)
def test_what_the_cells_routes_say_together(db: Db, routes: dict[str, tuple[str, str | None]], expected: type) -> None:
    stands(db, **routes)

    assert isinstance(deliveries.downstream(db, SLOT, TARGET), expected)
    assert deliveries.abandoned(db, SLOT, TARGET) == (expected is Lost)


@pytest.mark.case("delivery", 87)
def test_on_one_route_a_publication_outranks_a_promise(db: Db) -> None:
    stands(db, a=("pending", "pending"))
    with transaction(db):
        db.execute(
            "INSERT INTO deliveries (id, delivery_target, work_type, pixiv_id, slot_id, target_id, idempotency_key,"
            " status) SELECT 'x', delivery_target, work_type, pixiv_id, slot_id, target_id, 'x', 'delivered'"
            " FROM deliveries"
        )

    assert deliveries.downstream(db, SLOT, TARGET) == Confirmed(WORK)


@pytest.mark.case("delivery", 87)
def test_of_a_cell_without_promises_nothing_is_known_whatever_other_cells_have(db: Db) -> None:
    owed(db, "a", order=an_order("1", "another@2027-01-14T0800"))

    assert deliveries.downstream(db, SLOT, TARGET) == Unknown()
    assert not deliveries.abandoned(db, SLOT, TARGET)
    assert deliveries.routes_of(db, SLOT, TARGET) == ()


def test_a_work_that_was_a_duplicate_on_every_route_is_confirmed_as_such(db: Db) -> None:
    stands(db, a=("duplicate", "done"))

    assert deliveries.downstream(db, SLOT, TARGET) == Confirmed(WORK, duplicate=True)


def test_the_answer_is_the_same_after_a_restart(db: Db, other_process: Db) -> None:
    stands(db, a=("delivered", "done"), b=("pending", "processing"))

    assert deliveries.downstream(other_process, SLOT, TARGET) == deliveries.downstream(db, SLOT, TARGET) == Live()


# The consumer's word


@pytest.mark.case("delivery", 115)
def test_a_consumers_cancel_ends_what_is_unsent_and_leaves_what_is_being_sent_to_its_worker(db: Db) -> None:
    stands(db, a=("pending", "pending"), b=("pending", "retry_wait"), c=("pending", "processing"))

    with transaction(db):
        assert deliveries.cancel_cell(db, SLOT, TARGET, NOW + 5) == 2

    assert [row["status"] for row in table(db, "outbox")] == ["cancelled", "cancelled", "processing"]
    assert [row["completed_at"] for row in table(db, "outbox")] == [NOW + 5, NOW + 5, None]
    assert [(row["status"], row["remote_status"]) for row in table(db, "deliveries")] == [
        ("failed", "cancelled"),
        ("failed", "cancelled"),
        ("pending", None),
    ]
    events = table(db, "delivery_events")
    assert [(row["event"], row["actor"], row["delivery_target"]) for row in events] == [
        ("outbox.cancelled", "consumer", "a"),
        ("outbox.cancelled", "consumer", "b"),
    ]
    assert sole(db, "schedule_slot_items")["status"] == "delivery_pending"  # the verdict about it is the caller's


@pytest.mark.parametrize("status", ["done", "dead", "cancelled"])
def test_a_consumers_cancel_changes_no_row_that_has_ended(db: Db, status: str) -> None:
    stands(db, a=("failed", status))
    before = table(db, "outbox"), table(db, "deliveries")

    with transaction(db):
        assert deliveries.cancel_cell(db, SLOT, TARGET, NOW + 5) == 0

    assert (table(db, "outbox"), table(db, "deliveries")) == before


def test_a_consumers_cancel_touches_no_other_cell(db: Db) -> None:
    owed(db, "a", order=an_order("1", "another@2027-01-14T0800"))

    with transaction(db):
        assert deliveries.cancel_cell(db, SLOT, TARGET, NOW) == 0

    assert sole(db, "outbox")["status"] == "pending"


@pytest.mark.case("delivery", 88)
def test_cancelled_work_that_waited_is_never_sent_and_can_be_chosen_again(db: Db) -> None:
    stands(db, a=("pending", "retry_wait"))

    cancelled_by_consumer(db)

    assert (sole(db, "outbox")["status"], sole(db, "deliveries")["status"]) == ("cancelled", "failed")
    assert sole(db, "deliveries")["remote_status"] == "cancelled"
    assert outbox.due(db, 2**62).routes == ()
    assert intents.excluded(db, [RouteName("a")], WorkType.ILLUSTRATION, [WorkId("1")]) == frozenset()


@pytest.mark.case("delivery", 88)
def test_cancelled_work_whose_attempt_then_fails_is_dead_at_its_next_look(db: Db) -> None:
    owed(db, "a")
    with transaction(db):
        [row] = outbox.claim(db, RouteName("a"), 1, ME, NOW)
        assert recording.cleared(db, row.id, ME, NOW)
    cancelled_by_consumer(db)
    with transaction(db):
        recording.record(db, row.id, RetryableFailure(error="timed out"), ME, NOW, 0.0)
    assert sole(db, "outbox")["status"] == "retry_wait"

    with transaction(db):
        [row] = outbox.claim(db, RouteName("a"), 1, ME, NOW + 15_000)
        assert not recording.cleared(db, row.id, ME, NOW + 15_000)

    last, intent = sole(db, "outbox"), sole(db, "deliveries")
    assert (last["status"], last["attempts"], last["last_error"]) == ("dead", 2, "work cancelled by consumer")
    assert (intent["status"], intent["remote_status"]) == ("failed", "cancelled")
    assert told(db) == ["outbox.claimed", "outbox.retry_scheduled", "outbox.cancelled"]
    assert outbox.due(db, 2**62).routes == ()
    assert intents.excluded(db, [RouteName("a")], WorkType.ILLUSTRATION, [WorkId("1")]) == frozenset()


@pytest.mark.case("delivery", 90)
@pytest.mark.parametrize("again", [orders.requeue, orders.revive])
def test_cancelled_work_that_an_operator_retries_is_stopped_once_more(db: Db, again: Callable[..., None]) -> None:
    stands(db, a=("pending", "retry_wait"))
    cancelled_by_consumer(db)

    with transaction(db):
        again(db, OutboxId(sole(db, "outbox")["id"]), NOW, source="outbox retry")
        [row] = outbox.claim(db, RouteName("a"), 1, ME, NOW)
        assert not recording.cleared(db, row.id, ME, NOW)

    assert (sole(db, "outbox")["status"], sole(db, "deliveries")["status"]) == ("dead", "failed")


def test_work_enqueued_after_its_cancel_is_stopped_before_the_send(db: Db) -> None:
    """A cell of many is not asked for its state: its run brings what it had begun."""
    stands(db, a=("pending", "pending"))
    cancelled_by_consumer(db)

    with transaction(db):
        brought(db, an_order(), promised(an_order(), "a"), NOW + 5, binds=False)
        [row] = outbox.claim(db, RouteName("a"), 1, ME, NOW + 5)
        assert not recording.cleared(db, row.id, ME, NOW + 5)

    assert sole(db, "outbox")["status"] == "dead"


def test_a_cell_that_failed_for_another_reason_is_still_sent(db: Db) -> None:
    owed(db, "a")
    with transaction(db):
        db.execute("UPDATE schedule_slot_items SET status = 'failed', terminal_reason_code = 'stalled_no_heartbeat'")
        [row] = outbox.claim(db, RouteName("a"), 1, ME, NOW)
        assert recording.cleared(db, row.id, ME, NOW)


def test_a_claim_and_a_cancel_that_meet_leave_one_of_the_two_in_charge(db: Db, other_process: Db) -> None:
    owed(db, "a")
    with transaction(other_process):
        [row] = outbox.claim(other_process, RouteName("a"), 1, OTHER, NOW)

    cancelled_by_consumer(db)

    assert sole(db, "outbox")["status"] == "processing"
    with transaction(other_process):
        assert not recording.cleared(other_process, row.id, OTHER, NOW)
    assert sole(db, "outbox")["status"] == "dead"


# The operator's word


def row_id(db: Db) -> OutboxId:
    return OutboxId(sole(db, "outbox")["id"])


@pytest.mark.case("delivery", 42)
def test_what_is_being_sent_cannot_be_cancelled(db: Db) -> None:
    stands(db, a=("pending", "processing"))
    before = sole(db, "outbox"), sole(db, "deliveries")

    with pytest.raises(Conflict), transaction(db):
        orders.cancel(db, row_id(db), NOW)

    assert (sole(db, "outbox"), sole(db, "deliveries")) == before


@pytest.mark.parametrize("status", RowStatus)
def test_an_operators_cancel_follows_the_table(db: Db, status: RowStatus) -> None:
    stands(db, a=("pending", status))
    possible = row_after(status, RowEvent.OPERATOR_CANCELLED) is not None

    if not possible:
        with pytest.raises(Conflict), transaction(db):
            orders.cancel(db, row_id(db), NOW + 5)
        assert sole(db, "outbox")["status"] == status
        return
    with transaction(db):
        orders.cancel(db, row_id(db), NOW + 5)

    row, intent, cell = sole(db, "outbox"), sole(db, "deliveries"), sole(db, "schedule_slot_items")
    assert (row["status"], row["completed_at"]) == ("cancelled", NOW + 5)
    assert (intent["status"], intent["remote_status"], intent["last_error"]) == (
        "failed",
        "cancelled",
        "cancelled by operator",
    )
    assert cell["status"] == "failed"
    event = sole(db, "delivery_events")
    assert (event["event"], event["actor"]) == ("outbox.cancelled", "cli")


@pytest.mark.parametrize("intent", IntentStatus)
@pytest.mark.parametrize("status", RowStatus)
@pytest.mark.parametrize(("again", "event"), [(orders.requeue, RowEvent.REQUEUED), (orders.revive, RowEvent.REVIVED)])
def test_arming_a_row_again_follows_the_table(
    db: Db, again: Callable[..., None], event: RowEvent, status: RowStatus, intent: IntentStatus
) -> None:
    stands(db, a=(intent, status))
    put(db, attempts=12, answer_unknown=1)
    expected = row_after(status, event, intent)

    if expected is None:
        with pytest.raises(Conflict), transaction(db):
            again(db, row_id(db), NOW + 5, source="outbox retry")
        assert sole(db, "outbox")["status"] == status
        return
    with transaction(db):
        again(db, row_id(db), NOW + 5, source="outbox retry")

    row = sole(db, "outbox")
    assert (row["status"], row["attempts"], row["next_attempt_at"]) == (expected, 0, NOW + 5)
    assert (row["completed_at"], row["last_error"], row["answer_unknown"]) == (None, None, 1)
    assert sole(db, "deliveries")["status"] == "pending"
    asked = sole(db, "delivery_events")
    assert (asked["event"], asked["actor"]) == ("outbox.replay_requested", "cli")
    assert json.loads(asked["detail"]) == {"source": "outbox retry", "deliveryStatus": intent}


def test_while_a_row_is_armed_again_its_cell_is_owed_and_not_lost(db: Db) -> None:
    stands(db, a=("failed", "dead"))
    assert isinstance(deliveries.downstream(db, SLOT, TARGET), Lost)

    with transaction(db):
        orders.requeue(db, row_id(db), NOW, source="outbox retry")

    assert deliveries.downstream(db, SLOT, TARGET) == Live()


def test_a_work_that_its_receiver_ended_badly_can_be_sent_again_under_its_old_key(db: Db) -> None:
    owed(db, "a")
    with transaction(db):
        [first] = outbox.claim(db, RouteName("a"), 1, ME, NOW)
        recording.record(db, first.id, RemoteFailed(remote_status="expired", error="too old"), ME, NOW, 0.0)
        orders.requeue(db, first.id, NOW, source="delivery retry")
        [second] = outbox.claim(db, RouteName("a"), 1, ME, NOW)
        recording.record(db, second.id, Accepted(remote_id="9"), ME, NOW, 0.0)

    assert (second.id, second.payload_json) == (first.id, first.payload_json)
    assert sole(db, "deliveries")["status"] == "delivered"


@pytest.mark.parametrize("order", [orders.cancel, lambda *args: orders.revive(*args, source="x")])
def test_a_row_that_is_not_there_takes_no_order(db: Db, order: Callable[..., None]) -> None:
    with pytest.raises(Conflict), transaction(db):
        order(db, OutboxId("gone"), NOW)
