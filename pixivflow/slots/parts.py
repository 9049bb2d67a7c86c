"""What one walk works with, and what one cell's turn is about."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import trio

from pixivflow.config.model import Target
from pixivflow.ids import TargetId
from pixivflow.slots.model import BoundWork, Cell, WorkType
from pixivflow.slots.ports import Fetcher, RunCells, Selection, Wish
from pixivflow.slots.tally import Tally

W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Parts(Generic[W]):
    """What one run's walk works with.

    `targets`: those of the settings that the run began with, in their order. `threads`: the run's own. `started_at`:
    epoch ms, from which words for days are resolved. `stages`: the most passes. `max_tries`, `retry_ms`: attempts at
    one work, of which there is always one, and the first pause between two. `about`: a block in which everything that
    is noted, here or far below, carries these fields too.
    """

    targets: Mapping[TargetId, Target]
    selection: Selection[W]
    fetcher: Fetcher[W]
    cells: RunCells[W]
    threads: trio.CapacityLimiter
    started_at: int
    stages: int = 3
    max_tries: int = 3
    retry_ms: int = 2_000
    note: Callable[..., None] = lambda event, **fields: None
    about: Callable[..., AbstractContextManager[object]] = lambda **fields: nullcontext()
    point: Callable[[str], None] = lambda name: None


@dataclass(frozen=True, slots=True)
class Turn(Generic[W]):
    """One cell's turn: what it is about, and what has been counted so far."""

    parts: Parts[W]
    cell: Cell
    target: Target
    wish: Wish
    tally: Tally = field(default_factory=Tally)

    @property
    def held(self) -> BoundWork | None:
        """The work that the cell held before this turn; a row that does not know its type has the target's."""
        work_id, known = self.cell.work_id, self.cell.work_type
        if work_id is None:
            return None
        if known is None or known is WorkType.UNKNOWN:
            known = WorkType(self.target.type)
        return BoundWork(work_id=work_id, work_type=known)

    @property
    def binds(self) -> bool:
        """Whether the cell belongs to one work. A work that it holds is its own, whatever the settings say by now."""
        return self.wish.is_single or self.held is not None
