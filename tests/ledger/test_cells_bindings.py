"""A work taken by a cell, given back, looked for again; an outcome applied."""

from pathlib import Path

import pytest

from pixivflow.ids import Owner, TargetId
from pixivflow.ledger import bindings, leases, works
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.works import Place
from pixivflow.slots.model import BoundWork, CellStatus, ReasonCode, WorkType
from pixivflow.slots.ports import Binding, NotOurs
from pixivflow.slots.target import Duplicate, Enqueued, NoCandidate, Scan, Submitted, TargetFailed
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    ME,
    NOW,
    OTHER,
    OTHER_WORK,
    SLOT,
    WORK,
    A,
    B,
    a_slot,
    everything,
    put_running,
    set_cell,
    states,
    the_cell,
)

C = CellStatus
EMPTY = NoCandidate(text="nothing passed", scan=Scan(attempted=4, skips=("filtered",)))


def running(db: Db) -> None:
    with transaction(db):
        put_running(db)


def place(target: str = "a") -> Place:
    return Place(slot_id=SLOT, target_id=TargetId(target), owner=ME)


def bind(db: Db, work: BoundWork = WORK, target: str = "a", owner: Owner = ME) -> Binding:
    with transaction(db):
        return bindings.bind(db, SLOT, owner, A if target == "a" else B, work, NOW)


def release(db: Db, work: BoundWork = WORK) -> bool:
    with transaction(db):
        return bindings.release_binding(db, SLOT, ME, A, work, NOW)


@pytest.mark.case("slots", 25)
def test_two_workers_that_bind_one_cell_at_once_agree_on_one_work(db: Db, ledger_path: Path) -> None:
    running(db)
    other = connect_plain(ledger_path)
    try:
        first, second = bind(db, WORK), bind(other, OTHER_WORK)
    finally:
        other.close()
    assert (first.won, first.work) == (True, WORK)
    assert (second.won, second.work) == (False, WORK)
    assert (the_cell(db).status, the_cell(db).work_id, the_cell(db).attempt_count) == (C.SELECTED, WORK.work_id, 1)


def test_binding_the_same_work_again_is_won_and_counts_once(db: Db) -> None:
    running(db)
    assert bind(db).won
    assert bind(db).won
    assert the_cell(db).attempt_count == 1


@pytest.mark.case("slots", 26)
def test_a_work_that_produced_nothing_is_given_back_and_one_that_is_under_way_is_not(db: Db) -> None:
    running(db)
    assert bind(db, WORK).won
    assert release(db, WORK)
    assert (the_cell(db).status, the_cell(db).work_id) == (C.PENDING, None)
    assert bind(db, OTHER_WORK).won
    assert the_cell(db).work_id == OTHER_WORK.work_id
    set_cell(db, SLOT, "a", status="delivery_pending")
    before = everything(db)
    assert not release(db, OTHER_WORK)
    assert everything(db) == before


def test_only_the_work_that_a_cell_holds_is_given_back(db: Db) -> None:
    running(db)
    bind(db, WORK)
    assert not release(db, OTHER_WORK)
    assert the_cell(db).work_id == WORK.work_id


def test_two_cells_of_one_slot_never_take_the_same_work(db: Db) -> None:
    running(db)
    assert bind(db, WORK, "a").won
    assert bind(db, WORK, "b") == Binding(won=False, work=None)
    assert bind(db, BoundWork(work_id=WORK.work_id, work_type=WorkType.NOVEL), "b").won


@pytest.mark.parametrize("state", ["submitted", "no_candidate", "duplicate", "failed", "delivery_pending"])
def test_a_cell_that_is_past_selection_takes_no_new_work(db: Db, state: str) -> None:
    running(db)
    set_cell(db, SLOT, "a", status=state)
    before = everything(db)
    assert not bind(db).won
    assert everything(db) == before


def test_a_run_that_lost_its_slot_binds_releases_and_reports_nothing(db: Db) -> None:
    running(db)
    bind(db)
    with transaction(db):
        assert leases.claim(db, SLOT, OTHER, NOW + 180_000)
        before = everything(db)
        assert not bindings.bind(db, SLOT, ME, B, OTHER_WORK, NOW).won
        assert not bindings.release_binding(db, SLOT, ME, A, WORK, NOW)
        assert not bindings.advance(db, SLOT, ME, B, 1, "again", NOW)
        with pytest.raises(NotOurs):
            works.apply(db, place(), Submitted(work=WORK), 3, NOW)
    assert everything(db) == before


def test_each_empty_pass_moves_the_cell_one_stage_and_the_last_one_ends_it(db: Db) -> None:
    running(db)
    stages = []
    for _ in range(3):
        with transaction(db):
            cell = works.apply(db, place(), EMPTY, 3, NOW)
        assert cell is not None
        stages.append((cell.status, cell.fallback_stage, cell.reason_code))
    assert stages == [(C.PENDING, 1, None), (C.PENDING, 2, None), (C.NO_CANDIDATE, 2, ReasonCode.FILTER_EXHAUSTED)]
    assert states(db)["b"] == "pending"


@pytest.mark.case("slots", 45)
def test_a_pool_of_nothing_but_published_works_ends_the_cell_in_its_first_pass(db: Db) -> None:
    running(db)
    stale = NoCandidate(text="all published", scan=Scan(skips=("duplicate", "duplicate")))
    with transaction(db):
        works.apply(db, place(), stale, 3, NOW)
    cell = the_cell(db)
    assert (cell.status, cell.fallback_stage, cell.reason_code) == (C.NO_CANDIDATE, 0, "duplicate_exhausted")


def test_a_manual_slot_gets_its_first_answer(db: Db) -> None:
    with transaction(db):
        put_running(db, a_slot(manual_request_id="key"))
        works.apply(db, place(), EMPTY, 3, NOW)
    assert (the_cell(db).status, the_cell(db).fallback_stage) == (C.NO_CANDIDATE, 0)


def test_a_stage_is_reached_once_whoever_asks_twice(db: Db) -> None:
    running(db)
    with transaction(db):
        assert bindings.advance(db, SLOT, ME, A, 1, "x" * 1000, NOW)
        assert not bindings.advance(db, SLOT, ME, A, 1, "again", NOW)
    assert (the_cell(db).fallback_stage, the_cell(db).last_error) == (1, "x" * 400)


def test_the_next_stage_leaves_nothing_of_why_an_earlier_turn_failed(db: Db) -> None:
    running(db)
    limited = TargetFailed(error="slow down", retryable=True, report='{"cause": "limited"}')
    empty = NoCandidate(text="nothing new", report='{"cause": null}')
    with transaction(db):
        bindings.apply_outcome(db, SLOT, ME, A, limited, 3, NOW)
        bindings.apply_outcome(db, SLOT, ME, A, empty, 3, NOW)
        bindings.apply_outcome(db, SLOT, ME, B, limited, 3, NOW)
        assert bindings.advance(db, SLOT, ME, B, 1, "again", NOW)
    found = [the_cell(db, name) for name in "ab"]
    assert [(each.last_error, each.candidate_report) for each in found] == [
        ("nothing new", empty.report),
        ("again", None),
    ]


def test_a_cell_that_holds_a_work_or_has_ended_is_not_searched_again(db: Db) -> None:
    running(db)
    bind(db, WORK, "a")
    set_cell(db, SLOT, "b", status="failed")
    with transaction(db):
        assert not bindings.advance(db, SLOT, ME, A, 1, "again", NOW)
        assert not bindings.advance(db, SLOT, ME, B, 1, "again", NOW)
    assert states(db) == {"a": "selected", "b": "failed"}


def test_a_work_that_is_gone_fails_its_cell_and_one_that_only_did_not_answer_stays_bound(db: Db) -> None:
    running(db)
    bind(db, WORK, "a")
    bind(db, OTHER_WORK, "b")
    gone = TargetFailed(error="LOCKED_WORK_UNAVAILABLE: 101 answered 404", retryable=False)
    with transaction(db):
        works.apply(db, place(), gone, 3, NOW)
        works.apply(db, place("b"), TargetFailed(error="HTTP 503", retryable=True), 3, NOW)
    assert the_cell(db, "a").status is C.FAILED
    assert (the_cell(db, "a").last_error or "").startswith("LOCKED_WORK_UNAVAILABLE")
    b = the_cell(db, "b")
    assert (b.status, b.work_id, b.last_error) == (C.SELECTED, OTHER_WORK.work_id, "HTTP 503")


def test_an_outcome_for_a_cell_that_is_not_there_changes_nothing(db: Db) -> None:
    running(db)
    before = everything(db)
    with transaction(db):
        assert works.apply(db, place("gone"), Enqueued(work=WORK), 3, NOW) is None
    assert everything(db) == before


def test_a_proven_duplicate_ends_its_cell_with_its_work(db: Db) -> None:
    running(db)
    bind(db)
    with transaction(db):
        works.apply(db, place(), Duplicate(work=WORK, text="published before"), 3, NOW)
    cell = the_cell(db)
    assert (cell.status, cell.work_id, cell.reason_code) == (C.DUPLICATE, WORK.work_id, "duplicate_exhausted")


@pytest.mark.case("slots", 29)
def test_an_empty_search_does_not_end_a_cell_that_holds_a_work(db: Db) -> None:
    running(db)
    bind(db)
    before = everything(db)
    with transaction(db):
        works.apply(db, place(), EMPTY, 3, NOW)
    assert everything(db) == before
