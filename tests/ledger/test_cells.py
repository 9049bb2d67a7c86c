"""A verdict about a cell: whole, once, and never late."""

from itertools import product

import pytest

from pixivflow.ledger import cells
from pixivflow.ledger.connection import Db
from pixivflow.slots.machine import Role, cell_sources
from pixivflow.slots.model import TERMINAL_CELL, CellChange, CellStatus, ReasonCode
from pixivflow.slots.reasons import REASONS
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    LEGAL,
    ME,
    MINUTE,
    NOW,
    OTHER,
    OTHER_WORK,
    SLOT,
    WORK,
    A,
    everything,
    put_running,
    put_slot,
    set_cell,
    the_cell,
)

C = CellStatus
BROKEN = CellChange(
    target_id=A, to=C.FAILED, error="HTTP 503", reason=ReasonCode.REMOTE_HTTP_ERROR, message="m", report="{}"
)


def in_state(db: Db, state: CellStatus, **columns: object) -> None:
    put_slot(db)
    set_cell(db, SLOT, "a", status=state.value, **columns)


@pytest.mark.case("slots", 22)
@pytest.mark.parametrize(("start", "to"), list(product(CellStatus, CellStatus)))
def test_a_move_that_is_not_drawn_leaves_the_cell_as_it_was(db: Db, start: CellStatus, to: CellStatus) -> None:
    with transaction(db):
        for role in Role:
            in_state(db, start)
            before = everything(db)
            moved = cells.change(db, SLOT, CellChange(target_id=A, to=to, error="late"), role, NOW)
            assert moved is (start in cell_sources(role, to))
            assert the_cell(db).status is (to if moved else start)
            if to not in LEGAL[start]:
                assert the_cell(db).status is start
            if not moved:
                assert everything(db) == before


@pytest.mark.case("slots", 23)
@pytest.mark.parametrize("to", [C.FAILED, C.DUPLICATE])
@pytest.mark.parametrize("role", Role)
def test_a_published_cell_takes_no_late_verdict_and_no_reason_of_one(db: Db, role: Role, to: CellStatus) -> None:
    with transaction(db):
        in_state(db, C.SUBMITTED)
        late = CellChange(target_id=A, to=to, error="late", reason=ReasonCode.INTERNAL_ERROR, message="late")
        assert not cells.change(db, SLOT, late, role, NOW)
    cell = the_cell(db)
    assert (cell.status, cell.reason_code, cell.reason_message, cell.last_error) == (C.SUBMITTED, None, None, None)


@pytest.mark.case("slots", 24)
@pytest.mark.parametrize("role", Role)
def test_a_cancelled_cell_keeps_its_reason_whatever_comes_later(db: Db, role: Role) -> None:
    with transaction(db):
        in_state(db, C.FAILED, terminal_reason_code="cancelled_by_consumer")
        assert not cells.change(db, SLOT, BROKEN, role, NOW)
    assert the_cell(db).reason_code == ReasonCode.CANCELLED_BY_CONSUMER


@pytest.mark.parametrize("to", sorted(TERMINAL_CELL))
def test_the_end_of_a_cell_is_stamped(db: Db, to: CellStatus) -> None:
    with transaction(db):
        put_slot(db)
        assert cells.change(db, SLOT, CellChange(target_id=A, to=to), Role.RUN, NOW + MINUTE)
    [(completed, updated)] = db.execute(
        "SELECT completed_at, updated_at FROM schedule_slot_items WHERE target_id = 'a'"
    )
    assert completed == updated == "2026-09-08 02:01:00"


def test_a_cell_that_goes_to_delivery_has_no_end_yet(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        assert cells.change(db, SLOT, CellChange(target_id=A, to=C.DELIVERY_PENDING), Role.RUN, NOW)
    assert db.execute("SELECT completed_at FROM schedule_slot_items WHERE target_id = 'a'").fetchall() == [(None,)]


def test_a_verdict_is_written_whole(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        assert cells.change(db, SLOT, BROKEN, Role.RUN, NOW)
    cell = the_cell(db)
    assert (cell.status, cell.last_error, cell.reason_code, cell.reason_message, cell.candidate_report) == (
        C.FAILED,
        "HTTP 503",
        "remote_http_error",
        "m",
        "{}",
    )


def test_a_report_that_is_too_long_is_left_out_and_the_verdict_stands(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        change = CellChange(target_id=A, to=C.NO_CANDIDATE, reason=ReasonCode.NO_CANDIDATE, report="x" * 5000)
        assert cells.change(db, SLOT, change, Role.RUN, NOW)
    assert (the_cell(db).status, the_cell(db).candidate_report) == (C.NO_CANDIDATE, None)


@pytest.mark.parametrize("text", ["x" * 5000, "登" * 5000, "broken \udce9 name"], ids=["long", "wide", "broken"])
def test_an_error_of_any_length_and_shape_is_stored(db: Db, text: str) -> None:
    with transaction(db):
        put_slot(db)
        change = CellChange(target_id=A, to=C.FAILED, error=text, reason=ReasonCode.INTERNAL_ERROR, message=text)
        assert cells.change(db, SLOT, change, Role.RUN, NOW)
    cell = the_cell(db)
    assert len(cell.last_error or "") == min(len(text), 1000)
    assert len(cell.reason_message or "") == min(len(text), 400)


def test_a_publication_forgets_the_error_of_an_earlier_try(db: Db) -> None:
    with transaction(db):
        in_state(db, C.SELECTED, last_error="HTTP 503")
        assert cells.change(db, SLOT, CellChange(target_id=A, to=C.SUBMITTED, work=WORK), Role.RUN, NOW)
    assert the_cell(db).last_error is None


@pytest.mark.parametrize("state", CellStatus)
def test_an_error_beside_the_state_is_stored_while_the_cell_is_open(db: Db, state: CellStatus) -> None:
    with transaction(db):
        in_state(db, state)
        note = CellChange(target_id=A, to=None, error="HTTP 503", report="{}")
        assert cells.change(db, SLOT, note, Role.RUN, NOW) is (state not in TERMINAL_CELL)
    cell = the_cell(db)
    expected = (None, None) if state in TERMINAL_CELL else ("HTTP 503", "{}")
    assert (cell.status, cell.last_error, cell.candidate_report) == (state, *expected)


def test_a_cell_that_holds_a_work_takes_no_verdict_about_another_one(db: Db) -> None:
    with transaction(db):
        in_state(db, C.DELIVERY_PENDING, work_id=WORK.work_id, work_type="illustration")
        for role in (Role.RUN, Role.OUTBOX):
            change = CellChange(target_id=A, to=C.SUBMITTED, work=OTHER_WORK)
            assert not cells.change(db, SLOT, change, role, NOW)
        assert cells.change(db, SLOT, CellChange(target_id=A, to=C.SUBMITTED, work=WORK), Role.OUTBOX, NOW)
    assert the_cell(db).work_id == WORK.work_id


@pytest.mark.parametrize(("role", "attempts"), [(Role.RUN, 1), (Role.OUTBOX, 0)])
def test_a_run_that_locks_a_work_counts_as_an_attempt_and_an_ack_does_not(db: Db, role: Role, attempts: int) -> None:
    with transaction(db):
        put_slot(db)
        assert cells.change(db, SLOT, CellChange(target_id=A, to=C.SUBMITTED, work=WORK), role, NOW)
    assert the_cell(db).attempt_count == attempts


def test_a_run_writes_only_while_it_holds_its_slot(db: Db) -> None:
    with transaction(db):
        put_running(db, owner=OTHER)
        before = everything(db)
        assert not cells.change(db, SLOT, BROKEN, Role.RUN, NOW, owner=ME)
        assert everything(db) == before
        assert cells.change(db, SLOT, BROKEN, Role.RUN, NOW, owner=OTHER)


def test_every_reason_fits_its_column(db: Db) -> None:
    for reason in ReasonCode:
        with transaction(db):
            put_slot(db)
            set_cell(db, SLOT, "a", status="pending")
            change = CellChange(target_id=A, to=C.FAILED, reason=reason, message=REASONS[reason].zh)
            assert cells.change(db, SLOT, change, Role.RUN, NOW)
        assert the_cell(db).reason_code == reason
