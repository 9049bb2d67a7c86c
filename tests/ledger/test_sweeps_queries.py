"""The queries of the periodic passes do not grow with history."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pixivflow.ledger import sweeps
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.migrate import migrate
from pixivflow.ledger.unowned import ANY, DATED, QUEUED, STALLED, START, UNDATED
from pixivflow.times import utc_text
from tests.fixtures.slots import HOUR, NOW
from tests.fixtures.sweeping import beyond_rescue

ENDED = 200_000
ASKED = {
    "now": NOW,
    "cutoff": NOW,
    "cutoff_text": utc_text(NOW),
    "not_in": "[]",
    "at_most": 50,
    "at": START.at,
    "row": 0,
}
QUERIES = {
    "recovery": (DATED.format(rule=ANY), "idx_slots_open"),
    "queued": (DATED.format(rule=QUEUED), "idx_slots_open"),
    "stalled": (DATED.format(rule=STALLED), "idx_slots_open"),
    "recovery, undated": (UNDATED.format(rule=ANY), "idx_slots_open"),
    "queued, undated": (UNDATED.format(rule=QUEUED), "idx_slots_open"),
    "stalled, undated": (UNDATED.format(rule=STALLED), "idx_slots_open"),
    "reconciler": (sweeps.MISSED, "idx_slots_unreported"),
}

HISTORY = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :ended)
INSERT INTO schedule_slots (id, schedule_id, occurrence_at, status, reported_at, created_at)
SELECT 'p@' || i, 'p', :now - i, 'success', :now, '2026-01-01 00:00:00' FROM n
"""

RECENT = """
INSERT INTO schedule_slots (id, schedule_id, occurrence_at, status, reported_at, created_at)
VALUES ('o@1', 'o', :now, 'pending', NULL, :old), ('o@2', 'o', :now, 'running', NULL, :old),
       ('o@3', 'o', :now, 'running', NULL, :old), ('u@1', 'u', :now, 'success', NULL, :old),
       ('u@2', 'u', :now, 'failed', NULL, :old), ('n@1', 'n', NULL, 'pending', NULL, :old),
       ('n@2', 'n', NULL, 'running', NULL, :old)
"""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Db]:
    """A ledger of very many ended slots, five open ones, two of them undated, and two that nobody was told of."""
    path: Path = tmp_path_factory.mktemp("history") / "ledger.db"
    db = connect_plain(path)
    migrate(db)
    db.steer("BEGIN IMMEDIATE")
    db.execute(HISTORY, {"ended": ENDED, "now": NOW})
    db.execute(RECENT, {"now": NOW, "old": utc_text(NOW - HOUR)})
    db.execute(
        "INSERT INTO schedule_slot_items (slot_id, target_id, status)"
        " SELECT id, 'a', CASE status WHEN 'success' THEN 'submitted' WHEN 'failed' THEN 'failed' ELSE 'pending' END"
        " FROM schedule_slots WHERE reported_at IS NULL"
    )
    db.steer("COMMIT")
    yield db
    db.close()


@pytest.mark.parametrize("name", QUERIES)
def test_a_periodic_query_reads_the_index_of_what_is_left_to_do(db: Db, name: str) -> None:
    query, index = QUERIES[name]
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", ASKED).fetchall()]
    [on_slots] = [step for step in plan if "schedule_slots" in step or " slot " in f"{step} "]
    assert index in on_slots
    assert not any("TEMP B-TREE" in step for step in plan), plan


@pytest.mark.case("slots", 105)
@pytest.mark.parametrize("name", QUERIES)
def test_a_pass_over_a_long_history_reads_only_what_is_left_to_do(history: Db, name: str) -> None:
    """SQLite calls back once every hundred of its steps; reading the history would take millions."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    query, index = QUERIES[name]
    plan = [row[3] for row in history.execute(f"EXPLAIN QUERY PLAN {query}", ASKED).fetchall()]
    assert any(index in each for each in plan), plan
    history.set_progress_handler(step, 100)
    found = history.execute(query, ASKED).fetchall()
    history.set_progress_handler(None, 100)
    assert (
        sorted(next(value for value in row if isinstance(value, str)) for row in found)
        == {
            "recovery": ["o@1", "o@2", "o@3"],
            "queued": ["o@1"],
            "stalled": ["o@2", "o@3"],
            "recovery, undated": ["n@1", "n@2"],
            "queued, undated": ["n@1"],
            "stalled, undated": ["n@2"],
            "reconciler": ["u@1", "u@2"],
        }[name]
    )
    assert steps < 50


def test_the_stall_sweep_finds_the_open_ones(history: Db) -> None:
    assert beyond_rescue(history, NOW) == ["o@1", "n@1", "o@2", "o@3", "n@2"]
