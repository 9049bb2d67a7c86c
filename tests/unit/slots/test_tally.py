"""What one turn went through, counted: always kept, always short enough, and read again by who needs the cause."""

import json

import pytest

from pixivflow.ids import WorkId
from pixivflow.slots.model import Cell, ReasonCode
from pixivflow.slots.ports import Choice, Skip, SkipCode
from pixivflow.slots.rollup import roll_up
from pixivflow.slots.tally import Tally, outages_in
from pixivflow.slots.texts import REPORT_MAX
from tests.fixtures.slots import a_cell


def a_skip(code: str = "duplicate", work: int = 1, reason: str = "downloaded before") -> Skip:
    return Skip(code=SkipCode(code), work_id=WorkId(str(work)), reason=reason)


def test_every_skip_is_counted_and_the_last_ones_are_named() -> None:
    tally = Tally(stage=1)
    tally.chosen(Choice(bound=10, read=40, skips=tuple(a_skip(work=each) for each in range(1, 31))))
    tally.attempted = 2
    tally.skips += [a_skip("deleted", 98, "answered 404"), a_skip("unavailable", 99, "reset")]
    told = json.loads(tally.report())
    assert {key: value for key, value in told.items() if key != "skipped"} == {
        "stage": 1,
        "bound": 10,
        "read": 40,
        "attempted": 2,
        "counts": {"duplicate": 30, "deleted": 1, "unavailable": 1},
        "outages": [],
    }
    assert told["skipped"][:2] == [
        {"code": "unavailable", "workId": "99", "reason": "reset"},
        {"code": "deleted", "workId": "98", "reason": "answered 404"},
    ]


@pytest.mark.parametrize("letter", ["x", "画", "\ud83d", '"', "\n"])
def test_a_report_is_never_too_long_to_be_kept_and_never_loses_its_counts(letter: str) -> None:
    tally = Tally(skips=[a_skip("unavailable", each, letter * 5_000) for each in range(1, 200)])
    report = tally.report()
    assert len(report) <= REPORT_MAX
    assert json.loads(report)["counts"] == {"unavailable": 199}
    assert json.loads(report)["skipped"] != []


def test_a_sentence_for_people_tells_what_was_read_tried_and_passed_over() -> None:
    tally = Tally(read=30, attempted=2, skips=[a_skip(), a_skip(), a_skip("filtered", 3)])
    assert tally.sentence() == "filter_exhausted: 30 read, 2 tried, 2 duplicate, 1 filtered"
    assert Tally().sentence() == "no_candidate: 0 read, 0 tried, nothing passed over"


def test_the_last_work_that_may_serve_another_time_is_remembered() -> None:
    first, last = a_skip("unavailable", 1, "first"), a_skip("unavailable", 2, "last")
    assert Tally(skips=[first, last, a_skip()]).retryable == last
    assert Tally(skips=[a_skip()]).retryable is None


@pytest.mark.parametrize(
    ("report", "outages"),
    [
        pytest.param(Tally(outages=["network_outage"]).report(), ("network_outage",), id="our own"),
        pytest.param(None, (), id="none"),
        pytest.param("", (), id="an empty one"),
        pytest.param('{"bound": 5}', (), id="one of another program"),
        pytest.param('{"outages": 5}', (), id="one that means something else"),
        pytest.param("[", (), id="half a one"),
    ],
)
def test_outages_are_read_from_whatever_report_there_is(report: str | None, outages: tuple[str, ...]) -> None:
    assert outages_in(report) == outages


def test_a_cell_that_an_outage_left_behind_ends_with_its_cause_and_not_with_the_words_of_its_error() -> None:
    report = Tally(outages=["pixiv_auth_failure"]).report()
    assert _reason(a_cell(last_error="account default must log in again", candidate_report=report)) == "auth_failed"
    assert _reason(a_cell(last_error="answered HTTP 503")) == "remote_http_error"
    assert _reason(a_cell()) == "internal_error"


def _reason(cell: Cell) -> str | None:
    (change,) = roll_up([cell], (), ReasonCode.INTERNAL_ERROR).changes
    return change.reason
