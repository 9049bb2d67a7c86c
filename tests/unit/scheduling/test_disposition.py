"""How a trigger is answered: one table for status, body and log event."""

import pytest

from actors.ports import Admitted, Refused
from pixivflow.scheduling.disposition import ANSWERS, Disposition, dispose

TAKEN = Admitted("p", "lane", 1, 1_000)


def test_every_disposition_has_an_answer() -> None:
    assert set(ANSWERS) == set(Disposition)


def test_the_table_says_what_a_clock_reads() -> None:
    assert {each.value: (row.http_status, row.word, row.note, row.event) for each, row in ANSWERS.items()} == {
        "accepted": (202, "accepted", "queued", "schedule.trigger_accepted"),
        "already_running": (202, "running", "already_running", "schedule.trigger_already_running"),
        "already_completed": (200, "completed", "already_completed", "schedule.trigger_already_completed"),
        "rejected": (503, "rejected", "rejected", "schedule.trigger_rejected"),
        "stopping": (503, "rejected", "stopping", "schedule.trigger_rejected"),
        "too_early": (425, "error", None, "schedule.trigger_rejected"),
        "too_late": (410, "error", None, "schedule.trigger_rejected"),
        "bad_request": (400, "error", None, "schedule.trigger_rejected"),
        "not_found": (404, "error", None, "schedule.trigger_not_found"),
        "unauthorized": (401, "error", None, "schedule.trigger_unauthorized"),
        "disabled": (503, "error", None, "schedule.trigger_unauthorized"),
        "error": (500, "error", None, "schedule.trigger_error"),
    }


def test_whoever_may_ask_again_is_told_when() -> None:
    assert ANSWERS[Disposition.STOPPING].retry_after_s == 5
    assert ANSWERS[Disposition.REJECTED].retry_after_s == 60


@pytest.mark.parametrize(
    ("admission", "is_over", "is_leased", "expected"),
    [
        pytest.param(TAKEN, False, False, ("accepted", None), id="taken, and waiting"),
        pytest.param(TAKEN, False, True, ("accepted", None), id="taken, and begun"),
        pytest.param(TAKEN, True, False, ("accepted", None), id="taken, and done before it was said"),
        pytest.param(Refused("scheduler_busy"), False, True, ("already_running", "scheduler_busy"), id="it runs"),
        pytest.param(Refused("scheduler_busy"), False, False, ("rejected", "scheduler_busy"), id="another slot runs"),
        pytest.param(Refused("queue_full"), False, False, ("rejected", "queue_full"), id="no place to wait"),
        pytest.param(Refused("already_completed"), True, False, ("already_completed", None), id="it ended meanwhile"),
        pytest.param(
            Refused("already_completed"), False, False, ("rejected", "already_completed"), id="nobody says so any more"
        ),
    ],
)
def test_a_slot_that_is_written_down_is_answered_by_what_is_true(
    admission: Admitted | Refused, is_over: bool, is_leased: bool, expected: tuple[str, str | None]
) -> None:
    assert dispose(admission, is_over=is_over, is_leased=is_leased) == expected
