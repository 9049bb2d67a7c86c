"""The port of a run's walk, implemented: the cells of one slot, written in the name of the run that holds it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from actors.kit import Clock
from actors.runs import LiveRun
from pixivflow.config.model import Target
from pixivflow.delivery.intents import Promise
from pixivflow.errors import StorageFull, Unavailable
from pixivflow.ids import Owner, SlotId, TargetId
from pixivflow.ledger import artifacts, works
from pixivflow.ledger.artifacts import Filing
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.works import Bringing, Place
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.model import BoundWork, Cell
from pixivflow.slots.ports import Binding, Entry, FetchedFile, LedgerBusy, NotOurs, Recorded, Seen
from pixivflow.slots.target import TargetOutcome

Pledge = Callable[[Entry[WorkDetail]], Sequence[Promise]]
"""Makes one promise a route of the entry's target, complete with its frozen payload.

Errors: whatever keeps the work from ever being sent; nothing is recorded then, and its cell keeps it.
"""


class RunLedger:
    """`slots.ports.RunCells`. `live`: the run, claimed; once it was given up, every write is refused.

    `stages`: how many passes a target gets.
    """

    def __init__(self, ledger: Ledger, live: LiveRun, clock: Clock, pledge: Pledge, stages: int) -> None:
        if live.run is None:
            raise RuntimeError(f"{live.busy.slot} is not claimed")
        self._ledger, self._live, self._clock, self._pledge, self._stages = ledger, live, clock, pledge, stages
        self._slot_id, self._owner = SlotId(live.run.slot), Owner(live.run.owner)

    @property
    def slot_id(self) -> SlotId:
        return self._slot_id

    async def seen(self, target: Target, target_id: TargetId, found: Sequence[BoundWork]) -> Seen:
        with busy_told():
            return await self._ledger.read(works.seen, self._slot_id, target_id, target.routes, tuple(found))

    async def delivered(self, target: Target, work: BoundWork) -> bool:
        with busy_told():
            return await self._ledger.read(works.delivered, target.routes, work)

    async def recorded(self, work: BoundWork) -> tuple[FetchedFile, ...]:
        with busy_told():
            return await self._ledger.read(artifacts.recorded, work)

    async def bind(self, target_id: TargetId, work: BoundWork) -> Binding:
        with self._writing():
            return await self._ledger.write(works.bind, self._at(target_id), work, self._clock.now_ms())

    async def release(self, target_id: TargetId, work: BoundWork) -> bool:
        with self._writing():
            return await self._ledger.settle(works.release, self._at(target_id), work, self._clock.now_ms())

    async def apply(self, target_id: TargetId, outcome: TargetOutcome) -> Cell | None:
        at, now = self._at(target_id), self._clock.now_ms()
        with self._writing():
            return await self._ledger.write(works.apply, at, outcome, self._stages, now)

    async def record(self, entry: Entry[WorkDetail]) -> Recorded:
        """Once it has begun no cancellation cuts it: files that have their names get their rows."""
        bringing = Bringing(
            filing=filing(entry),
            promises=tuple(self._pledge(entry)) if entry.target.routes else (),
            binds=entry.binds,
            resumed=entry.resumed,
            report=entry.report,
        )
        with self._writing():
            return await self._ledger.settle(works.bring, self._at(entry.target_id), bringing, self._clock.now_ms())

    def _at(self, target_id: TargetId) -> Place:
        return Place(slot_id=self._slot_id, target_id=target_id, owner=self._owner)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._live.revoked:
            raise NotOurs(f"slot {self._slot_id} run by {self._owner}", "a run that was given up")
        with busy_told():
            yield


@contextmanager
def busy_told() -> Iterator[None]:
    """A ledger that cannot be asked is told apart from a Pixiv that cannot."""
    try:
        yield
    except StorageFull:
        raise
    except Unavailable as error:
        raise LedgerBusy(str(error)) from error


def filing(entry: Entry[WorkDetail]) -> Filing:
    """What is filed of a work that was brought home."""
    detail = entry.detail
    return Filing(
        work=entry.work,
        files=entry.files,
        tag=entry.target.label,
        title=detail.title,
        author=detail.user_name or None,
        user_id=detail.user_id or None,
    )
