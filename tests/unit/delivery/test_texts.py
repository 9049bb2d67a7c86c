"""Words of the outside, made fit for a row."""

import pytest

from pixivflow.delivery.texts import stored_text, well_formed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\x00b\x1b[31mc\r\nd\x85e\u2028f", "a b [31mc  d e f", id="no control character is kept"),
        pytest.param("half \ud83d a pair", "half ? a pair", id="half a surrogate pair becomes a mark"),
        pytest.param("  x  ", "x", id="no space around"),
        pytest.param("作品 «ё» 🎨", "作品 «ё» 🎨", id="every script stays"),
        pytest.param("", "", id="nothing stays nothing"),
    ],
)
def test_a_text_is_one_clean_line(text: str, expected: str) -> None:
    assert stored_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GET https://u:p@host:8443/a?t=1#f failed", "GET https://redacted@host:8443/a?… failed"),
        ("https://host/a", "https://host/a"),
        ("see http://host?secret=1, then", "see http://host?… then"),
        ("<a href='https://u:p@h/x?y'>", "<a href='https://redacted@h/x?…'>"),
        ("HTTPS://U:P@HOST/", "HTTPS://redacted@HOST/"),
        ("socks5://me:pw@[::1]:1080", "socks5://redacted@[::1]:1080"),
        ("https://a@b:c@host/", "https://redacted@host/"),
        ("https://api.telegram.org/bot12345:AAE-x_y/sendPhoto", "https://api.telegram.org/bot***/sendPhoto"),
        ("sent Authorization: Bearer abc.def-ghi", "sent Authorization: Bearer ***"),
    ],
)
def test_an_address_loses_its_user_and_query_before_it_is_kept(text: str, expected: str) -> None:
    assert stored_text(text) == expected


def test_a_text_of_megabytes_is_cut() -> None:
    assert stored_text("x" * 5_000_000) == "x" * 1_000
    assert stored_text("x" * 5_000_000, 200) == "x" * 200


def test_an_address_that_is_cut_in_the_middle_shows_no_password() -> None:
    first = "https://host/?" + "q" * 3_966
    text = f"{first} https://user:secret@host/"

    assert text[:4_000].endswith("user:secret")
    assert stored_text(text) == "https://host/?…"


@pytest.mark.parametrize("piece", ["https://", "a+.", "@", "bearer ", "/bot1", "https://a@b?", "\ud800\x00"])
def test_reading_a_text_made_to_be_slow_comes_to_an_end(piece: str) -> None:
    assert len(stored_text(piece * 1_000_000)) <= 1_000


def test_well_formed_text_can_be_encoded() -> None:
    assert well_formed("\udc80x\ud800").encode() == b"?x?"
