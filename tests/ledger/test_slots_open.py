"""Opening an occurrence."""

import sqlite3
from pathlib import Path

import pytest

from pixivflow.errors import Conflict
from pixivflow.ids import SlotId, TargetId
from pixivflow.ledger import cells, slots
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.slots.model import CellStatus, SlotStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import HOUR, NOW, SLOT, A, B, C, a_slot, everything, put_slot, set_slot, states, the_slot


def test_an_occurrence_is_kept_with_all_that_was_known_when_it_was_opened(db: Db) -> None:
    slot = a_slot(
        manual_request_id="Key-1",
        correlation_id="corr",
        recovery_request_id="Rec-1",
        recovery_mode="relaxed",
        params_json='{"limit": 1}',
    )
    with transaction(db):
        assert slots.open_slot(db, slot, NOW)
        assert slots.read(db, SLOT) == slot


def test_a_slot_and_its_cells_come_into_being_together(db: Db) -> None:
    with transaction(db):
        assert slots.open_slot(db, a_slot(target_ids=(B, A, B)), NOW)
    assert states(db) == {"a": "pending", "b": "pending"}
    assert the_slot(db).target_ids == (B, A)
    with pytest.raises(sqlite3.IntegrityError), transaction(db):
        slots.open_slot(db, a_slot(id=SlotId("p@later"), target_ids=(A, TargetId(""))), NOW)
    assert slots.read(db, SlotId("p@later")) is None
    assert cells.read_all(db, SlotId("p@later")) == ()


def test_opening_a_slot_again_changes_nothing_whatever_the_configuration_says_by_now(db: Db) -> None:
    with transaction(db):
        put_slot(db)
    before = everything(db)
    with transaction(db):
        assert not slots.open_slot(db, a_slot(target_ids=(B, C), slot_name="renamed"), NOW + HOUR)
    assert everything(db) == before


@pytest.mark.case("slots", 13)
def test_two_processes_that_open_one_occurrence_at_once_get_one_row_and_one_cell_a_target(
    db: Db, ledger_path: Path
) -> None:
    other = connect_plain(ledger_path, busy_timeout_ms=0)
    try:
        with transaction(db):
            first = slots.open_slot(db, a_slot(), NOW)
            with pytest.raises(sqlite3.OperationalError, match="locked"), transaction(other):
                pass
        with transaction(other):
            second = slots.open_slot(other, a_slot(), NOW)
    finally:
        other.close()
    assert (first, second) == (True, False)
    assert db.execute("SELECT COUNT(*) FROM schedule_slots").fetchall() == [(1,)]
    assert states(db) == {"a": "pending", "b": "pending"}


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(a_slot(manual_request_id="KEY"), id="one slot, the same request in other letters"),
        pytest.param(a_slot(manual_request_id=None), id="one slot, no request"),
        pytest.param(a_slot(id=SlotId("q@manual-key"), manual_request_id="key"), id="one request, another slot"),
    ],
)
def test_one_request_and_one_slot_belong_to_each_other(db: Db, second: object) -> None:
    with transaction(db):
        slots.open_slot(db, a_slot(manual_request_id="key"), NOW)
    before = everything(db)
    with pytest.raises(Conflict), transaction(db):
        slots.open_slot(db, second, NOW)  # type: ignore[arg-type]
    assert everything(db) == before


def test_an_occurrence_without_a_target_is_refused_since_nothing_could_ever_end_it(db: Db) -> None:
    for targets in ((), None):
        with pytest.raises(ValueError, match="no target"), transaction(db):
            slots.open_slot(db, a_slot(target_ids=targets), NOW)
    assert slots.read(db, SLOT) is None


def test_an_empty_name_is_refused_wherever_it_could_identify_something(db: Db) -> None:
    for slot in (
        a_slot(id=SlotId("")),
        a_slot(schedule_id=""),
        a_slot(manual_request_id=""),
        a_slot(target_ids=(TargetId(""),)),
    ):
        with pytest.raises(sqlite3.IntegrityError), transaction(db):
            slots.open_slot(db, slot, NOW)


def test_a_field_that_is_no_instant_is_read_as_unknown_and_the_rest_of_the_row_is_kept(db: Db) -> None:
    with transaction(db):
        put_slot(db, created_at="yesterday", target_ids="{not json", started_at="2026-09-08 02:00:05")
    slot = the_slot(db)
    assert (slot.created_at, slot.target_ids, slot.started_at) == (None, None, NOW + 5_000)
    with transaction(db):
        set_slot(db, SLOT, target_ids='{"a": 1}')
    assert the_slot(db).target_ids is None


def test_a_slot_that_is_not_there_is_none(db: Db) -> None:
    assert slots.read(db, SLOT) is None
    assert cells.read(db, SLOT, A) is None


def test_a_new_slot_waits_with_every_cell_open(db: Db) -> None:
    with transaction(db):
        put_slot(db)
    assert the_slot(db).status is SlotStatus.PENDING
    assert {cell.status for cell in cells.read_all(db, SLOT)} == {CellStatus.PENDING}
