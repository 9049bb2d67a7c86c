"""What is written down about rows whose receiver is not ready. The rows themselves stay as they are."""

from typing import Final

from pixivflow.delivery.deferral import DEFERRED, Unready, deferral
from pixivflow.ids import OutboxId, RouteName
from pixivflow.ledger import outbox_rows
from pixivflow.ledger.connection import Db
from pixivflow.ledger.outbox import OLDEST_DUE
from pixivflow.ledger.recording import tell
from pixivflow.times import PRODUCTION

LAST_TOLD: Final = (
    "SELECT MAX(ts) FROM delivery_events INDEXED BY idx_delivery_events_outbox WHERE outbox_id = ? AND event = ?"
)


def defer(db: Db, route: RouteName, count: int, why: Unready, now: int, every_ms: int = PRODUCTION.deferral_ms) -> int:
    """Tell of each of the `count` rows that would have been sent now why it was not. How many were told of.

    Each is told of once in `every_ms`, counted from what is stored, so that a restart changes nothing.
    """
    told = 0
    for (row_id,) in db.execute(OLDEST_DUE, {"route": route, "count": count, "now": now}).fetchall():
        row = outbox_rows.read(db, OutboxId(row_id))
        [(last,)] = db.execute(LAST_TOLD, (row_id, DEFERRED)).fetchall()
        event = deferral(why, last, now, every_ms)
        if row is not None and event is not None:
            tell(db, row, [event], now)
            told += 1
    return told
