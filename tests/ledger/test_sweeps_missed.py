"""What ended unnoticed is added up, once."""

import json
from pathlib import Path

import pytest

from pixivflow.ledger import sweeps
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.slots.model import CellStatus, SlotStatus
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    HOUR,
    NOW,
    OTHER,
    SLOT,
    everything,
    put_slot,
    set_cell,
    set_lease,
    set_slot,
    the_slot,
)

C, S = CellStatus, SlotStatus
SUMMARIES = "SELECT detail FROM delivery_events WHERE event = 'execution.summary'"


@pytest.mark.parametrize("status", ["running", "pending"])
def test_a_crash_between_the_last_ack_and_the_roll_up_hides_nothing(db: Db, status: str) -> None:
    with transaction(db):
        put_slot(db, status=status)
        set_cell(db, SLOT, "a", status="submitted")
        set_cell(db, SLOT, "b", status="no_candidate")
    with transaction(db):
        assert sweeps.missed_rollups(db, NOW) == (SLOT,)
        assert sweeps.roll_up_missed(db, SLOT, NOW) is S.PARTIAL
        assert sweeps.missed_rollups(db, NOW) == ()
        assert sweeps.roll_up_missed(db, SLOT, NOW) is None
    assert (the_slot(db).status, the_slot(db).reported_at) == (S.PARTIAL, NOW)
    assert len(db.execute(SUMMARIES).fetchall()) == 1


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"reported_at": NOW - 1}, id="told already"),
        pytest.param({"status": "expired"}, id="an old end"),
        pytest.param({"cell": "pending"}, id="a cell is open"),
        pytest.param({"cell": "delivery_pending"}, id="a delivery is owed"),
        pytest.param({"lease": OTHER}, id="a run is about to say it itself"),
        pytest.param({"cell": None}, id="no cells"),
    ],
)
def test_the_reconciler_leaves_alone_what_is_not_its_own(db: Db, columns: dict[str, object]) -> None:
    with transaction(db):
        put_slot(db, status="running")
        set_cell(db, SLOT, "a", status="submitted")
        set_cell(db, SLOT, "b", status=columns.get("cell", "submitted") or "submitted")
        if "cell" in columns and columns["cell"] is None:
            db.execute("DELETE FROM schedule_slot_items")
        if "lease" in columns:
            set_lease(db, SLOT, OTHER, NOW + 1)
        set_slot(db, SLOT, **{name: value for name, value in columns.items() if name not in ("cell", "lease")})
    before = everything(db)
    with transaction(db):
        assert sweeps.missed_rollups(db, NOW) == ()
        assert sweeps.roll_up_missed(db, SLOT, NOW) is None
    assert everything(db) == before


def test_two_processes_that_add_up_one_slot_keep_one_outcome(db: Db, ledger_path: Path) -> None:
    with transaction(db):
        put_slot(db, status="running")
        set_cell(db, SLOT, "a", status="submitted")
        set_cell(db, SLOT, "b", status="submitted")
    other = connect_plain(ledger_path)
    try:
        found = sweeps.missed_rollups(db, NOW), sweeps.missed_rollups(other, NOW)
        with transaction(db):
            first = sweeps.roll_up_missed(db, SLOT, NOW)
        with transaction(other):
            second = sweeps.roll_up_missed(other, SLOT, NOW)
    finally:
        other.close()
    assert found == ((SLOT,), (SLOT,))
    assert (first, second) == (S.SUCCESS, None)
    assert len(db.execute(SUMMARIES).fetchall()) == 1


def test_an_outcome_that_is_known_already_is_not_kept_twice(db: Db) -> None:
    with transaction(db):
        put_slot(db, status="running")
        set_cell(db, SLOT, "a", status="submitted")
        set_cell(db, SLOT, "b", status="submitted")
        sweeps.roll_up_missed(db, SLOT, NOW)
        set_slot(db, SLOT, reported_at=None)
        assert sweeps.roll_up_missed(db, SLOT, NOW + HOUR) is S.SUCCESS
    [(detail,)] = db.execute(SUMMARIES).fetchall()
    assert json.loads(detail)["outcome"]["status"] == "success"
