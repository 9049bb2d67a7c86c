"""Promising one work to all its routes: every intent and every row, in the transaction of whoever brings it home."""

from collections.abc import Sequence

from pixivflow.delivery import orders
from pixivflow.delivery.intents import EnqueueStep, FanOut, Order, Promise, RouteResult, enqueue_step, outbox_key
from pixivflow.delivery.machine import RowEvent
from pixivflow.delivery.model import Intent, OutboxRow, RowKind
from pixivflow.errors import Conflict
from pixivflow.ids import DeliveryId
from pixivflow.ledger import intents, outbox_rows
from pixivflow.ledger.connection import Db
from pixivflow.ledger.recording import write


def fan_out(db: Db, order: Order, promises: Sequence[Promise], now: int) -> FanOut:
    """Promise the work of `order` to the route of each promise that neither has it nor is about to get it elsewhere.

    Doing it again promises nothing twice: the first keys stand, and a row that had ended without a publication is armed
    again with the payload given now. The cell is the caller's to judge and to move.
    Errors: `Conflict` for a key that names another work or route; nothing is promised then.
    """
    return FanOut(routes=tuple(_route(db, order, promise, now) for promise in promises))


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
