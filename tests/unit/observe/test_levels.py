"""How loud each event is: decided for every one of them, and for nothing else."""

from pixivflow.observe.levels import LEVELS, level_of
from tests.unit.observe.spoken import PASSED_ON, passed_on, spoken


def test_every_event_that_the_program_tells_has_a_level_of_its_own() -> None:
    assert spoken() - set(LEVELS) == set()


def test_no_level_belongs_to_an_event_that_nobody_tells() -> None:
    assert set(LEVELS) - spoken() == set()


def test_no_event_is_told_by_a_name_that_cannot_be_found_in_the_source() -> None:
    assert passed_on() == PASSED_ON


def test_who_reads_warnings_only_hears_of_what_was_lost_or_waits_for_somebody() -> None:
    for event in ("target.crashed", "work.not_recorded", "pixiv.token_not_kept", "pixiv.credential_refused"):
        assert level_of(event) == "error"
    for event in ("config.warning", "config.waits_for_restart", "work.failed", "target.cut_short"):
        assert level_of(event) == "warn"
    for event in ("download.attempt_failed", "download.parts_stay", "pixiv.gate"):
        assert level_of(event) == "warn"
