"""What holds the daemon awake, counted in the rows: each number from an index that holds nothing that has ended.

Asked as a write: then it queues behind every write that was accepted before, and nobody is told "taken" and left alone.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from actors.ports import Owed
from actors.runs import LiveRun
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger

COUNT = """
SELECT (SELECT COUNT(*) FROM schedule_slots WHERE status IN ('pending', 'running')),
       (SELECT COUNT(*) FROM outbox WHERE status = 'processing'),
       (SELECT COUNT(*) FROM outbox WHERE status IN ('pending', 'retry_wait', 'processing') AND status <> 'processing')
"""


def count(db: Db) -> Owed:
    """The slots that have not ended, leased or not, and the outbox rows that somebody will still attempt."""
    [(slots, processing, pending)] = db.execute(COUNT).fetchall()
    return Owed(active_slots=slots, processing_outbox=processing, pending_outbox=pending)


class OwedLedger:
    """Everything that is owed. `live`: the runs of this process, waiting for their lane or at work."""

    def __init__(self, ledger: Ledger, live: Callable[[], Collection[LiveRun]]) -> None:
        self._ledger, self._live = ledger, live

    async def last_word(self) -> Owed:
        """Counted behind every write that was accepted. Errors: the ledger's; they are no evidence of anything."""
        return self._with_runs(await self._ledger.write(count))

    async def now(self) -> Owed:
        """Counted at once, for whoever only wants to see. Errors: as `Ledger.read`."""
        return self._with_runs(await self._ledger.read(count))

    def _with_runs(self, owed: Owed) -> Owed:
        live = self._live()
        begun = sum(run.run is not None for run in live)
        return replace(owed, active_executions=begun, waiting_for_resource=len(live) - begun)
