"""Opening the ledger: the one door for everybody who writes."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from actors.kit import Clock
from pixivflow.errors import LedgerLost
from pixivflow.ledger.connection import BUSY_TIMEOUT_MS
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.threaded import Terms, ThreadedLedger
from pixivflow.times import PRODUCTION, Timings

__all__ = ["Ledger", "open_ledger"]


@asynccontextmanager
async def open_ledger(
    path: str | os.PathLike[str],
    *,
    clock: Clock,
    note: Callable[..., None] = lambda event, **fields: None,
    point: Callable[[str], None] = lambda name: None,
    busy: Callable[[bool], None] = lambda at_work: None,
    timings: Timings = PRODUCTION,
    daemon: bool = True,
    busy_timeout_ms: int = BUSY_TIMEOUT_MS,
) -> AsyncIterator[Ledger]:
    """The ledger at `path`, made if it is not there, open inside the block.

    `daemon`: the one long-lived process, which alone checkpoints, checks, and sets aside a file that cannot be read.
    `note(event, **fields)` hears what happened; `point(name)` is passed on the writer's thread around each COMMIT;
    `busy(at_work)` hears when a thread works, for virtual clocks, which would leap over every deadline meanwhile.
    Errors: `LedgerRefused`; `Unavailable` when another process keeps the file or its lock; `StorageFull`; `LedgerLost`,
    also out of the block itself, which is cancelled once nothing can be recorded any more.
    """
    ledger = ThreadedLedger(
        Path(path),
        Terms(
            clock=clock,
            note=note,
            point=point,
            busy=busy,
            timings=timings,
            daemon=daemon,
            busy_timeout_ms=busy_timeout_ms,
        ),
    )
    try:
        await ledger.open()
        with ledger.block:
            yield ledger
    except Exception:
        if ledger.lost is None:
            raise
    finally:
        with trio.CancelScope(shield=True):
            await ledger.close()
    if ledger.lost is not None:
        raise LedgerLost(f"the ledger's writer is gone: {ledger.lost}") from ledger.lost
