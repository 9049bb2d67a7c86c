"""The outcome record: the one line and the one row that say how an occurrence ended."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from pixivflow.ids import ScheduleId, SlotId, TargetId
from pixivflow.slots.model import Cell, CellStatus, Downstream, RouteFact, Slot, SlotStatus
from pixivflow.slots.outcome import COPY, BusinessStatus, business_status, counts
from pixivflow.times import iso

OUTCOME_VERSION: Final = 2
"""2 told cancelled cells apart from failed ones."""


class RouteEnd(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the promise to one route ended."""

    route: str
    status: str
    remote_id: str | None = None


class TargetEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How one target ended. `routes` stands where there were promises: no publication goes unmentioned."""

    target_id: TargetId
    status: CellStatus
    work_id: str | None
    error: str | None
    terminal_reason_code: str | None
    terminal_reason_message: str | None
    candidate_report: str | None
    routes: tuple[RouteEnd, ...] | UnsetType = UNSET


class CellsEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of an occurrence and each of its targets, ordered by target id."""

    total: int
    submitted: int
    no_match: int
    duplicate: int
    executor_failed: int
    delivery_failed: int
    cancelled: int
    all_duplicates: bool
    targets: tuple[TargetEnd, ...]


class OutcomeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One ended occurrence. `occurrence_at`: ISO UTC; it and `duration_ms` are absent where the row cannot say."""

    event: Literal["schedule.outcome"] = "schedule.outcome"
    outcome_version: int = OUTCOME_VERSION
    schedule_id: ScheduleId
    slot_id: SlotId
    occurrence_at: str | UnsetType
    occurrence_date: str
    status: SlotStatus
    business_status: BusinessStatus
    alertable: bool
    duration_ms: int | UnsetType
    cells: CellsEnd


class SummaryDetail(msgspec.Struct, frozen=True, kw_only=True):
    """What the row `execution.summary` holds: the sentence for people and the record for machines."""

    summary: str
    outcome: OutcomeRecord


def outcome_record(
    slot: Slot,
    cells: Sequence[Cell],
    downstream: Mapping[TargetId, Downstream],
    routes: Mapping[TargetId, Sequence[RouteFact]],
) -> OutcomeRecord:
    """The record of `slot` as its row and its cells stand; both mappings hold every target of the slot."""
    c = counts((cell, downstream[cell.target_id]) for cell in cells)
    business = business_status(c)
    return OutcomeRecord(
        schedule_id=slot.schedule_id,
        slot_id=slot.id,
        occurrence_at=instant_text(slot.occurrence_at),
        occurrence_date=slot.occurrence_date,
        status=slot.status,
        business_status=business,
        alertable=business.alertable,
        duration_ms=duration_ms(slot),
        cells=CellsEnd(
            total=c.total,
            submitted=c.submitted,
            no_match=c.no_match,
            duplicate=c.duplicate,
            executor_failed=c.executor_failed,
            delivery_failed=c.delivery_failed,
            cancelled=c.cancelled,
            all_duplicates=0 < c.unpublished == c.duplicate,
            targets=tuple(
                _target_end(cell, routes[cell.target_id]) for cell in sorted(cells, key=lambda cell: cell.target_id)
            ),
        ),
    )


def summary_detail(record: OutcomeRecord) -> SummaryDetail:
    """The detail of the row that keeps `record`."""
    return SummaryDetail(summary=COPY[record.business_status].zh, outcome=record)


def duration_ms(slot: Slot) -> int | UnsetType:
    """From the first start to the first end, never negative; absent where either is."""
    if slot.started_at is None or slot.completed_at is None:
        return UNSET
    return max(0, slot.completed_at - slot.started_at)


def instant_text(at: int | None) -> str | UnsetType:
    """`at` as ISO text. An instant that no calendar holds is left out: a record is never lost over one field."""
    if at is None:
        return UNSET
    try:
        return iso(at)
    except (OverflowError, ValueError, OSError):
        return UNSET


def _target_end(cell: Cell, facts: Sequence[RouteFact]) -> TargetEnd:
    ends = tuple(RouteEnd(route=fact.route, status=fact.status, remote_id=fact.remote_id) for fact in facts)
    return TargetEnd(
        target_id=cell.target_id,
        status=cell.status,
        work_id=cell.work_id,
        error=cell.last_error,
        terminal_reason_code=cell.reason_code,
        terminal_reason_message=cell.reason_message,
        candidate_report=cell.candidate_report,
        routes=ends or UNSET,
    )
