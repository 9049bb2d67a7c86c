"""Promises in a real ledger: a cell to make them for, making them, and looking at what stands written."""

from collections.abc import Sequence
from typing import Any

from pixivflow.delivery.intents import Order, Promise
from pixivflow.delivery.model import Ack, OutboxRow
from pixivflow.ids import Owner, RouteName
from pixivflow.ledger import cells, deliveries, enqueue, outbox, recording, works
from pixivflow.ledger.connection import Db
from pixivflow.ledger.works import Place
from pixivflow.slots.machine import Role
from pixivflow.slots.model import BoundWork, CellChange, CellStatus, ReasonCode
from pixivflow.slots.ports import Recorded
from tests.fixtures.bringing import a_bringing
from tests.fixtures.deliveries import ME, NOW, SLOT, TARGET, an_order, promised
from tests.fixtures.ledgers import transaction

RUN = Owner("run-1-cafecafe")


def a_cell(db: Db, order: Order | None = None, status: str = "selected", *, work: str | None = "1") -> Order:
    """Write a slot that `RUN` holds, with one cell that is bound to `work`; the order that the cell gives."""
    given = order or an_order()
    with transaction(db):
        db.execute(
            "INSERT OR IGNORE INTO schedule_slots (id, schedule_id, status, lease_owner, lease_until)"
            " VALUES (?, 'daily', 'running', ?, ?)",
            (given.slot_id, RUN, NOW + 180_000),
        )
        db.execute(
            "INSERT INTO schedule_slot_items (slot_id, target_id, work_id, work_type, status) VALUES (?, ?, ?, ?, ?)",
            (given.slot_id, given.target_id, work, work and "illustration", status),
        )
    return given


def owed(db: Db, *routes: str, order: Order | None = None, now: int = NOW) -> Recorded:
    """A work brought home for `routes` at `now`, with its slot and cell if they are not there."""
    given = order or an_order()
    known = "SELECT 1 FROM schedule_slot_items WHERE slot_id = ? AND target_id = ?"
    if given.slot_id and not db.execute(known, (given.slot_id, given.target_id)).fetchall():
        a_cell(db, given, work=given.work_id)
    with transaction(db):
        return brought(db, given, promised(given, *routes), now)


def brought(
    db: Db, order: Order, promises: Sequence[Promise], now: int = NOW, *, owner: Owner = RUN, binds: bool = True
) -> Recorded:
    """The work of `order` brought home by `owner`; one outside any occurrence has no cell, and is only promised."""
    if order.slot_id is None or order.target_id is None:
        known = enqueue.fan_out(db, order, promises, now).duplicate
        return Recorded.DUPLICATE if known else Recorded.ENQUEUED
    place = Place(slot_id=order.slot_id, target_id=order.target_id, owner=owner)
    work = BoundWork(work_id=order.work_id, work_type=order.work_type)
    return works.bring(db, place, a_bringing(work, promises, binds=binds), now)


def table(db: Db, name: str) -> list[dict[str, Any]]:
    """All rows of a table, in the order in which they were written."""
    cursor = db.execute(f"SELECT * FROM {name} ORDER BY rowid")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def sole(db: Db, name: str) -> dict[str, Any]:
    """The one row of a table."""
    [row] = table(db, name)
    return row


def told(db: Db) -> list[str]:
    """The names of all events, in order."""
    return [row["event"] for row in table(db, "delivery_events")]


def put(db: Db, where: str = "1", **columns: object) -> None:
    """Force columns of outbox rows, to bring a row into a state by decree."""
    names = ", ".join(f"{name} = :{name}" for name in columns)
    with transaction(db):
        db.execute(f"UPDATE outbox SET {names} WHERE {where}", columns)


def cancelled_by_consumer(db: Db) -> None:
    """The consumer's whole cancel of the one cell: what is owed to it, and its verdict, in one transaction."""
    change = CellChange(target_id=TARGET, to=CellStatus.FAILED, reason=ReasonCode.CANCELLED_BY_CONSUMER)
    with transaction(db):
        deliveries.cancel_cell(db, SLOT, TARGET, NOW)
        assert cells.change(db, SLOT, change, Role.CONSUMER, NOW)


def claimed(db: Db, route: str = "a", owner: Owner = ME, now: int = NOW) -> OutboxRow:
    """The one due row of a route, leased to `owner`."""
    with transaction(db):
        [row] = outbox.claim(db, RouteName(route), 1, owner, now)
    return row


def recorded(db: Db, row: OutboxRow, ack: Ack, owner: Owner = ME, now: int = NOW, u: float = 0.0) -> bool:
    """Record `owner`'s answer; whether the row was still `owner`'s."""
    with transaction(db):
        return recording.record(db, row.id, ack, owner, now, u)


def cleared(db: Db, row: OutboxRow, owner: Owner = ME, now: int = NOW) -> bool:
    """The last look before the send."""
    with transaction(db):
        return recording.cleared(db, row.id, owner, now)


def answered(db: Db, ack: Ack, route: str = "a", now: int = NOW) -> None:
    """One whole attempt at the due row of a route."""
    assert recorded(db, claimed(db, route, now=now), ack, now=now)


def states(db: Db) -> tuple[str, str, str]:
    """Of the one row, its promise and the cell."""
    tables = ("outbox", "deliveries", "schedule_slot_items")
    row, intent, cell = (sole(db, name)["status"] for name in tables)
    return row, intent, cell
