"""Promising a work: all routes or none, never twice, never to a cell that is somebody else's."""

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pixivflow.delivery.intents import Order, Promise
from pixivflow.errors import Conflict
from pixivflow.ids import DeliveryId, OutboxId, Owner, RouteName, WorkId
from pixivflow.ledger import intents, outbox
from pixivflow.ledger.connection import Db
from pixivflow.ledger.enqueue import fan_out
from pixivflow.slots.model import WorkType
from pixivflow.slots.ports import NotOurs, Recorded
from tests.fixtures.deliveries import ME, NOW, SLOT, TARGET, an_order, promised
from tests.fixtures.ledgers import transaction
from tests.ledger.promising import a_cell, brought, owed, put, sole, table


@pytest.mark.case("delivery", 5)
def test_three_routes_are_three_promises_with_a_row_each(db: Db) -> None:
    assert owed(db, "a", "b", "c") is Recorded.ENQUEUED

    made, rows = table(db, "deliveries"), table(db, "outbox")
    assert [intent["delivery_target"] for intent in made] == ["a", "b", "c"]
    assert len({intent["idempotency_key"] for intent in made}) == 3
    assert [row["idempotency_key"] for row in rows] == [f"outbox:{intent['idempotency_key']}" for intent in made]
    assert [row["delivery_id"] for row in rows] == [intent["id"] for intent in made]
    assert {row["status"] for row in [*made, *rows]} == {"pending"}
    assert {row["next_attempt_at"] for row in rows} == {NOW}
    assert sole(db, "schedule_slot_items")["status"] == "delivery_pending"


@pytest.mark.case("delivery", 6)
def test_the_same_work_again_promises_nothing_new(db: Db) -> None:
    owed(db, "a", "b", "c")
    before, made = table(db, "outbox"), table(db, "deliveries")

    assert owed(db, "a", "b", "c", now=NOW + 5) is Recorded.ENQUEUED

    assert table(db, "deliveries") == made
    assert table(db, "outbox") == [row | {"updated_at": NOW + 5} for row in before]


@pytest.mark.case("delivery", 7)
def test_only_the_route_that_lost_the_work_is_armed_again(db: Db) -> None:
    owed(db, "a", "b", "c")
    put(db, "delivery_target <> 'b'", status="done")
    put(db, "delivery_target = 'b'", status="dead", attempts=12)
    with transaction(db):
        db.execute("UPDATE deliveries SET status = iif(delivery_target = 'b', 'failed', 'delivered')")
    before = table(db, "outbox")

    assert owed(db, "a", "b", "c", now=NOW + 5) is Recorded.ENQUEUED

    after = table(db, "outbox")
    assert (after[0], after[2]) == (before[0], before[2])
    assert (after[1]["status"], after[1]["attempts"], after[1]["next_attempt_at"]) == ("pending", 0, NOW + 5)


@pytest.mark.case("delivery", 8)
def test_a_work_that_every_route_has_is_a_duplicate_and_nothing_is_promised(db: Db) -> None:
    owed(db, "a", "b", "c")
    with transaction(db):
        db.execute("UPDATE deliveries SET status = 'delivered'")
        db.execute("UPDATE schedule_slot_items SET status = 'selected'")
    before = [table(db, name) for name in ("deliveries", "outbox", "delivery_events")]

    assert owed(db, "a", "b", "c", now=NOW + 5) is Recorded.DUPLICATE

    assert before == [table(db, name) for name in ("deliveries", "outbox", "delivery_events")]
    assert sole(db, "schedule_slot_items")["work_id"] is None, "the cell is free for another work"


def test_a_route_that_has_the_work_from_any_other_cell_is_not_promised_it_again(db: Db) -> None:
    owed(db, "a", order=an_order("1", "other@2027-01-14T0800"))
    with transaction(db):
        db.execute("UPDATE deliveries SET status = 'duplicate'")

    assert owed(db, "a", "b") is Recorded.ENQUEUED

    assert [intent["delivery_target"] for intent in table(db, "deliveries")] == ["a", "b"]


def test_a_route_that_is_about_to_get_the_work_from_another_cell_is_not_promised_it_twice(db: Db) -> None:
    first = an_order("1", "other@2027-01-14T0800")
    owed(db, "a", order=first)

    assert owed(db, "a", "b") is Recorded.ENQUEUED

    assert [(row["delivery_target"], row["slot_id"]) for row in table(db, "deliveries")] == [
        ("a", "other@2027-01-14T0800"),
        ("b", SLOT),
    ]
    assert owed(db, "a", order=first) is Recorded.ENQUEUED  # the cell that promised it goes on with it


@pytest.mark.parametrize("row", ["dead", "cancelled", "done"])
def test_a_promise_that_nobody_will_send_keeps_no_other_cell_from_the_work(db: Db, row: str) -> None:
    owed(db, "a", order=an_order("1", "other@2027-01-14T0800"))
    put(db, status=row)

    assert owed(db, "a") is Recorded.ENQUEUED
    assert len(table(db, "deliveries")) == 2


@pytest.mark.case("delivery", 41)
def test_a_dead_row_is_revived_with_the_payload_of_today_under_its_old_key(db: Db) -> None:
    owed(db, "a")
    put(db, status="dead", attempts=12, last_error="x", answer_unknown=1)
    with transaction(db):
        db.execute("UPDATE deliveries SET status = 'failed'")
    before, order, first = sole(db, "outbox"), an_order(), sole(db, "deliveries")

    with transaction(db):
        assert brought(db, order, promised(order, "a", payload={"files": ["2.png"]}), NOW + 5) is Recorded.ENQUEUED

    row = sole(db, "outbox")
    assert (row["status"], row["attempts"], row["last_error"], row["next_attempt_at"]) == ("pending", 0, None, NOW + 5)
    assert (row["id"], row["idempotency_key"]) == (before["id"], before["idempotency_key"])
    assert json.loads(row["payload_json"])["files"] == ["2.png"]
    assert json.loads(row["payload_json"])["context"]["idempotencyKey"] == first["idempotency_key"]
    assert row["answer_unknown"] == 1
    assert sole(db, "deliveries")["status"] == "pending"
    assert sole(db, "deliveries")["id"] == first["id"]


@pytest.mark.parametrize("status", ["pending", "processing", "retry_wait", "done"])
def test_a_row_that_has_not_ended_badly_keeps_its_payload_and_its_budget(db: Db, status: str) -> None:
    owed(db, "a")
    lease: dict[str, Any] = {"lease_owner": ME, "lease_until": NOW + 9} if status == "processing" else {}
    put(db, status=status, attempts=5, **lease)
    before, order = sole(db, "outbox"), an_order()

    with transaction(db):
        brought(db, order, promised(order, "a", payload={"files": ["2.png"]}), NOW + 5)

    assert sole(db, "outbox") == before | {"updated_at": NOW + 5}


@pytest.mark.case("delivery", 9)
@pytest.mark.case("delivery", 10)
def test_a_work_is_left_out_of_the_search_only_where_no_route_is_in_want_of_it(db: Db) -> None:
    owed(db, "a", "b", "c")
    asked = [RouteName(route) for route in "abc"]

    def out(routes: list[RouteName], *, own: bool = False) -> frozenset[str]:
        return intents.excluded(db, routes, WorkType.ILLUSTRATION, [WorkId("1"), WorkId("2")], own=own)

    assert out(asked[:1]) == {"1"}
    assert out(asked[:1], own=True) == frozenset()
    with transaction(db):
        db.execute("UPDATE deliveries SET status = iif(delivery_target = 'c', 'failed', 'delivered')")
    assert out(asked[:2], own=True) == {"1"}
    assert out(asked) == frozenset()
    assert out([]) == frozenset()
    assert intents.excluded(db, asked[:1], WorkType.NOVEL, [WorkId("1")]) == frozenset()


def test_thousands_of_candidates_are_looked_up_without_missing_one(db: Db) -> None:
    for work in ("1", "400", "401", "1200"):
        owed(db, "a", order=an_order(work, None, None))

    candidates = [WorkId(str(n)) for n in range(1_201)]

    assert intents.excluded(db, [RouteName("a")], WorkType.ILLUSTRATION, candidates) == {"1", "400", "401", "1200"}


def test_when_the_second_route_cannot_be_written_the_first_is_not_promised_either(db: Db) -> None:
    order = a_cell(db)
    first, second = promised(order, "a", "b")

    with pytest.raises(sqlite3.IntegrityError), transaction(db):
        brought(db, order, [first, msgspec.structs.replace(second, outbox_id=OutboxId(""))])

    assert (table(db, "deliveries"), table(db, "outbox"), table(db, "downloads")) == ([], [], [])
    assert sole(db, "schedule_slot_items")["status"] == "selected"


DIES_BETWEEN_TWO_ROUTES = """
import os, signal, sys
from pixivflow.ledger.connection import connect_plain
from tests.fixtures.deliveries import an_order, promised
from tests.ledger.promising import brought

written = 0
def watch(statement):
    global written
    written += "INSERT INTO deliveries" in statement
    if written == 2:
        os.kill(os.getpid(), signal.SIGKILL)

db = connect_plain(sys.argv[1])
db.steer("BEGIN IMMEDIATE")
db.set_trace_callback(watch)
brought(db, an_order(), promised(an_order(), "a", "b"))
"""


@pytest.mark.case("delivery", 20)
def test_a_process_that_dies_between_two_routes_promised_nothing_and_the_next_one_promises_both(
    db: Db, ledger_path: Path
) -> None:
    a_cell(db)

    died = subprocess.run([sys.executable, "-c", DIES_BETWEEN_TWO_ROUTES, str(ledger_path)], check=False, timeout=60)

    assert died.returncode == -signal.SIGKILL
    assert (table(db, "deliveries"), table(db, "outbox")) == ([], [])
    assert sole(db, "schedule_slot_items")["status"] == "selected"
    assert owed(db, "a", "b") is Recorded.ENQUEUED
    assert len(table(db, "outbox")) == 2


def test_two_processes_that_promise_the_same_work_make_one_promise(db: Db, other_process: Db) -> None:
    for process in (db, other_process):
        assert owed(process, "a") is Recorded.ENQUEUED

    assert len(table(db, "deliveries")) == len(table(db, "outbox")) == 1


@pytest.mark.parametrize("status", ["submitted", "duplicate", "failed", "no_candidate"])
def test_a_cell_that_has_ended_is_promised_nothing(db: Db, status: str) -> None:
    a_cell(db, status=status)

    with pytest.raises(NotOurs):
        owed(db, "a")

    assert sole(db, "schedule_slot_items")["status"] == status
    assert table(db, "deliveries") == []


def test_a_cell_that_waits_for_its_deliveries_goes_on_waiting(db: Db) -> None:
    a_cell(db, status="delivery_pending")

    assert owed(db, "a") is Recorded.ENQUEUED

    assert sole(db, "schedule_slot_items")["status"] == "delivery_pending"


@pytest.mark.parametrize("held", [None, "2"], ids=["none", "another"])
def test_a_cell_that_is_not_bound_to_the_work_is_promised_nothing(db: Db, held: str | None) -> None:
    order = a_cell(db, work=held)

    with pytest.raises(Conflict):
        owed(db, "a", order=order)

    assert table(db, "deliveries") == []


def test_a_run_that_lost_its_slot_promises_nothing(db: Db) -> None:
    order = a_cell(db)
    with transaction(db):
        db.execute("UPDATE schedule_slots SET lease_owner = 'run-2-cafecafe', lease_until = 1")

    with pytest.raises(Conflict):
        owed(db, "a", order=order)

    assert table(db, "deliveries") == []
    with transaction(db):
        assert brought(db, order, promised(order, "a"), owner=Owner("run-2-cafecafe")) is Recorded.ENQUEUED


def test_a_work_outside_any_occurrence_is_promised_without_a_cell(db: Db) -> None:
    owed(db, "a", order=an_order("1", None, None))

    intent = sole(db, "deliveries")
    assert intent["idempotency_key"] == "pixivflow:a:illustration:1:adhoc"
    assert (intent["slot_id"], intent["target_id"]) == (None, None)


def test_an_explicit_key_that_belongs_to_another_work_is_refused(db: Db) -> None:
    owed(db, "a")
    taken = sole(db, "deliveries")["idempotency_key"]
    order = an_order("2", None, None)
    [promise] = promised(order, "a")

    with pytest.raises(Conflict), transaction(db):
        fan_out(db, order, [msgspec.structs.replace(promise, idempotency_key=taken)], NOW)


@pytest.mark.parametrize(
    "empty",
    [{"delivery_id": DeliveryId("")}, {"outbox_id": OutboxId("")}, {"idempotency_key": ""}, {"route": RouteName("")}],
    ids=str,
)
def test_an_empty_id_is_refused_by_the_table(db: Db, empty: dict[str, str]) -> None:
    order = an_order("1", None, None)
    [promise] = promised(order, "a")

    with pytest.raises(sqlite3.IntegrityError), transaction(db):
        fan_out(db, order, [msgspec.structs.replace(promise, **empty)], NOW)


def test_an_empty_work_is_refused_by_the_table(db: Db) -> None:
    [promise] = promised(an_order(), "a")
    nothing = Order(work_type=WorkType.ILLUSTRATION, work_id=WorkId(""), slot_id=SLOT, target_id=TARGET)

    with pytest.raises(sqlite3.IntegrityError), transaction(db):
        fan_out(db, nothing, [promise], NOW)


def test_a_title_that_breaks_other_programs_is_promised_and_sent_as_it_can_be(db: Db) -> None:
    order = an_order()
    a_cell(db, order)
    title = "NUL \x00, half a pair \ud83d, a quote ' and a line\nbreak"

    with transaction(db):
        brought(db, order, promised(order, "a", payload={"context": {"title": title}}))
        [row] = outbox.claim(db, RouteName("a"), 1, ME, NOW)

    assert json.loads(row.payload_json)["context"]["title"] == title.replace("\ud83d", "?")


def test_an_intent_of_unknown_kind_is_not_promised(db: Db) -> None:
    order = msgspec.structs.replace(an_order("1", None, None), work_type=WorkType.UNKNOWN)
    [promise] = promised(order, "a")

    with pytest.raises(sqlite3.IntegrityError), transaction(db):
        fan_out(db, order, [promise], NOW)


def test_the_budget_of_a_row_is_the_promises(db: Db) -> None:
    order = an_order("1", None, None)
    [promise] = promised(order, "a")
    few: Promise = msgspec.structs.replace(promise, max_attempts=3)

    with transaction(db):
        fan_out(db, order, [few], NOW)

    assert sole(db, "outbox")["max_attempts"] == 3
