"""What one error means: by its type alone, never by the words or numbers in it."""

import pytest

from pixivflow.errors import (
    AuthNeeded,
    Cause,
    ConfigError,
    Gone,
    Outage,
    Rejected,
    StorageFailed,
    StorageFull,
    Unavailable,
)
from pixivflow.ids import WorkId
from pixivflow.slots.causes import reason_for_failure
from pixivflow.slots.model import ReasonCode
from pixivflow.slots.ports import LedgerBusy, SkipCode, Unfit
from pixivflow.slots.setbacks import OfTheRun, OfTheWork, Passing, Setback, cause_of, pause_ms, setback, told
from tests.fixtures.slots import WORK


@pytest.mark.parametrize(
    ("error", "outage"),
    [
        (StorageFull("full"), "storage_unavailable"),
        (StorageFailed("no right"), "storage_unavailable"),
        (LedgerBusy("busy"), "database_unavailable"),
        (AuthNeeded("default"), "pixiv_auth_failure"),
        (Outage("503"), "network_outage"),
    ],
)
def test_what_is_out_of_order_for_every_work_ends_the_search(error: Exception, outage: str) -> None:
    assert setback(error, WORK) == OfTheRun(outage)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Gone("101", "pixiv", "404"), "deleted"),
        (Rejected("101", "pixiv", "403"), "access_denied"),
        (Unfit(WorkId("101"), SkipCode.UNSUPPORTED_MEDIA, "no"), "unsupported_media"),
        (Unfit(WorkId("101"), SkipCode.INVALID_METADATA, "no"), "invalid_metadata"),
    ],
)
def test_a_fact_about_a_work_passes_it_over_at_once(error: Exception, code: str) -> None:
    assert _skip_code(setback(error, WORK), OfTheWork) == code


@pytest.mark.parametrize(("error", "is_bug"), [(Unavailable("reset"), False), (KeyError("x"), True)])
def test_anything_else_may_pass_and_a_bug_is_told_as_one(error: Exception, is_bug: bool) -> None:
    found = setback(error, WORK)
    assert _skip_code(found, Passing) == "unavailable"
    assert isinstance(found, Passing)
    assert found.is_bug is is_bug


@pytest.mark.parametrize("title", ["429", "404 not found", "database", "login expired", "503"])
def test_the_words_of_an_error_decide_nothing(title: str) -> None:
    assert _skip_code(setback(Unavailable(f"work {title} did not come"), WORK), Passing) == "unavailable"
    assert _skip_code(setback(Gone("101", "pixiv", title), WORK), OfTheWork) == "deleted"


def test_pauses_grow_up_to_four_times_the_first_and_a_wish_of_the_other_side_goes_first() -> None:
    passing, bug = setback(Unavailable("reset"), WORK), setback(KeyError("x"), WORK)
    assert isinstance(passing, Passing)
    assert isinstance(bug, Passing)
    assert [pause_ms(Unavailable("reset"), passing, tries, 2_000) for tries in range(1, 6)] == [
        2_000,
        4_000,
        8_000,
        8_000,
        8_000,
    ]
    assert [pause_ms(KeyError("x"), bug, tries, 2_000) for tries in range(1, 6)] == [2_000, 4_000, 6_000, 8_000, 8_000]
    assert pause_ms(Unavailable("limit", retry_after_s=60), passing, 1, 2_000) == 60_000
    assert pause_ms(Unavailable("limit", retry_after_s=0), passing, 1, 2_000) == 0


def test_every_outage_has_a_reason_that_an_operator_can_act_on() -> None:
    words = {each: reason_for_failure("something", (each,)) for each in OUTAGES}
    assert words == {
        "storage_unavailable": ReasonCode.DOWNLOAD_FAILED,
        "database_unavailable": ReasonCode.NETWORK_ERROR,
        "pixiv_auth_failure": ReasonCode.AUTH_FAILED,
        "network_outage": ReasonCode.NETWORK_ERROR,
    }


OUTAGES = ("storage_unavailable", "database_unavailable", "pixiv_auth_failure", "network_outage")


def test_a_bug_is_named_by_its_type_and_an_error_of_ours_by_its_words() -> None:
    assert told(KeyError("x")) == "KeyError: 'x'"
    assert told(Unavailable("connection reset")) == "connection reset"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (Unavailable("HTTP 429", cause=Cause.UNREACHABLE), Cause.UNREACHABLE),
        (Unavailable("HTTP 429"), Cause.DEFECT),
        (StorageFull("full"), Cause.STORAGE),
        (LedgerBusy("busy"), Cause.LEDGER),
        (Outage("503"), Cause.DOWN),
        (Outage("503", cause=Cause.LIMITED), Cause.LIMITED),
        (AuthNeeded("default"), Cause.LOGIN),
        (ConfigError("targets", 1, "no"), Cause.SETTINGS),
        (Rejected("101", "pixiv", "403"), Cause.REFUSED),
        (KeyError("429"), Cause.DEFECT),
    ],
)
def test_what_the_matter_is_was_said_by_whoever_raised_the_error(error: Exception, cause: Cause) -> None:
    assert cause_of(error) is cause


@pytest.mark.parametrize(
    ("error", "cause"), [(Unavailable("x", cause=Cause.LIMITED), Cause.LIMITED), (KeyError("x"), Cause.DEFECT)]
)
def test_a_work_that_did_not_come_keeps_why(error: Exception, cause: Cause) -> None:
    found = setback(error, WORK)
    assert isinstance(found, Passing)
    assert found.skip.cause is cause


def _skip_code(found: Setback, kind: type[Passing] | type[OfTheWork]) -> str:
    assert isinstance(found, kind)
    assert isinstance(found, Passing | OfTheWork)
    assert found.skip.work_id == WORK.work_id
    return found.skip.code.value
