"""The cells of a download that belongs to no occurrence: they live in memory, only files and works become rows.

If the process dies in the middle, nothing is owed to anybody: the command is given again, and what is whole on the disk
is used without a request.
"""

from collections.abc import Sequence

import msgspec

from actors.kit import Clock
from pixivflow.config.model import Target
from pixivflow.config.texts import stored_text
from pixivflow.ids import SlotId, TargetId
from pixivflow.ledger import artifacts
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.run_store import filing
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.model import BoundWork, Cell
from pixivflow.slots.ports import Binding, Entry, FetchedFile, Recorded, Seen
from pixivflow.slots.target import TargetOutcome, verdict
from pixivflow.slots.texts import CELL_ERROR_MAX


class AdHocCells:
    """`slots.ports.RunCells` without a slot. `cells`: as they stand; `files`: what was brought home, in order."""

    def __init__(self, ledger: Ledger, clock: Clock, slot_id: SlotId, cells: Sequence[Cell]) -> None:
        self._ledger, self._clock, self.slot_id = ledger, clock, slot_id
        self.cells = {cell.target_id: cell for cell in cells}
        self.files: list[FetchedFile] = []

    async def seen(self, target: Target, target_id: TargetId, works: Sequence[BoundWork]) -> Seen:
        return Seen()

    async def delivered(self, target: Target, work: BoundWork) -> bool:
        return False

    async def recorded(self, work: BoundWork) -> tuple[FetchedFile, ...]:
        return await self._ledger.read(artifacts.recorded, work)

    async def bind(self, target_id: TargetId, work: BoundWork) -> Binding:
        bound = msgspec.structs.replace(self.cells[target_id], work_id=work.work_id, work_type=work.work_type)
        self.cells[target_id] = bound
        return Binding(won=True, work=work)

    async def release(self, target_id: TargetId, work: BoundWork) -> bool:
        self.cells[target_id] = msgspec.structs.replace(self.cells[target_id], work_id=None, work_type=None)
        return True

    async def apply(self, target_id: TargetId, outcome: TargetOutcome) -> Cell | None:
        change = verdict(self.cells[target_id], outcome)
        if change is not None:
            status, error = change.to or self.cells[target_id].status, stored_text(change.error, CELL_ERROR_MAX)
            self.cells[target_id] = msgspec.structs.replace(
                self.cells[target_id], status=status, last_error=error, reason_code=change.reason
            )
        return self.cells[target_id]

    async def record(self, entry: Entry[WorkDetail]) -> Recorded:
        await self._ledger.settle(artifacts.file, filing(entry), self._clock.now_ms())
        self.files += entry.files
        return Recorded.STORED
