"""The rows of promises, and the questions that are answered from them."""

from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec

from pixivflow.delivery.changes import IntentChange
from pixivflow.delivery.intents import Order, Promise
from pixivflow.delivery.model import CONFIRMED, Intent, IntentStatus
from pixivflow.delivery.settle import IntentFact
from pixivflow.ids import DeliveryId, RouteName, SlotId, TargetId, WorkId
from pixivflow.ledger.connection import Db
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.times import utc_text

COLUMNS: Final = """id, delivery_target, work_type, pixiv_id, idempotency_key, slot_id, target_id, status, remote_id,
remote_status, reuse_reason, attempts, last_error"""

READ: Final = f"SELECT {COLUMNS} FROM deliveries WHERE id = ?"  # noqa: S608 - the columns are the constant above
READ_KEY: Final = f"SELECT {COLUMNS} FROM deliveries WHERE idempotency_key = ?"  # noqa: S608 - the same

SERVED_ELSEWHERE: Final = """
SELECT EXISTS (
  SELECT 1 FROM deliveries d
  WHERE d.delivery_target = :route AND d.work_type = :work_type AND d.pixiv_id = :work_id
    AND (d.status IN ('delivered', 'duplicate')
         OR (d.status = 'pending' AND d.idempotency_key <> :key
             AND EXISTS (SELECT 1 FROM outbox o WHERE o.delivery_id = d.id
                         AND o.status IN ('pending', 'processing', 'retry_wait'))))
)
"""

KEPT_UNDER: Final = """
SELECT idempotency_key FROM deliveries
WHERE delivery_target = :route AND work_type = :work_type AND pixiv_id = :work_id
  AND status IN ('delivered', 'duplicate') AND id <> :id LIMIT 1
"""

INSERT: Final = """
INSERT INTO deliveries (id, delivery_target, work_type, pixiv_id, slot_id, target_id, idempotency_key, created_at,
                        updated_at)
VALUES (:id, :route, :work_type, :work_id, :slot_id, :target_id, :key, :at, :at)
"""

CHANGE: Final = """
UPDATE deliveries SET status = :status, remote_id = :remote_id, remote_status = :remote_status,
       reuse_reason = :reuse_reason, last_error = :last_error, attempts = attempts + :settled, updated_at = :at,
       delivered_at = CASE WHEN :status IN ('delivered', 'duplicate') THEN :at END
WHERE id = :id AND status = :was
"""

FACTS: Final = """
SELECT d.delivery_target, d.status, d.work_type, d.pixiv_id, d.remote_id, d.remote_status, d.last_error,
       EXISTS (SELECT 1 FROM outbox o WHERE o.delivery_id = d.id
               AND o.status IN ('pending', 'processing', 'retry_wait'))
FROM deliveries d WHERE d.slot_id = ? AND d.target_id = ? ORDER BY d.rowid
"""

EXCLUDED: Final = """
SELECT pixiv_id FROM deliveries
WHERE work_type = :work_type AND delivery_target IN (SELECT value FROM json_each(:routes))
  AND pixiv_id IN (SELECT value FROM json_each(:works)) AND status IN (SELECT value FROM json_each(:states))
GROUP BY pixiv_id HAVING COUNT(DISTINCT delivery_target) = :every
"""
WORKS_AT_ONCE: Final = 400


def read(db: Db, intent_id: DeliveryId) -> Intent | None:
    """The promise as its row tells it."""
    return _one(db.execute(READ, (intent_id,)).fetchall())


def read_key(db: Db, key: str) -> Intent | None:
    """The promise that `key` names."""
    return _one(db.execute(READ_KEY, (key,)).fetchall())


def served(db: Db, route: RouteName, order: Order, key: str) -> bool:
    """Whether the route has the work of `order`, or is about to get it under another key than `key`.

    Two cells that chose the same work at the same moment would otherwise publish it twice, under two keys that no
    receiver can tell for one.
    """
    asked = {"route": route, "work_type": order.work_type, "work_id": order.work_id, "key": key}
    [(found,)] = db.execute(SERVED_ELSEWHERE, asked).fetchall()
    return bool(found)


def kept_under(db: Db, intent: Intent) -> str | None:
    """The key of another promise under which the route of `intent` has its work already."""
    asked = {"route": intent.route, "work_type": intent.work_type, "work_id": intent.work_id, "id": intent.id}
    found = db.execute(KEPT_UNDER, asked).fetchall()
    return found[0][0] if found else None


def insert(db: Db, order: Order, promise: Promise, now: int) -> None:
    """Write a new promise. Errors: `sqlite3.IntegrityError` for an empty id, or a key that is taken."""
    db.execute(
        INSERT,
        {
            "id": promise.delivery_id,
            "route": promise.route,
            "work_type": order.work_type,
            "work_id": order.work_id,
            "slot_id": order.slot_id,
            "target_id": order.target_id,
            "key": promise.idempotency_key,
            "at": utc_text(now),
        },
    )


def change(db: Db, intent: Intent, to: IntentChange, now: int) -> None:
    """Write `to` over the promise as it was read. A confirmed one is never changed, so its instant stays for ever."""
    values = msgspec.structs.asdict(to)
    settled = to.status is not IntentStatus.PENDING
    db.execute(CHANGE, values | {"id": intent.id, "was": intent.status, "settled": settled, "at": utc_text(now)})


def facts(db: Db, slot_id: SlotId, target_id: TargetId) -> list[IntentFact]:
    """All promises of a cell, in the order in which they were made."""
    return [
        IntentFact(
            route=RouteName(route),
            status=IntentStatus(status),
            actionable=bool(actionable),
            work=BoundWork(work_id=WorkId(work_id), work_type=WorkType(work_type)),
            remote_id=remote_id,
            remote_status=remote_status,
            last_error=last_error,
        )
        for route, status, work_type, work_id, remote_id, remote_status, last_error, actionable in db.execute(
            FACTS, (slot_id, target_id)
        ).fetchall()
    ]


def excluded(
    db: Db, routes: Collection[RouteName], work_type: WorkType, works: Sequence[WorkId], *, own: bool = False
) -> frozenset[WorkId]:
    """Those of `works` that no route is in want of any more; one that a single route still lacks can be chosen.

    A promise counts like a publication while works are looked for; for a cell that goes on with its `own` work only a
    publication counts, or the cell would exclude itself.
    """
    states = CONFIRMED if own else CONFIRMED | {IntentStatus.PENDING}
    asked = {
        "work_type": work_type,
        "routes": _json(sorted(set(routes))),
        "states": _json(sorted(states)),
        "every": len(set(routes)),
    }
    found: set[WorkId] = set()
    for start in range(0, len(works), WORKS_AT_ONCE):
        some = _json(works[start : start + WORKS_AT_ONCE])
        found.update(WorkId(work_id) for (work_id,) in db.execute(EXCLUDED, asked | {"works": some}).fetchall())
    return frozenset(found)


def _one(rows: list[Any]) -> Intent | None:
    if not rows:
        return None
    (row,) = rows
    return Intent(
        id=DeliveryId(row[0]),
        route=RouteName(row[1]),
        work_type=WorkType(row[2]),
        work_id=WorkId(row[3]),
        idempotency_key=row[4],
        slot_id=row[5],
        target_id=row[6],
        status=IntentStatus(row[7]),
        remote_id=row[8],
        remote_status=row[9],
        reuse_reason=row[10],
        attempts=row[11],
        last_error=row[12],
    )


def _json(values: Collection[str]) -> str:
    return msgspec.json.encode(list(values)).decode()
