"""What the rest of the ledger asks of the delivery side about one cell, and the one thing it tells it to do."""

from typing import Final

from pixivflow.delivery import audit, orders, settle
from pixivflow.ids import OutboxId, SlotId, TargetId
from pixivflow.ledger import cells, intents, outbox_rows
from pixivflow.ledger.connection import Db
from pixivflow.ledger.recording import write
from pixivflow.slots.model import Downstream, RouteFact

UNSENT_ROWS: Final = """
SELECT o.id FROM deliveries d JOIN outbox o ON o.delivery_id = d.id
WHERE d.slot_id = ? AND d.target_id = ? AND o.status IN ('pending', 'retry_wait') ORDER BY o.rowid
"""


def downstream(db: Db, slot_id: SlotId, target_id: TargetId) -> Downstream:
    """Whether the cell still has an owner downstream. Answered from rows alone, so the same before and after a
    restart."""
    return settle.downstream(intents.facts(db, slot_id, target_id), of_many=_of_many(db, slot_id, target_id))


def abandoned(db: Db, slot_id: SlotId, target_id: TargetId) -> bool:
    """Whether the cell waits for a delivery that nobody owes it any more; a cell without any promise does not."""
    return settle.is_abandoned(intents.facts(db, slot_id, target_id), of_many=_of_many(db, slot_id, target_id))


def routes_of(db: Db, slot_id: SlotId, target_id: TargetId) -> tuple[RouteFact, ...]:
    """Where each promise of the cell stands, in the order in which they were made."""
    return tuple(
        RouteFact(route=fact.route, status=fact.status, remote_id=fact.remote_id)
        for fact in intents.facts(db, slot_id, target_id)
    )


def cancel_cell(db: Db, slot_id: SlotId, target_id: TargetId, now: int) -> int:
    """End what is owed to a cell that its consumer no longer wants, and say how many rows that were.

    A row that is being sent is left to its worker, which looks once more before the send. The verdict about the cell is
    the caller's, in the same transaction.
    """
    unsent = [OutboxId(row_id) for (row_id,) in db.execute(UNSENT_ROWS, (slot_id, target_id)).fetchall()]
    return sum(_cancel(db, row_id, now) for row_id in unsent)


def _of_many(db: Db, slot_id: SlotId, target_id: TargetId) -> bool:
    cell = cells.read(db, slot_id, target_id)
    return cell is not None and cell.is_of_many


def _cancel(db: Db, row_id: OutboxId, now: int) -> bool:
    row = outbox_rows.read(db, row_id)
    if row is None or row.delivery_id is None:
        return False
    intent = intents.read(db, row.delivery_id)
    decided = orders.cancel(row, intent, audit.BY_CONSUMER)
    return decided is not None and write(db, row, intent, decided, now, was=row.status, owner=None)
