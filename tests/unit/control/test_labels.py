"""What a caller says about itself."""

import pytest

from pixivflow.control.labels import attempt_id, provider


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ("2026-09-08T10:00_primary.1", "2026-09-08T10:00_primary.1"),
        ("  a b\tc  ", "abc"),
        ("a\r\nschedule.trigger_accepted {}", "aschedule.trigger_accepted"),
        ("x" * 200, "x" * 64),
        ("\u65e5\u672c", None),
        ("   ", None),
        ("", None),
        (None, None),
    ],
)
def test_an_attempt_is_cleaned_and_cut_and_never_made_up(header: str | None, kept: str | None) -> None:
    assert attempt_id(header, None) == kept


def test_the_second_header_is_read_where_the_first_was_not_sent() -> None:
    assert attempt_id(None, "second") == "second"
    assert attempt_id("first", "second") == "first"
    assert attempt_id("!!", "second") is None


@pytest.mark.parametrize(
    ("header", "kept"),
    [("cloudflare", "cloudflare"), ("a:b/c d", "abcd"), ("y" * 50, "y" * 32), ("::", None), (None, None)],
)
def test_a_provider_is_cleaned_and_cut(header: str | None, kept: str | None) -> None:
    assert provider(header) == kept


def test_a_token_in_the_wrong_header_is_nobodys_name() -> None:
    assert attempt_id("Bearer top/secret", None, "top/secret") is None
    assert provider("top/secret", " top/secret ") is None
    assert attempt_id("cut-off-" + "x" * 60 + "secret", None, "xxxsecret") is None
    assert attempt_id("clock-1", None, "") == "clock-1"
    assert attempt_id("clock-1", None, "-") == "clock-1"
