"""The checker of doubles reads the wire: second keys, bodies and works, and arrivals that nothing excuses."""

from pathlib import Path

import pytest

from tests.promises import once
from tests.promises.evidence import Arrival, Stop
from tests.promises.ledgers import with_changes
from tests.promises.transcripts import a_life, a_stop, an_arrival, looked_at

CLAIMED_TWICE = """INSERT INTO delivery_events (ts, outbox_id, event) VALUES (1, 'o1', 'outbox.claimed')"""


def judged(tmp_path: Path, *arrivals: Arrival, stops: tuple[Stop, ...] = ()) -> list[str]:
    ledger = with_changes(tmp_path / "l.db", CLAIMED_TWICE)
    return once.judge(a_life(ledger, arrivals=arrivals, stops=stops))


def test_one_arrival_is_right(tmp_path: Path) -> None:
    assert judged(tmp_path, an_arrival()) == []


@pytest.mark.parametrize(
    ("second", "words"),
    [
        pytest.param(an_arrival(2, key="other"), "values of key", id="a key made anew for a retry"),
        pytest.param(an_arrival(2, digest="bb"), "values of digest", id="a body that changed under its key"),
        pytest.param(an_arrival(2, route="r2"), "values of route", id="a key that went to two routes"),
        pytest.param(an_arrival(2, work="w2"), "values of work", id="a cell that published two works"),
    ],
)
def test_a_second_thing_where_there_must_be_one_is_named(tmp_path: Path, second: Arrival, words: str) -> None:
    first = an_arrival(delivered=False)
    assert any(words in fault for fault in judged(tmp_path, first, second))


@pytest.mark.parametrize(
    ("first", "stops"),
    [
        pytest.param(an_arrival(answer="", delivered=False), (), id="no answer was given"),
        pytest.param(an_arrival(delivered=False), (), id="the answer was not read"),
        pytest.param(an_arrival(answer="unavailable", taken=False), (), id="it was asked to come back"),
        pytest.param(an_arrival(), (a_stop("KILL", 15),), id="its sender died with the answer in its hands"),
        pytest.param(an_arrival(), (a_stop("FREEZE", 15, 500),), id="its sender stood still meanwhile"),
    ],
)
def test_a_second_arrival_with_a_cause_is_right(tmp_path: Path, first: Arrival, stops: tuple[Stop, ...]) -> None:
    assert judged(tmp_path, first, an_arrival(2), stops=stops) == []


@pytest.mark.parametrize(
    "stops",
    [
        pytest.param((), id="nothing happened"),
        pytest.param((a_stop("KILL", 5),), id="a kill before the first arrival"),
        pytest.param((a_stop("KILL", 15, pid=999),), id="a kill of somebody else"),
        pytest.param((a_stop("TERM", 15),), id="an orderly stop, which records the answers it has"),
    ],
)
def test_a_second_arrival_without_a_cause_is_named(tmp_path: Path, stops: tuple[Stop, ...]) -> None:
    assert any(
        "arrived again as number 2" in fault for fault in judged(tmp_path, an_arrival(), an_arrival(2), stops=stops)
    )


def test_no_kill_excuses_an_arrival_after_the_row_was_done(tmp_path: Path) -> None:
    ledger = with_changes(tmp_path / "l.db", CLAIMED_TWICE)
    looks = (looked_at(ledger, 15), looked_at(ledger, 1_000))
    life = a_life(ledger, arrivals=(an_arrival(), an_arrival(2)), stops=(a_stop("KILL", 12),), snapshots=looks)
    assert any("after its outbox row stood `done`" in fault for fault in once.judge(life))


def test_a_process_frozen_on_its_way_to_the_send_may_arrive_late(tmp_path: Path) -> None:
    ledger = with_changes(tmp_path / "l.db", CLAIMED_TWICE)
    looks = (looked_at(ledger, 15), looked_at(ledger, 1_000))
    late = an_arrival(2, sender=200, begun=7)
    life = a_life(ledger, arrivals=(an_arrival(), late), stops=(a_stop("FREEZE", 8, 18, pid=200),), snapshots=looks)
    assert once.judge(life) == []


def test_a_process_frozen_between_its_last_look_and_its_setting_out_may_arrive_late(tmp_path: Path) -> None:
    stop = a_stop("FREEZE", 8, 18, pid=200, wall_ms=1)  # the instant of the first of the two claims
    assert judged(tmp_path, an_arrival(), an_arrival(2, sender=200), stops=(stop,)) == []


def test_a_process_that_sets_out_after_its_thaw_has_no_excuse(tmp_path: Path) -> None:
    stop = a_stop("FREEZE", 8, 18, pid=200)
    assert any(
        "arrived again" in fault for fault in judged(tmp_path, an_arrival(), an_arrival(2, sender=200), stops=(stop,))
    )


def test_an_attempt_that_the_ledger_does_not_know_is_named(tmp_path: Path) -> None:
    ledger = with_changes(tmp_path / "l.db")
    life = a_life(ledger, arrivals=(an_arrival(answer="", delivered=False), an_arrival(2)))
    assert any("was cleared to be sent 1 times" in fault for fault in once.judge(life))


def test_an_arrival_without_a_row_is_named(tmp_path: Path) -> None:
    life = a_life(with_changes(tmp_path / "l.db", "DELETE FROM outbox"))
    assert any("no outbox row carries it" in fault for fault in once.judge(life))
