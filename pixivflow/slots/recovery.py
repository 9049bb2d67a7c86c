"""What a slot that nobody runs needs: a run, a settlement in passing, or nothing but patience.

A delivery that backs off for hours must not cost its plan one execution a minute: a slot whose open cells are all with
the delivery ledger is settled or left alone without a permit and without being counted.
"""

from collections.abc import Iterable, Mapping

from actors.ports import Course
from pixivflow.ids import TargetId
from pixivflow.slots.lease import is_live
from pixivflow.slots.model import IN_DELIVERY, OPEN_SLOT, Cell, Downstream, Live, Slot, SlotStatus, Unknown


def course(cells: Iterable[Cell], downstream: Mapping[TargetId, Downstream]) -> Course:
    """What the slot of `cells` needs; `downstream` holds every cell that is with the delivery ledger."""
    still_open = [cell for cell in cells if cell.is_open]
    if any(cell.status not in IN_DELIVERY or isinstance(downstream[cell.target_id], Unknown) for cell in still_open):
        return Course.DISPATCH
    if still_open and all(isinstance(downstream[cell.target_id], Live) for cell in still_open):
        return Course.WAIT
    return Course.SETTLE


def about(slot: Slot, status: SlotStatus) -> dict[str, object]:
    """By what people know a slot that is `status` now: its plan, who asked for it, and under which ids."""
    told = {
        "schedule": slot.schedule_id,
        "trigger_source": slot.trigger_source,
        "slot_status": status,
        "manual_request_id": slot.manual_request_id,
        "correlation_id": slot.correlation_id,
    }
    return {name: value for name, value in told.items() if value is not None}


def is_candidate(slot: Slot, now: int) -> bool:
    """Whether recovery looks at `slot`: unfinished, and owned by nobody. Never claimed and worker died are the same."""
    return slot.status in OPEN_SLOT and not is_live(slot, now)
