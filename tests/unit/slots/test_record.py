"""The record of how an occurrence ended."""

import json
from typing import Any

import msgspec
import pytest

from pixivflow.ids import RouteName
from pixivflow.slots.model import Cell, CellStatus, ReasonCode, RouteFact, Slot, SlotStatus, Unknown
from pixivflow.slots.record import outcome_record, summary_detail
from tests.fixtures.slots import HOUR, NOW, a_cell, a_slot

ENDED = a_slot(status=SlotStatus.PARTIAL, started_at=NOW, completed_at=NOW + 90_000)
CELLS = [
    a_cell("b", CellStatus.NO_CANDIDATE, reason_code=ReasonCode.NO_CANDIDATE, reason_message="x", last_error="none"),
    a_cell("a", CellStatus.SUBMITTED, work_id="101"),
]


def record(slot: Slot = ENDED, cells: list[Cell] | None = None, *facts: RouteFact) -> dict[str, Any]:
    cells = CELLS if cells is None else cells
    said = {cell.target_id: Unknown() for cell in cells}
    routes = {cell.target_id: facts if cell.target_id == "a" else () for cell in cells}
    decoded: dict[str, Any] = json.loads(msgspec.json.encode(outcome_record(slot, cells, said, routes)))
    return decoded


def test_a_record_tells_how_the_occurrence_ended_and_what_each_target_did() -> None:
    assert record() == {
        "event": "schedule.outcome",
        "outcome_version": 2,
        "schedule_id": "p",
        "slot_id": "p@2026-09-08T1000",
        "occurrence_at": "2026-09-08T02:00:00.000Z",
        "occurrence_date": "2026-09-08",
        "status": "partial",
        "business_status": "partial_success",
        "alertable": False,
        "duration_ms": 90_000,
        "cells": {
            "total": 2,
            "submitted": 1,
            "no_match": 1,
            "duplicate": 0,
            "executor_failed": 0,
            "delivery_failed": 0,
            "cancelled": 0,
            "all_duplicates": False,
            "targets": [
                {
                    "target_id": "a",
                    "status": "submitted",
                    "work_id": "101",
                    "error": None,
                    "terminal_reason_code": None,
                    "terminal_reason_message": None,
                    "candidate_report": None,
                },
                {
                    "target_id": "b",
                    "status": "no_candidate",
                    "work_id": None,
                    "error": "none",
                    "terminal_reason_code": "no_candidate",
                    "terminal_reason_message": "x",
                    "candidate_report": None,
                },
            ],
        },
    }


def test_a_publication_on_one_route_is_told_although_its_cell_failed() -> None:
    cells = [a_cell("a", CellStatus.FAILED, reason_code=ReasonCode.DELIVERY_FAILED)]
    facts = (
        RouteFact(route=RouteName("r1"), status="delivered", remote_id="m-7"),
        RouteFact(route=RouteName("r2"), status="failed"),
    )
    [target] = record(ENDED, cells, *facts)["cells"]["targets"]
    assert target["routes"] == [
        {"route": "r1", "status": "delivered", "remoteId": "m-7"},
        {"route": "r2", "status": "failed", "remoteId": None},
    ]


@pytest.mark.parametrize(
    ("slot", "missing"),
    [
        (a_slot(started_at=None, completed_at=NOW), "duration_ms"),
        (a_slot(started_at=NOW, completed_at=None), "duration_ms"),
        (a_slot(occurrence_at=None), "occurrence_at"),
        (a_slot(occurrence_at=10**18), "occurrence_at"),
    ],
)
def test_a_field_that_the_row_cannot_fill_is_left_out_and_the_rest_is_kept(slot: Slot, missing: str) -> None:
    found = record(slot)
    assert missing not in found
    assert found["slot_id"] == slot.id


def test_a_clock_that_was_set_back_makes_no_negative_duration() -> None:
    assert record(a_slot(started_at=NOW, completed_at=NOW - HOUR))["duration_ms"] == 0


@pytest.mark.parametrize(
    ("states", "all_duplicates"),
    [
        ([CellStatus.DUPLICATE, CellStatus.DUPLICATE], True),
        ([CellStatus.DUPLICATE, CellStatus.SUBMITTED], True),
        ([CellStatus.DUPLICATE, CellStatus.NO_CANDIDATE], False),
        ([CellStatus.SUBMITTED], False),
    ],
)
def test_all_duplicates_means_that_nothing_else_kept_a_target_from_publishing(
    states: list[CellStatus], all_duplicates: bool
) -> None:
    cells = [a_cell(f"t{n}", state) for n, state in enumerate(states)]
    assert record(ENDED, cells)["cells"]["all_duplicates"] is all_duplicates


def test_the_stored_detail_holds_a_sentence_and_the_record() -> None:
    said = {cell.target_id: Unknown() for cell in CELLS}
    found = outcome_record(ENDED, CELLS, said, {cell.target_id: () for cell in CELLS})
    detail = json.loads(msgspec.json.encode(summary_detail(found)))
    assert detail == {"summary": "任务部分完成，部分内容已发布。", "outcome": record()}
