"""Promising one work to all its routes, in one transaction: every intent, every row and the cell, or nothing at all."""

from collections.abc import Sequence
from typing import Final

from pixivflow.delivery import orders
from pixivflow.delivery.intents import EnqueueStep, FanOut, Order, Promise, RouteResult, enqueue_step, outbox_key
from pixivflow.delivery.machine import RowEvent
from pixivflow.delivery.model import Intent, OutboxRow, RowKind
from pixivflow.errors import Conflict
from pixivflow.ids import DeliveryId, Owner
from pixivflow.ledger import cells, intents, outbox_rows
from pixivflow.ledger.connection import Db
from pixivflow.ledger.recording import write
from pixivflow.slots.machine import Role
from pixivflow.slots.model import BoundWork, Cell, CellChange, CellStatus

HOLDS: Final = "SELECT 1 FROM schedule_slots WHERE id = ? AND lease_owner = ? AND status = 'running'"


def enqueue(db: Db, order: Order, promises: Sequence[Promise], now: int, *, owner: Owner | None = None) -> FanOut:
    """Promise the work of `order` to the route of each promise that neither has it nor is about to get it elsewhere.

    Doing it again promises nothing twice: the first keys stand, and a row that had ended without a publication is armed
    again with the payload given now. `owner`: the run that speaks, which must still hold the slot.
    Errors: `Conflict` when the slot is not `owner`'s, or its cell is bound to another work; nothing is promised then.
    """
    cell = _cell(db, order, owner)
    promised = fan_out(db, order, promises, now)
    if cell is not None and not promised.duplicate:
        _to_delivery(db, order, cell, now)
    return promised


def fan_out(db: Db, order: Order, promises: Sequence[Promise], now: int) -> FanOut:
    """The same without a look at the cell, whose state and owner are the caller's to judge and to move."""
    return FanOut(routes=tuple(_route(db, order, promise, now) for promise in promises))


def _cell(db: Db, order: Order, owner: Owner | None) -> Cell | None:
    if order.slot_id is None or order.target_id is None:
        return None
    if owner is not None and not db.execute(HOLDS, (order.slot_id, owner)).fetchall():
        raise Conflict(f"slot {order.slot_id} run by {owner}", None)
    cell = cells.read(db, order.slot_id, order.target_id)
    if cell is not None and cell.work_id not in (None, order.work_id):
        raise Conflict(f"cell {order.slot_id} {order.target_id} bound to work {order.work_id}", cell.work_id)
    return cell


def _route(db: Db, order: Order, promise: Promise, now: int) -> RouteResult:
    intent = _promised(db, order, promise)
    served = intents.served(db, promise.route, order, promise.idempotency_key)
    step = enqueue_step(served=served, intent=intent.status if intent else None)
    if step is EnqueueStep.NOTHING:
        return RouteResult(route=promise.route, delivery_id="", idempotency_key="", duplicate=True, created=False)
    if step is EnqueueStep.PROMISE:
        intents.insert(db, order, promise, now)
    _put_row(db, promise, intent, now)
    return RouteResult(
        route=promise.route,
        delivery_id=intent.id if intent else promise.delivery_id,
        idempotency_key=promise.idempotency_key,
        duplicate=False,
        created=intent is None,
    )


def _promised(db: Db, order: Order, promise: Promise) -> Intent | None:
    """The promise that is there under this key; a key that names anything else than this work and route is refused."""
    intent = intents.read_key(db, promise.idempotency_key)
    if intent is not None and (intent.route, intent.work_id) != (promise.route, order.work_id):
        raise Conflict(f"{promise.idempotency_key} for {order.work_id}", f"{intent.work_id} on {intent.route}")
    return intent


def _put_row(db: Db, promise: Promise, intent: Intent | None, now: int) -> None:
    row = outbox_rows.put(db, _row(promise, intent.id if intent else promise.delivery_id, now), now)
    revived = orders.rearm(row, intent, RowEvent.REVIVED, now)
    if revived is not None:
        outbox_rows.replace_payload(db, row.id, promise.payload_json)
        write(db, row, intent, revived, now, was=row.status, owner=None)


def _row(promise: Promise, delivery_id: DeliveryId, now: int) -> OutboxRow:
    return OutboxRow(
        id=promise.outbox_id,
        kind=RowKind.DELIVERY,
        route=promise.route,
        payload_json=promise.payload_json,
        idempotency_key=outbox_key(promise.idempotency_key),
        delivery_id=delivery_id,
        max_attempts=promise.max_attempts,
        next_attempt_at=now,
    )


def _to_delivery(db: Db, order: Order, cell: Cell, now: int) -> None:
    """The cell waits for its routes from here. One that has ended, or waits already, stays as it is."""
    work = BoundWork(work_id=order.work_id, work_type=order.work_type) if cell.work_id is None else None
    change = CellChange(target_id=cell.target_id, to=CellStatus.DELIVERY_PENDING, work=work)
    cells.change(db, cell.slot_id, change, Role.RUN, now)
