"""What one turn went through, counted: always kept, always short enough, and read again by who needs the cause."""

import json

import pytest
from hypothesis import given
from hypothesis.strategies import one_of, sampled_from, text

from pixivflow.errors import Cause
from pixivflow.ids import WorkId
from pixivflow.slots.causes import reason_of
from pixivflow.slots.model import Cell, ReasonCode
from pixivflow.slots.ports import Choice, Skip, SkipCode
from pixivflow.slots.rollup import roll_up
from pixivflow.slots.tally import Tally, Told, told_in
from pixivflow.slots.texts import REPORT_MAX
from tests.fixtures.slots import a_cell

UNFINISHED = ReasonCode.EXECUTION_TIMEOUT
OUTAGES = ["pixiv_auth_failure", "network_outage", "delivery_unavailable"]
MISLEADING = ["search postcard: connection reset", "work 500: no answer", "HTTP 429", "登录", "missing config"]


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
        "cause": None,
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
    assert tally.sentence() == (
        "nothing new: of 30 works read 2 were known, 1 was filtered out (downloaded before), 27 were not tried"
    )
    assert Tally().sentence() == "nothing new: no work was found"


def test_the_last_work_that_may_serve_another_time_is_remembered() -> None:
    first, last = a_skip("unavailable", 1, "first"), a_skip("unavailable", 2, "last")
    assert Tally(skips=[first, last, a_skip()]).retryable == last
    assert Tally(skips=[a_skip()]).retryable is None


@pytest.mark.parametrize(
    ("report", "told"),
    [
        pytest.param(
            Tally(outages=["network_outage"], cause=Cause.DOWN).report(),
            Told(Cause.DOWN, ("network_outage",), is_ours=True),
            id="our own",
        ),
        pytest.param(Tally().report(), Told(is_ours=True), id="our own of a turn that did not fail"),
        pytest.param('{"cause": "moonlight"}', Told(is_ours=True), id="a newer one of ours"),
        pytest.param('{"outages": ["network_outage"]}', Told(None, ("network_outage",)), id="one without a cause"),
        pytest.param(None, Told(), id="none"),
        pytest.param("", Told(), id="an empty one"),
        pytest.param('{"bound": 5}', Told(), id="one of another program"),
        pytest.param('{"outages": 5}', Told(), id="one that means something else"),
        pytest.param("[", Told(), id="half a one"),
    ],
)
def test_what_failed_is_read_from_whatever_report_there_is(report: str | None, told: Told) -> None:
    assert told_in(report) == told


@given(cause=sampled_from(Cause), text=one_of(sampled_from(MISLEADING), text()), outage=sampled_from(["", *OUTAGES]))
def test_a_cell_that_a_turn_left_behind_ends_with_its_cause_whatever_its_error_says(
    cause: Cause, text: str, outage: str
) -> None:
    report = Tally(cause=cause, outages=[outage], skips=[a_skip("unavailable", reason=text)]).report()
    assert _reason(a_cell(last_error=text, candidate_report=report)) == (reason_of(cause) if text else UNFINISHED)


def test_words_are_read_only_in_rows_that_came_from_elsewhere() -> None:
    assert _reason(a_cell(last_error="answered HTTP 503")) == "remote_http_error"
    foreign = '{"outages": ["pixiv_auth_failure"]}'
    assert _reason(a_cell(last_error="answered HTTP 503", candidate_report=foreign)) == "auth_failed"


def test_what_an_empty_stage_left_behind_is_no_failure_that_could_be_the_reason_of_the_end() -> None:
    assert _reason(a_cell(last_error="HTTP 429", candidate_report=Tally().report())) == UNFINISHED
    assert _reason(a_cell()) == UNFINISHED


def _reason(cell: Cell) -> str | None:
    (change,) = roll_up([cell], (), UNFINISHED).changes
    return change.reason
