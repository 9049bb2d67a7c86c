"""The checker of losses compares what was accepted, what the ledger says, and what the receiver holds."""

from pathlib import Path

import pytest

from tests.promises import kept
from tests.promises.evidence import Arrival
from tests.promises.ledgers import with_changes
from tests.promises.transcripts import a_life, an_arrival

UNPROMISED = ("DELETE FROM outbox", "DELETE FROM deliveries")
LOST = "UPDATE deliveries SET status = 'failed'"
DEAD = "UPDATE outbox SET status = 'dead'"
CELL_FAILED = "UPDATE schedule_slot_items SET status = 'failed'"


def judged(tmp_path: Path, *changes: str, arrivals: tuple[Arrival, ...] = (an_arrival(),)) -> list[str]:
    return kept.judge(a_life(with_changes(tmp_path / "l.db", *changes), arrivals=arrivals))


def test_a_publication_that_both_sides_know_is_kept(tmp_path: Path) -> None:
    assert judged(tmp_path) == []


def test_a_cell_that_only_stores_is_published_by_what_it_has_stored(tmp_path: Path) -> None:
    stored = "UPDATE schedule_slot_items SET work_id = NULL, work_type = NULL, stored_count = 2"
    assert judged(tmp_path, *UNPROMISED, stored, arrivals=()) == []
    empty = kept.judge(a_life(with_changes(tmp_path / "empty.db", *UNPROMISED), arrivals=()))
    assert [fault for fault in empty if "`submitted` over intents []" in fault] != []


@pytest.mark.parametrize(
    ("changes", "arrivals"),
    [
        pytest.param((LOST, DEAD, CELL_FAILED), (an_arrival(answer="refused", taken=False),), id="refused for good"),
        pytest.param(
            (LOST, "UPDATE outbox SET status = 'dead', attempts = 12", CELL_FAILED),
            (an_arrival(answer="unavailable", taken=False),),
            id="its attempts were spent",
        ),
    ],
)
def test_a_failure_that_the_wire_explains_is_right(
    tmp_path: Path, changes: tuple[str, ...], arrivals: tuple[Arrival, ...]
) -> None:
    assert judged(tmp_path, *changes, arrivals=arrivals) == []


@pytest.mark.parametrize(
    ("changes", "arrivals", "words"),
    [
        pytest.param(
            ("UPDATE schedule_slots SET status = 'running'",), (an_arrival(),), "never ended", id="a slot left running"
        ),
        pytest.param(
            ("UPDATE outbox SET status = 'retry_wait'",), (an_arrival(),), "still owed", id="a row that is still owed"
        ),
        pytest.param(
            ("DELETE FROM delivery_events WHERE event = 'execution.summary'",),
            (an_arrival(),),
            "has 0 outcomes",
            id="an end without an outcome",
        ),
        pytest.param((), (), "the receiver never took it", id="delivered without an arrival"),
        pytest.param(
            (),
            (an_arrival(answer="unavailable", taken=False),),
            "the receiver never took it",
            id="delivered though the receiver was busy",
        ),
        pytest.param(
            ("UPDATE deliveries SET status = 'duplicate'",),
            (an_arrival(),),
            "somebody else's",
            id="our own publication taken for a foreign one",
        ),
        pytest.param((LOST, DEAD, CELL_FAILED), (an_arrival(),), "the receiver took it", id="failed and published"),
        pytest.param(
            (LOST, DEAD, CELL_FAILED),
            (an_arrival(answer="unavailable", taken=False),),
            "nobody refused it",
            id="given up before its attempts were spent",
        ),
        pytest.param((LOST,), (an_arrival(),), "`submitted` over intents", id="a cell published over a failed intent"),
        pytest.param(
            ("UPDATE schedule_slot_items SET status = 'selected'",),
            (an_arrival(),),
            "was promised to a route",
            id="a cell that forgot what it promised",
        ),
    ],
)
def test_a_loss_is_named(tmp_path: Path, changes: tuple[str, ...], arrivals: tuple[Arrival, ...], words: str) -> None:
    assert any(words in fault for fault in judged(tmp_path, *changes, arrivals=arrivals))
