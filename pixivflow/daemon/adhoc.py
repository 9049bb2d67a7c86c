"""A download that somebody asks for by hand: one walk, no slot, no lease, and no delivery."""

from collections.abc import Mapping

import msgspec
import trio

from actors.kit import Clock, Note
from pixivflow.config.model import Settings, Target
from pixivflow.daemon.outside import tidied, to_pixiv
from pixivflow.ids import ScheduleId, SlotId, TargetId
from pixivflow.ledger.adhoc import AdHocCells
from pixivflow.ledger.ledger import open_ledger
from pixivflow.selection.candidates import Candidates
from pixivflow.slots.coordinator import walk
from pixivflow.slots.model import Cell, Slot, Work
from pixivflow.slots.parts import Parts
from pixivflow.slots.ports import FetchedFile
from pixivflow.times import PRODUCTION

SLOT = SlotId("adhoc")
TARGET = TargetId("adhoc")


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it. `error` None: the work is whole on the disk."""

    files: tuple[FetchedFile, ...]
    error: str | None


async def bring(settings: Settings, illust_id: int, clock: Clock, note: Note, environ: Mapping[str, str]) -> Brought:
    """Download one illustration into the folder that the settings name, and record it.

    Errors: the ledger's, when it cannot be opened.
    """
    target = Target(id=TARGET, type="illustration", illust_id=illust_id)
    path = settings.storage.database_path
    async with open_ledger(path, clock=clock, note=note, daemon=False) as ledger:
        await tidied(settings, ledger, clock, note)
        ways = to_pixiv(settings, ledger, clock=clock, note=note, environ=environ, timings=PRODUCTION)
        cells = AdHocCells(ledger, clock, SLOT, [Cell(slot_id=SLOT, target_id=TARGET)])
        parts = Parts(
            targets={TARGET: target},
            selection=Candidates(ways.source(settings.download), settings.download.candidate_scan_limit),
            fetcher=ways.fetcher(settings.download),
            cells=cells,
            threads=trio.CapacityLimiter(4),
            started_at=clock.now_ms(),
            stages=1,
            max_tries=settings.download.max_retries,
            retry_ms=settings.download.retry_delay_ms,
            note=note,
        )
        plan = ScheduleId("adhoc")
        slot = Slot(id=SLOT, schedule_id=plan, target_ids=(TARGET,))
        try:
            await walk(Work(slot=slot, cells=tuple(cells.cells.values()), schedule_id=plan, timeout_ms=0), parts)
        finally:
            await ways.aclose()
    cell = cells.cells[TARGET]
    failed = None if cells.files else cell.last_error or cell.reason_code or f"nothing came ({cell.status})"
    return Brought(files=tuple(cells.files), error=failed)
