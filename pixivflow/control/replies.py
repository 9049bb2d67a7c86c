"""The answers of the run route, made from the one table of dispositions."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET

from pixivflow.config.texts import stored_text
from pixivflow.control.ports import Reply
from pixivflow.control.visit import Outcome
from pixivflow.control.wire import CellView, ErrorBody, RunReply, ScheduleView
from pixivflow.scheduling.disposition import ANSWERS, Disposition
from pixivflow.scheduling.occurrence import Occurrence
from pixivflow.slots.model import Cell, SlotStatus
from pixivflow.slots.texts import CELL_ERROR_MAX


def errored(
    disposition: Disposition,
    text: str,
    reason: str,
    *,
    http_status: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Outcome:
    """An error in its flat shape. `http_status` None: the disposition's own."""
    status = ANSWERS[disposition].http_status if http_status is None else http_status
    return Outcome(disposition, Reply(status, ErrorBody(error=text), dict(headers or {})), reason)


def replied(
    disposition: Disposition,
    occurrence: Occurrence | None,
    status: SlotStatus = SlotStatus.PENDING,
    cells: Sequence[Cell] = (),
    *,
    reason: str | None = None,
) -> Outcome:
    """What became of a trigger. `occurrence` None: it named none. `status`, `cells`: the slot's, as they were read."""
    row = ANSWERS[disposition]
    view = _view(disposition, occurrence, status, cells) if occurrence else UNSET
    why = reason if reason is not None and disposition is Disposition.REJECTED else UNSET
    body = RunReply(status=row.word, schedule=view, note=row.note or row.word, reason=why)
    headers = {} if row.retry_after_s is None else {"retry-after": f"{row.retry_after_s}"}
    return Outcome(disposition, Reply(row.http_status, body, headers), reason)


def _view(disposition: Disposition, occurrence: Occurrence, status: SlotStatus, cells: Sequence[Cell]) -> ScheduleView:
    running = disposition is Disposition.ALREADY_RUNNING
    return ScheduleView(
        schedule_id=occurrence.schedule_id,
        slot_id=occurrence.slot_id,
        disposition=disposition.value,
        status=SlotStatus.RUNNING.value if running else status.value,
        already_completed=True if disposition is Disposition.ALREADY_COMPLETED else UNSET,
        cells=[_cell(cell) for cell in cells] or UNSET,
    )


def _cell(cell: Cell) -> CellView:
    error = stored_text(cell.last_error, CELL_ERROR_MAX)  # an earlier program may have written the row
    return CellView(
        target_id=cell.target_id,
        status=cell.status.value,
        work_id=cell.work_id,
        error=UNSET if error is None else error,
    )
