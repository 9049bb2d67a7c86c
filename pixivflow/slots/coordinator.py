"""The walk of one slot run: every cell that is left gets its turn, and every turn ends in one state of its cell.

    for each pass         the first serves all cells, in the order of the settings
        for each cell     a turn ──▶ its outcome, unless the record of its work has moved the cell already
    until no cell looks again: what found nothing looks again with a wider bound, a fixed number of times

One target that goes wrong ends its own cell and no other. A cancellation is no outcome: it passes through, and the
rows are left as they are. If the process dies, the next run's walk gets the cells that are still open, each at its
stage and with the work that it holds.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeVar

import trio

from pixivflow.config.model import Target
from pixivflow.slots.model import TO_BE_RUN, Cell, CellStatus, Work
from pixivflow.slots.parts import Parts
from pixivflow.slots.target import TargetFailed, TargetOutcome
from pixivflow.slots.turn import taken

W = TypeVar("W")

SELECTION: Final = "candidate_selection"


async def walk(work: Work, parts: Parts[W]) -> None:
    """Serve the cells of `work`; returns when none of them looks again.

    A cell whose target the settings no longer name is left as it is, and ends with its slot.
    Errors: `NotOurs` when the slot is another run's; `LedgerBusy`, `StorageFull`, `LedgerLost` when an outcome could
    not be written.
    """
    cells = {cell.target_id: cell for cell in work.cells}
    todo = [(cells[name], target) for name, target in parts.targets.items() if name in cells]
    with parts.about(bot_id=_bot(work), schedule_id=work.schedule_id, slot_id=work.slot.id):
        while todo:
            todo = await _one_pass(work, parts, todo)


async def _one_pass(work: Work, parts: Parts[W], todo: Sequence[tuple[Cell, Target]]) -> list[tuple[Cell, Target]]:
    again = []
    for cell, target in todo:
        await trio.lowlevel.checkpoint_if_cancelled()
        with parts.about(target_id=cell.target_id, stage=SELECTION):
            outcome = await taken(parts, cell, target)
        after = None if outcome is None else await parts.cells.apply(cell.target_id, outcome)
        parts.point("cell.served")
        _tell(work, parts, cell, after, outcome)
        if after is not None and outcome is not None:
            _tell_exhausted(work, parts, after, outcome)
            if looks_again(cell, after, parts.stages):
                again.append((after, target))
    return again


def looks_again(before: Cell, after: Cell, stages: int) -> bool:
    """Whether the cell was sent on to its next stage and has a pass of its own coming."""
    is_free = after.status in TO_BE_RUN and after.work_id is None
    return is_free and before.fallback_stage < after.fallback_stage < stages


def _tell(work: Work, parts: Parts[W], cell: Cell, after: Cell | None, outcome: TargetOutcome | None) -> None:
    if isinstance(outcome, TargetFailed):
        parts.note("cell.failed", slot=work.slot.id, target=cell.target_id, error=outcome.error, code=outcome.code)
    elif after is not None and looks_again(cell, after, parts.stages):
        parts.note("cell.looks_again", slot=work.slot.id, target=cell.target_id, stage=after.fallback_stage)
    else:
        parts.note("cell.served", slot=work.slot.id, target=cell.target_id, outcome=_word(outcome))


def _bot(work: Work) -> str:
    """Whose plan it is, where plans are named after the bots that they feed."""
    return work.schedule_id.partition("-")[0]


def _word(outcome: TargetOutcome | None) -> str:
    name = "Recorded" if outcome is None else type(outcome).__name__
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _tell_exhausted(work: Work, parts: Parts[W], cell: Cell, outcome: TargetOutcome) -> None:
    """An empty day is nobody's fault and still tells what it consisted of."""
    if cell.status is not CellStatus.NO_CANDIDATE:
        return
    skips = outcome.scan.skips
    parts.note(
        "candidate_exhaustion",
        schedule_id=work.schedule_id,
        slot_id=work.slot.id,
        bot_id=_bot(work),
        target_id=cell.target_id,
        stage=SELECTION,
        result="no_candidate",
        reason=cell.reason_code,
        searched=len(skips) + outcome.scan.attempted,
        duplicates=skips.count("duplicate"),
        filtered=skips.count("filtered"),
        attempted=outcome.scan.attempted,
    )
