"""What a pump asks of the rows of attempts: which are due, to hold some, to hold them longer, to give them back.

A row that a worker holds is changed only in that worker's name: a change names the state and the owner that it expects,
and one that meets another state changes nothing and says so. `now` is an instant of the ledger's lease clock wherever a
lease is judged or written, and a lease that was written is remembered there, so that it binds nobody for longer than
it lasts, whatever becomes of the wall clock.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from actors.ports import Due
from pixivflow.delivery.model import OutboxRow
from pixivflow.ids import OutboxId, Owner, RouteName
from pixivflow.ledger import leaseclock
from pixivflow.ledger.connection import Db
from pixivflow.ledger.outbox_rows import COLUMNS, row_of
from pixivflow.times import PRODUCTION

# The partial indexes are used only where their condition is repeated word by word.
UNFINISHED: Final = "status IN ('pending', 'retry_wait', 'processing')"
WAITING: Final = f"{UNFINISHED} AND status <> 'processing'"
DUE: Final = f"({WAITING} AND next_attempt_at <= :now OR status = 'processing' AND lease_until <= :now)"

WAITING_ROUTES: Final = f"""
WITH RECURSIVE route (name) AS (
  SELECT MIN(delivery_target) FROM outbox INDEXED BY idx_outbox_due WHERE {UNFINISHED}
  UNION ALL
  SELECT (SELECT MIN(delivery_target) FROM outbox INDEXED BY idx_outbox_due
          WHERE {UNFINISHED} AND delivery_target > route.name)
  FROM route WHERE route.name IS NOT NULL
)
SELECT route.name,
  (SELECT next_attempt_at FROM outbox INDEXED BY idx_outbox_due
   WHERE {WAITING} AND delivery_target = route.name ORDER BY next_attempt_at LIMIT 1),
  (SELECT next_attempt_at FROM outbox INDEXED BY idx_outbox_due
   WHERE {WAITING} AND delivery_target = route.name AND next_attempt_at > :now ORDER BY next_attempt_at LIMIT 1)
FROM route WHERE route.name IS NOT NULL
"""  # noqa: S608 - constants of this module

LEASED_ROUTES: Final = """
SELECT delivery_target, MIN(lease_until), MIN(CASE WHEN lease_until > :now THEN lease_until END)
FROM outbox INDEXED BY idx_outbox_leases WHERE status = 'processing' GROUP BY delivery_target
"""

OLDEST_DUE: Final = f"""
SELECT id FROM (
  SELECT * FROM (SELECT id, next_attempt_at, rowid AS n FROM outbox INDEXED BY idx_outbox_due
                 WHERE {WAITING} AND delivery_target = :route AND next_attempt_at <= :now
                 ORDER BY next_attempt_at, rowid LIMIT MAX(0, :count))
  UNION ALL
  SELECT id, next_attempt_at, rowid AS n FROM outbox INDEXED BY idx_outbox_leases
  WHERE status = 'processing' AND delivery_target = :route AND lease_until <= :now
) ORDER BY next_attempt_at, n LIMIT MAX(0, :count)
"""  # noqa: S608 - constants of this module

CLAIM: Final = f"""
UPDATE outbox SET status = 'processing', lease_owner = :owner, lease_until = :until, updated_at = :now,
                  answer_unknown = answer_unknown OR status = 'processing'
WHERE id = :id AND {DUE} RETURNING {COLUMNS}
"""  # noqa: S608 - constants of this module

RENEW: Final = """
UPDATE outbox SET lease_until = :until, updated_at = :now
WHERE id = :id AND status = 'processing' AND lease_owner = :owner
"""

RELEASE: Final = """
UPDATE outbox SET status = 'pending', next_attempt_at = :now, lease_owner = NULL, lease_until = NULL, updated_at = :now
WHERE id = :id AND status = 'processing' AND lease_owner = :owner
"""


def due(db: Db, now: int) -> Due:
    """The routes with a row due at `now`, the one that has waited longest first, and the next instant for any row.

    A row whose lease has ended is due; nobody is at it any more.
    """
    first: dict[str, int] = {}
    later: list[int] = []
    for query in (WAITING_ROUTES, LEASED_ROUTES):
        for route, at, after in db.execute(query, {"now": now}).fetchall():
            if at is not None and at <= now:
                first[route] = min(at, first.get(route, at))
            if after is not None:
                later.append(after)
    routes = sorted(first, key=lambda route: (first[route], route))
    return Due(routes=tuple(routes), next_at=min(later, default=None))


def claim(
    db: Db, route: RouteName, count: int, owner: Owner, now: int, lease_ms: int = PRODUCTION.row_lease_ms
) -> list[OutboxRow]:
    """Lease up to `count` due rows of the route to `owner`, oldest first.

    A row taken over from a lease that has ended may have been sent by its former owner, and says so from now on.
    """
    asked = {"route": route, "count": count, "now": now, "owner": owner, "until": now + lease_ms}
    claimed = []
    for (row_id,) in db.execute(OLDEST_DUE, asked).fetchall():
        claimed += db.execute(CLAIM, asked | {"id": row_id}).fetchall()
    if claimed:
        leaseclock.remember(db, now)
    return [row_of(values) for values in claimed]


def renew(db: Db, ids: Sequence[OutboxId], owner: Owner, now: int, lease_ms: int = PRODUCTION.row_lease_ms) -> int:
    """Extend the leases that are still `owner`'s, also one that has ended and was not taken. How many those are."""
    renewed = _each(db, RENEW, ids, {"owner": owner, "now": now, "until": now + lease_ms})
    if renewed:
        leaseclock.remember(db, now)
    return renewed


def release(db: Db, ids: Sequence[OutboxId], owner: Owner, now: int) -> int:
    """Give back rows that were claimed and not sent: due again, no attempt counted. How many were `owner`'s."""
    return _each(db, RELEASE, ids, {"owner": owner, "now": now})


def _each(db: Db, statement: str, ids: Iterable[OutboxId], values: dict[str, object]) -> int:
    return sum(db.execute(statement, values | {"id": row_id}).rowcount for row_id in ids)
