"""Texts that are kept are cut, and can always be stored."""

from pixivflow.slots.texts import REPORT_MAX, capped, kept_report


def test_a_text_is_cut_to_its_characters() -> None:
    assert capped("登录失败", 2) == "登录"
    assert capped("short", 100) == "short"
    assert capped(None, 3) is None


def test_half_a_character_does_not_keep_an_error_from_being_stored() -> None:
    assert capped("name \udce9 broken", 100) == "name ? broken"


def test_a_report_is_kept_whole_or_not_at_all() -> None:
    assert kept_report("x" * REPORT_MAX) == "x" * REPORT_MAX
    assert kept_report("x" * (REPORT_MAX + 1)) is None
    assert kept_report(None) is None
