"""Which routes a work goes to, under which key, with which frozen payload, and what enqueueing it again means.

Keys, their separators and their order never change: an upgrade that spelt one differently would publish history again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Final

import msgspec

from pixivflow.config.texts import well_formed
from pixivflow.delivery.model import CONFIRMED, MAX_ATTEMPTS, IntentStatus
from pixivflow.ids import DeliveryId, OutboxId, RouteName, SlotId, TargetId, WorkId
from pixivflow.slots.model import WorkType

PAYLOAD_VERSION: Final = 1


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A work to be delivered, and the cell that asked for it; without a cell both ids are None."""

    work_type: WorkType
    work_id: WorkId
    slot_id: SlotId | None = None
    target_id: TargetId | None = None


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """What one route is about to be owed, complete before any transaction begins."""

    route: RouteName
    idempotency_key: str
    payload_json: str
    delivery_id: DeliveryId
    outbox_id: OutboxId
    max_attempts: int = MAX_ATTEMPTS


class RouteResult(msgspec.Struct, frozen=True, kw_only=True):
    """What enqueueing did for one route. Of one that has the work, or gets it elsewhere, the ids are empty."""

    route: RouteName
    delivery_id: str
    idempotency_key: str
    duplicate: bool
    created: bool


class FanOut(msgspec.Struct, frozen=True, kw_only=True):
    """What enqueueing did for one work, route by route in the order of the configuration."""

    routes: tuple[RouteResult, ...]

    @property
    def duplicate(self) -> bool:
        """Whether no route is in want of the work; one that is, is owed it by this cell."""
        return all(result.duplicate for result in self.routes)

    @property
    def created(self) -> bool:
        """Whether any route was promised something new."""
        return any(result.created for result in self.routes)


class EnqueueStep(Enum):
    """What enqueueing does for one route."""

    NOTHING = auto()
    PROMISE = auto()
    PROMISE_AGAIN = auto()


def intent_key(route: RouteName, order: Order) -> str:
    """The key of a promise, the same for every attempt at it for ever.

    Errors: `ValueError` for an empty id, which would make two promises one.
    """
    where = (order.slot_id, order.target_id)
    owner = ("adhoc",) if None in where else where
    parts = ("pixivflow", route, order.work_type.value, order.work_id, *owner)
    if not all(parts):
        raise ValueError(f"an empty id in {parts}")
    return ":".join(map(str, parts))


def outbox_key(key: str) -> str:
    """The key of the row that carries the promise `key`."""
    return f"outbox:{key}"


def promises(
    order: Order,
    routes: Sequence[RouteName],
    payload: Mapping[str, object],
    new_id: Callable[[], str],
    keys: Mapping[RouteName, str] | None = None,
) -> tuple[Promise, ...]:
    """One promise a route, with fresh ids, its key and its frozen payload.

    `keys`: explicit keys for some routes; the others get the key of their ids.
    Errors: `ValueError` without any route, since "every route of none has it" would read as a duplicate.
    """
    if not routes:
        raise ValueError(f"no route to deliver {order.work_type} {order.work_id} to")
    made = []
    for route in routes:
        key = (keys or {}).get(route) or intent_key(route, order)
        made.append(
            Promise(
                route=route,
                idempotency_key=key,
                payload_json=frozen_payload(payload, route, key),
                delivery_id=DeliveryId(new_id()),
                outbox_id=OutboxId(new_id()),
            )
        )
    return tuple(made)


def frozen_payload(payload: Mapping[str, object], route: RouteName, key: str) -> str:
    """The text that every attempt sends from. The key inside is the ledger's, whatever the caller's context says."""
    context = payload.get("context")
    extras = context if isinstance(context, Mapping) else {}
    whole = {
        **payload,
        "version": PAYLOAD_VERSION,
        "context": {**extras, "deliveryTarget": route, "idempotencyKey": key},
    }
    return well_formed(json.dumps(whole, ensure_ascii=False, allow_nan=False))


def enqueue_step(*, served: bool, intent: IntentStatus | None) -> EnqueueStep:
    """What enqueueing does for one route.

    `served`: the route has the work, from whatever cell, or is about to get it under another key. `intent`: the promise
    under the same key, if there is one.
    """
    if served or intent in CONFIRMED:
        return EnqueueStep.NOTHING
    return EnqueueStep.PROMISE if intent is None else EnqueueStep.PROMISE_AGAIN
