"""Bringing one work home: its details, its binding, its files, its rows, in this order and nothing before its turn.

    details ──▶ wanted after all? ──▶ bind ──▶ fetch ──▶ record
       ▲                               │ the cell has another work: taken
       └── a pause, then again ────────┴── what failed may pass: as often as the settings say
                                            then it is passed over; a bug ends the target instead

What if it dies here? Before the binding nothing has happened. From there on the row names the work, and whoever comes
next brings the same one; files that are there are used, and rows that are there stand.
"""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import trio

from actors.kit import unwrapped
from pixivflow.errors import LedgerLost, Unavailable
from pixivflow.slots.model import BoundWork
from pixivflow.slots.parts import Turn
from pixivflow.slots.ports import Entry, Fetched, NotOurs, Recorded, Skip
from pixivflow.slots.setbacks import OfTheRun, OfTheWork, Passing, pause_ms, setback, told

W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Brought(Generic[W]):
    """A work whose files are on the disk."""

    detail: W
    fetched: Fetched


@dataclass(frozen=True, slots=True)
class Taken:
    """The cell could not be bound. `holder`: the work that it holds; None: another cell of the slot has this one."""

    holder: BoundWork | None


class Held(Unavailable):
    """A work whose files are there and whose rows could not be written: its cell keeps it, and the next run records
    it."""


class Broken(Exception):
    """A bug that a work met at its last attempt: no fact about the work, and nothing that another one would mend."""

    def __init__(self, work: BoundWork, error: Exception) -> None:
        super().__init__(f"work {work.work_id}: {told(error)}")


async def tried(turn: Turn[W], work: BoundWork) -> Recorded | Skip | Taken:
    """One work, from its details to its rows.

    Errors: `Held` for a work of the cell's own; `Broken`; what `outage_of` knows; `NotOurs`, `LedgerLost`.
    """
    with turn.parts.about(pixiv_id=work.work_id, stage="download"):
        brought = await _persistently(turn, work, partial(_brought, turn, work))
        return await _recorded(turn, work, brought) if isinstance(brought, Brought) else brought


async def _persistently(
    turn: Turn[W], work: BoundWork, once: Callable[[], Awaitable[Brought[W] | Skip | Taken]]
) -> Brought[W] | Skip | Taken:
    parts = turn.parts
    for tries in itertools.count(1):
        try:
            return await once()
        except (NotOurs, LedgerLost):
            raise
        except Exception as raised:
            await trio.lowlevel.checkpoint_if_cancelled()  # what broke because we cancelled it says nothing of its work
            error: Any = unwrapped(raised)
            match setback(error, work):
                case OfTheRun():
                    raise
                case OfTheWork(skip):
                    return skip
                case Passing() as passing:
                    parts.note("work.failed", work=work.work_id, tries=tries, error=error, bug=passing.is_bug)
                    if tries >= parts.max_tries:
                        return _passed_over(turn, work, passing, error)
                    pause = pause_ms(error, passing, tries, parts.retry_ms)
        await trio.sleep(pause / 1000)
    raise AssertionError("counting never ends")


async def _brought(turn: Turn[W], work: BoundWork) -> Brought[W] | Skip | Taken:
    parts = turn.parts
    detail = await parts.selection.detail(work)
    if (skip := parts.selection.declined(turn.target, detail)) is not None:
        return skip
    if turn.binds:
        binding = await parts.cells.bind(turn.cell.target_id, work)
        if not binding.won:
            return Taken(binding.work)
        parts.point("work.bound")
    known = await parts.cells.recorded(work)
    fetched = await parts.fetcher.fetch(detail, turn.target, known, parts.threads)
    parts.point("work.fetched")
    return Brought(detail, fetched)


async def _recorded(turn: Turn[W], work: BoundWork, brought: Brought[W]) -> Recorded | Skip:
    entry = Entry(
        target=turn.target,
        target_id=turn.cell.target_id,
        work=work,
        detail=brought.detail,
        files=brought.fetched.files,
        binds=turn.binds,
        resumed=turn.held is not None,
        report=turn.tally.report(),
    )
    try:
        recorded = await turn.parts.cells.record(entry)
    except (NotOurs, LedgerLost):
        raise
    except Exception as error:
        failed = setback(error, work)
        if isinstance(failed, OfTheRun):
            raise
        turn.parts.note("work.not_recorded", work=work.work_id, error=error)
        if turn.binds:
            words = f"work {work.work_id} is kept and recorded next time: {failed.skip.reason}"
            raise Held(words, cause=failed.skip.cause) from error
        return _passed_over(turn, work, failed, error)
    turn.parts.point("work.recorded")
    return recorded


def _passed_over(turn: Turn[W], work: BoundWork, failed: Passing | OfTheWork, error: Exception) -> Skip:
    """The end of a work that did not come. Errors: `Broken`, with the work in the report all the same."""
    if isinstance(failed, Passing) and failed.is_bug:
        turn.tally.skips.append(failed.skip)
        raise Broken(work, error) from error
    return failed.skip
