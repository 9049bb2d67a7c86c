"""Claiming, renewing and releasing rows, by two processes at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from actors.ports import Due
from pixivflow.delivery.machine import RowEvent, row_after
from pixivflow.delivery.model import OutboxRow, RowKind, RowStatus
from pixivflow.ids import OutboxId, Owner, RouteName
from pixivflow.ledger import outbox, outbox_rows, recording
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.enqueue import fan_out
from tests.fixtures.deliveries import ME, NOW, OTHER, an_order, promised
from tests.fixtures.ledgers import transaction
from tests.ledger.promising import owed, put, sole, table

A, B = RouteName("a"), RouteName("b")
LEASE = 120_000


def claimed(db: Db, owner: Owner = ME, now: int = NOW, route: RouteName = A, count: int = 4) -> list[OutboxRow]:
    with transaction(db):
        return outbox.claim(db, route, count, owner, now)


def many(db: Db, *works: tuple[str, str, int]) -> None:
    """Rows outside any cell: (work, route, instant at which it is due)."""
    for work, route, at in works:
        owed(db, route, order=an_order(work, None, None), now=at)


def test_a_claimed_row_is_leased_and_comes_whole(db: Db) -> None:
    owed(db, "a")

    [row] = claimed(db)

    stored = sole(db, "outbox")
    assert row == OutboxRow(
        id=OutboxId(stored["id"]),
        kind=RowKind.DELIVERY,
        route=A,
        payload_json=stored["payload_json"],
        idempotency_key=stored["idempotency_key"],
        delivery_id=stored["delivery_id"],
        status=RowStatus.PROCESSING,
        next_attempt_at=NOW,
        lease_owner=ME,
        lease_until=NOW + LEASE,
    )
    assert (stored["attempts"], stored["updated_at"]) == (0, NOW)


@pytest.mark.case("delivery", 21)
def test_of_two_workers_exactly_one_gets_a_due_row(db: Db, other_process: Db) -> None:
    owed(db, "a")

    assert len(claimed(db, ME)) == 1
    assert claimed(other_process, OTHER) == []
    assert sole(db, "outbox")["lease_owner"] == ME


def test_a_row_that_is_taken_between_the_look_and_the_claim_is_not_claimed_twice(db: Db, other_process: Db) -> None:
    owed(db, "a")
    taken: list[OutboxRow] = []

    def steal(statement: str) -> None:
        if statement.lstrip().startswith("UPDATE") and not taken:
            taken.extend(claimed(other_process, OTHER))

    db.set_trace_callback(steal)
    mine = outbox.claim(db, A, 4, ME, NOW)  # outside a transaction, where another process can step in between
    db.set_trace_callback(None)

    assert len(taken) == 1
    assert mine == []
    assert sole(db, "outbox")["lease_owner"] == OTHER


@pytest.mark.case("delivery", 21)
def test_two_workers_that_claim_at_the_same_time_share_the_rows_without_a_double(db: Db, ledger_path: Path) -> None:
    many(db, *((str(n), "a", NOW) for n in range(40)))

    def all_it_gets(owner: Owner) -> list[str]:
        connection = connect_plain(ledger_path)
        found: list[str] = []
        while rows := claimed(connection, owner):
            found += [row.id for row in rows]
        connection.close()
        return found

    with ThreadPoolExecutor(2) as pool:
        mine, theirs = pool.map(all_it_gets, (ME, OTHER))

    assert sorted([*mine, *theirs]) == sorted(row["id"] for row in table(db, "outbox"))


@pytest.mark.case("delivery", 22)
def test_a_row_of_a_process_that_died_waits_for_its_lease_and_is_then_sent_once_under_the_same_key(
    db: Db, ledger_path: Path
) -> None:
    owed(db, "a")
    dying = connect_plain(ledger_path)
    [before] = claimed(dying, OTHER)
    dying.close()

    assert claimed(db, ME, NOW + LEASE - 1) == []
    [after] = claimed(db, ME, NOW + LEASE)

    assert (after.id, after.idempotency_key, after.payload_json) == (
        before.id,
        before.idempotency_key,
        before.payload_json,
    )
    assert claimed(db, OTHER, NOW + LEASE) == []
    with transaction(db):
        may_send = [recording.cleared(db, after.id, owner, NOW + LEASE) for owner in (OTHER, ME)]
    assert may_send == [False, True]


def test_a_row_taken_over_remembers_that_an_answer_may_have_been_lost(db: Db) -> None:
    owed(db, "a")

    [first] = claimed(db, OTHER)
    [second] = claimed(db, ME, NOW + LEASE)

    assert not first.answer_unknown
    assert second.answer_unknown


def test_a_row_that_was_only_put_off_lost_no_answer(db: Db) -> None:
    owed(db, "a")
    put(db, status="retry_wait")

    [row] = claimed(db)

    assert not row.answer_unknown


def test_a_renewed_lease_keeps_everybody_else_away(db: Db, other_process: Db) -> None:
    owed(db, "a")
    [row] = claimed(db)

    for now in range(NOW + 40_000, NOW + 240_000, 40_000):
        with transaction(db):
            assert outbox.renew(db, [row.id], ME, now) == 1
        assert claimed(other_process, OTHER, now + 39_999) == []

    assert len(claimed(other_process, OTHER, NOW + 200_000 + LEASE)) == 1


def test_a_lease_that_ended_unclaimed_can_be_renewed_by_its_owner_alone(db: Db) -> None:
    owed(db, "a")
    [row] = claimed(db)

    with transaction(db):
        assert outbox.renew(db, [row.id], OTHER, NOW + 2 * LEASE) == 0
        assert outbox.renew(db, [row.id], ME, NOW + 2 * LEASE) == 1

    assert sole(db, "outbox")["lease_until"] == NOW + 3 * LEASE


def test_released_rows_are_due_again_and_have_used_up_no_attempt(db: Db) -> None:
    many(db, ("1", "a", NOW), ("2", "a", NOW), ("3", "a", NOW))
    put(db, attempts=5)
    rows = claimed(db)

    with transaction(db):
        assert outbox.release(db, [row.id for row in rows], ME, NOW + 5) == 3

    assert [
        (row["status"], row["attempts"], row["next_attempt_at"], row["lease_owner"]) for row in table(db, "outbox")
    ] == [("pending", 5, NOW + 5, None)] * 3


def test_a_row_that_is_somebody_elses_by_now_is_neither_renewed_nor_released(db: Db) -> None:
    owed(db, "a")
    [row] = claimed(db, ME)
    claimed(db, OTHER, NOW + LEASE)
    before = sole(db, "outbox")

    with transaction(db):
        assert outbox.renew(db, [row.id], ME, NOW + LEASE) == 0
        assert outbox.release(db, [row.id], ME, NOW + LEASE) == 0

    assert sole(db, "outbox") == before


def test_rows_are_claimed_oldest_due_first_and_in_the_order_of_their_making(db: Db) -> None:
    many(db, ("1", "a", NOW), ("2", "a", NOW - 5), ("3", "a", NOW), ("4", "b", NOW - 9), ("5", "a", NOW + 1))
    order = {row["id"]: row["idempotency_key"].split(":")[4] for row in table(db, "outbox")}

    assert [order[row.id] for row in claimed(db, count=2)] == ["2", "1"]
    assert [order[row.id] for row in claimed(db, count=2)] == ["3"]


def test_a_row_whose_lease_ended_takes_its_old_place_in_the_order(db: Db) -> None:
    many(db, ("1", "a", NOW), ("2", "a", NOW + 1))
    claimed(db, OTHER, count=1)
    order = {row["id"]: row["idempotency_key"].split(":")[4] for row in table(db, "outbox")}

    assert [order[row.id] for row in claimed(db, ME, NOW + LEASE, count=1)] == ["1"]


@pytest.mark.parametrize("count", [0, -1])
def test_asking_for_no_row_claims_none(db: Db, count: int) -> None:
    owed(db, "a")

    assert claimed(db, count=count) == []


@pytest.mark.parametrize("status", RowStatus)
@pytest.mark.parametrize("lease_ended", [False, True])
def test_a_claim_follows_the_table_in_every_state(db: Db, status: RowStatus, lease_ended: bool) -> None:
    owed(db, "a")
    lease: dict[str, Any] = {"lease_owner": OTHER, "lease_until": NOW if lease_ended else NOW + 1}
    put(db, status=status, **(lease if status is RowStatus.PROCESSING else {}))

    rows = claimed(db)

    event = RowEvent.CLAIMED if status is not RowStatus.PROCESSING else RowEvent.LEASE_RAN_OUT
    possible = row_after(status, event) is not None and (status is not RowStatus.PROCESSING or lease_ended)
    assert [row.lease_owner for row in rows] == ([ME] if possible else [])


def test_a_row_that_is_not_yet_due_is_not_claimed(db: Db) -> None:
    owed(db, "a", now=NOW + 1)

    assert claimed(db) == []
    assert len(claimed(db, now=NOW + 1)) == 1


def test_what_is_due_names_each_route_once_with_the_longest_waiting_first(db: Db) -> None:
    many(
        db,
        ("1", "a", NOW),
        ("2", "a", NOW + 70),
        ("3", "b", NOW - 5),
        ("4", "c", NOW + 50),
        ("5", "d", NOW - 9),
        ("6", "d", NOW - 8),
    )

    assert outbox.due(db, NOW) == Due(routes=("d", "b", "a"), next_at=NOW + 50)


def test_a_lease_is_due_when_it_ends_and_not_before(db: Db) -> None:
    many(db, ("1", "a", NOW - 9), ("2", "b", NOW + 500_000))
    claimed(db, OTHER)

    assert outbox.due(db, NOW) == Due(routes=(), next_at=NOW + LEASE)
    assert outbox.due(db, NOW + LEASE) == Due(routes=("a",), next_at=NOW + 500_000)


@pytest.mark.parametrize("status", ["done", "dead", "cancelled"])
def test_a_row_that_has_ended_is_never_due(db: Db, status: str) -> None:
    owed(db, "a")
    put(db, status=status)

    assert outbox.due(db, NOW) == Due(routes=(), next_at=None)
    assert outbox.due(db, 2**62) == Due(routes=(), next_at=None)


def test_nothing_is_due_in_an_empty_ledger(db: Db) -> None:
    assert outbox.due(db, NOW) == Due(routes=(), next_at=None)


def work_done(db: Db) -> int:
    """How much SQLite computes for one look and one claim, in steps of its machine; a number, not a time."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    db.set_progress_handler(step, 1)
    outbox.due(db, NOW)
    outbox.claim(db, A, 4, ME, NOW)
    db.set_progress_handler(None, 1)
    return steps


def test_looking_and_claiming_cost_the_same_however_much_is_finished(db: Db) -> None:
    many(db, ("1", "a", NOW + 1), ("2", "b", NOW + 1))
    before = work_done(db)

    with transaction(db):
        for n in range(2_000):
            order = an_order(f"done-{n}", None, None)
            fan_out(db, order, promised(order, "ab"[n % 2]), NOW - 9)
        db.execute("UPDATE outbox SET status = 'done' WHERE next_attempt_at < ?", (NOW,))

    assert work_done(db) == before


def test_a_long_queue_of_one_route_costs_the_others_nothing(db: Db) -> None:
    many(db, ("1", "a", NOW + 1), ("2", "b", NOW + 1))
    before = work_done(db)

    with transaction(db):
        for n in range(2_000):
            order = an_order(f"later-{n}", None, None)
            fan_out(db, order, promised(order, "b"), NOW + 9)

    assert work_done(db) <= before + 20


def test_a_notice_is_a_row_without_a_promise_and_is_written_once_a_key(db: Db) -> None:
    notice = OutboxRow(
        id=OutboxId("n-1"),
        kind=RowKind.NOTIFICATION,
        route=A,
        payload_json='{"text": "x"}',
        idempotency_key="notification:s:summary",
        next_attempt_at=NOW,
    )

    with transaction(db):
        assert outbox_rows.put(db, notice, NOW).id == "n-1"
        again = OutboxRow(
            id=OutboxId("n-2"),
            kind=RowKind.NOTIFICATION,
            route=A,
            payload_json='{"text": "y"}',
            idempotency_key="notification:s:summary",
        )
        assert outbox_rows.put(db, again, NOW + 5).id == "n-1"

    [row] = claimed(db, now=NOW + 5)
    assert (row.payload_json, row.delivery_id) == ('{"text": "x"}', None)
