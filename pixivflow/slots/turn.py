"""One cell's turn, and the one typed outcome that it ends with.

    the cell holds a work     that work and no other: no list is asked for, nothing that was seen before is left out
    it holds none             a search; works are tried in their order until as many were stored as are wanted

An outcome is chosen by what came of it: a work stored or promised, else what was out of order or broken, else a work
that may serve another time, else that there is nothing new. So nothing that failed is ever told as an empty day, and no
bug is passed over like a work.
"""

from functools import partial
from typing import Final, TypeVar

import trio

from actors.kit import unwrapped
from pixivflow.config.model import Target
from pixivflow.errors import AuthNeeded, Cause, LedgerLost, Unavailable
from pixivflow.slots.attempt import Broken, Taken, tried
from pixivflow.slots.causes import reason_of
from pixivflow.slots.model import BoundWork, Cell, ReasonCode
from pixivflow.slots.parts import Parts, Turn
from pixivflow.slots.ports import NotOurs, Recorded, Skip, SkipCode
from pixivflow.slots.setbacks import cause_of, outage_of, told
from pixivflow.slots.tally import Tally
from pixivflow.slots.target import Duplicate, Enqueued, NoCandidate, Stored, TargetFailed, TargetOutcome

W = TypeVar("W")

LOCKED: Final = "LOCKED_WORK_UNAVAILABLE: work {}: {}"
SAME_AGAIN: Final = "work {} could not be brought now and stays the one to bring: {}"
DECLINED: Final = "work {} is not wanted any more: {}"


async def taken(parts: Parts[W], cell: Cell, target: Target) -> TargetOutcome | None:
    """What came of the cell's turn; None: the transaction that recorded its work has moved the cell already.

    Errors: `NotOurs`, `LedgerLost`. Everything else that goes wrong is an outcome.
    """
    tally = Tally(stage=cell.fallback_stage)
    try:
        turn = Turn(parts, cell, target, parts.selection.wish(target), tally)
        return await (_searched(turn) if turn.held is None else _resumed(turn, turn.held))
    except (NotOurs, LedgerLost):
        raise
    except Exception as raised:
        await trio.lowlevel.checkpoint_if_cancelled()  # a list that broke because we cancelled it is no empty list
        return _failed(parts, cell, tally, unwrapped(raised))


async def _resumed(turn: Turn[W], work: BoundWork) -> TargetOutcome | None:
    if await turn.parts.cells.delivered(turn.target, work):
        return Duplicate(work=work, text="every route has this work already")
    turn.tally.bound = turn.tally.attempted = 1
    got = await tried(turn, work)
    if not isinstance(got, Skip):
        return None  # recorded, and the cell moved with it; or somebody else moved the cell
    turn.tally.skips.append(got)
    turn.tally.cause = got.cause
    scan, report = turn.tally.scan, turn.tally.report()
    match got.code:
        case SkipCode.UNAVAILABLE:
            words, retryable, code = SAME_AGAIN, True, reason_of(got.cause)
        case SkipCode.FILTERED:
            words, retryable, code = DECLINED, False, ReasonCode.FILTER_EXHAUSTED
        case _:
            words, retryable, code = LOCKED, False, ReasonCode.METADATA_FAILED
    text = words.format(work.work_id, got.reason)
    return TargetFailed(error=text, retryable=retryable, work=work, code=code, scan=scan, report=report)


async def _searched(turn: Turn[W]) -> TargetOutcome | None:
    made: list[Recorded] = []
    try:
        await _scan(turn, turn.wish.limit - turn.cell.stored_count, made)
    except (NotOurs, LedgerLost):
        raise
    except Exception as raised:
        if not made and not turn.cell.stored_count:
            raise
        await trio.lowlevel.checkpoint_if_cancelled()
        error = unwrapped(raised)
        where = {"slot": turn.parts.cells.slot_id, "target": turn.cell.target_id}
        if isinstance(error, Broken):
            turn.parts.note("target.crashed", **where, error=error)
        else:
            turn.parts.note("target.cut_short", **where, error=error)
        turn.tally.outages += filter(None, [outage_of(error)])
    return _verdict(turn, made)


async def _scan(turn: Turn[W], wanted: int, made: list[Recorded]) -> None:
    """Try works until `wanted` were recorded; what was goes into `made` at once."""
    if wanted <= 0:
        return
    parts, cell, tally = turn.parts, turn.cell, turn.tally
    look = partial(parts.cells.seen, turn.target, cell.target_id)
    choice = await parts.selection.choose(turn.target, wanted, cell.fallback_stage, parts.started_at, look)
    tally.chosen(choice)
    for work in choice.queue:
        await trio.lowlevel.checkpoint_if_cancelled()
        tally.attempted += 1
        match await tried(turn, work):
            case Recorded.DUPLICATE:
                tally.skips.append(_known(work, "every route has it"))
            case Recorded() as recorded:
                made.append(recorded)
            case Skip() as skip:
                tally.skips.append(skip)
                if turn.binds:
                    await parts.cells.release(cell.target_id, work)
            case Taken(holder):
                owner = "another cell has it" if holder is None else f"the cell already owns {holder.work_id}"
                tally.skips.append(_known(work, owner))
                if holder is not None:
                    parts.note("cell.taken", slot=parts.cells.slot_id, target=cell.target_id, work=holder.work_id)
                    return
        if len(made) == wanted:
            return


def _verdict(turn: Turn[W], made: list[Recorded]) -> TargetOutcome | None:
    skip = turn.tally.retryable
    turn.tally.cause = None if skip is None else skip.cause
    scan, report = turn.tally.scan, turn.tally.report()
    if made and turn.binds:
        return None
    if made or turn.cell.stored_count:
        kind = Enqueued if turn.target.routes else Stored
        return kind(scan=scan, report=report)
    if skip is not None:
        return TargetFailed(error=skip.reason, retryable=True, scan=scan, report=report)
    return NoCandidate(text=turn.tally.sentence(), scan=scan, report=report)


def _failed(parts: Parts[W], cell: Cell, tally: Tally, error: BaseException) -> TargetFailed:
    """The outcome of a turn that was ended by an error of no single work."""
    tally.outages += filter(None, [outage_of(error)])
    tally.cause = cause_of(error)
    text, scan, report = told(error), tally.scan, tally.report()
    if isinstance(error, Unavailable | AuthNeeded):
        again = text if cell.work_id is None else SAME_AGAIN.format(cell.work_id, text)
        return TargetFailed(error=again, retryable=True, code=reason_of(tally.cause), scan=scan, report=report)
    if tally.cause is Cause.DEFECT:
        text = str(error) if isinstance(error, Broken) else text
        parts.note("target.crashed", slot=parts.cells.slot_id, target=cell.target_id, error=error)
    return TargetFailed(error=text, retryable=False, code=reason_of(tally.cause), scan=scan, report=report)


def _known(work: BoundWork, reason: str) -> Skip:
    return Skip(code=SkipCode.DUPLICATE, work_id=work.work_id, reason=reason)
