"""What a cell keeps of its search."""

from pixivflow.slots.texts import REPORT_MAX, kept_report


def test_a_report_is_kept_whole_or_not_at_all() -> None:
    assert kept_report("x" * REPORT_MAX) == "x" * REPORT_MAX
    assert kept_report("x" * (REPORT_MAX + 1)) is None
    assert kept_report(None) is None
