"""Words of the outside, made fit to be told and kept."""

import pytest

from pixivflow.config.mask import MASK
from pixivflow.config.texts import (
    TEXT_CHARS,
    redacted,
    shortened,
    spellings_of,
    stored_text,
    well_formed,
    without,
    without_torn,
)

PLANTED = "Planted-s3cret_0123"
LIMIT = 1_000


def in_json(name: str) -> str:
    return f'{{"{name}": "{PLANTED}", "x": 1}}'


CREDENTIALS = [
    f"Bearer {PLANTED}",
    f"bearer  {PLANTED}, and so on",
    f"絵Bearer {PLANTED}",
    f"Basic {PLANTED}",
    f"Authorization: Bearer {PLANTED}",
    f"Authorization: ApiKey {PLANTED}",
    f"authorization: {PLANTED}",
    f"Proxy-Authorization: Basic {PLANTED}",
    f"X-Auth-Token: {PLANTED}",
    f"X-Auth: {PLANTED}",
    f"X-Webhook-Signature: sha256={PLANTED}",
    f"X-Api-Key: {PLANTED}",
    f"apikey={PLANTED}",
    f"token={PLANTED}",
    f"token=<{PLANTED}>",
    f"token=b'{PLANTED}'",
    f"refresh_token={PLANTED}&grant_type=x",
    f"clientSecret = {PLANTED}",
    f"client_secret_value: {PLANTED}",
    f"password: {PLANTED}",
    f"password=a,b;{PLANTED}",
    f"pwd={PLANTED}",
    f"api_key={PLANTED}",
    f"Cookie: a=1; PHPSESSID={PLANTED}; b=2",
    f"Set-Cookie: PHPSESSID={PLANTED}",
    f"cookie={PLANTED}",
    in_json("refresh_token"),
    f'"{{\\"access_token\\":\\"{PLANTED}\\"}}"',
    f'{{"token":"a\\"{PLANTED}"}}',
    f"{{'botToken': '{PLANTED}'}}",
    f"[(b'x-api-token', b'{PLANTED}'), (b'accept', b'*/*')]",
    f'token="{PLANTED} with {PLANTED}"',
    f'token="a quote that nobody closes {PLANTED}',
    f"https://user:{PLANTED}@host/path",
    f"_https://user:{PLANTED}@host/path",
    f"絵https://user:{PLANTED}@host/path",
    f"https:\\/\\/user:{PLANTED}@host\\/path",
    f'https://user:a"{PLANTED}@host/path',
    f"socks5://{PLANTED}@host",
    f"a://u:{PLANTED}@h",
    f"GET https://host/path?code={PLANTED}&state=1 failed",
    f"https://host/path#{PLANTED}",
    f"pixiv://account/login?code={PLANTED}",
    f"KeyError: 'https://me:{PLANTED}@h/x?token={PLANTED}'",
    repr(f"https://host/?x=1\r\nX-Api-Key: {PLANTED}"),
    repr(f"token=x\r\nCookie: a={PLANTED}; b={PLANTED}"),
    repr(f"Authorization: ApiKey x\r\nX-Api-Key: {PLANTED}"),
    f"password=a\\n{PLANTED}",
    f"https://api.telegram.org/bot123456:{PLANTED}/sendMessage",
    f"https://api.telegram.org/bot123456%3A{PLANTED}/sendMessage",
]


@pytest.mark.parametrize("text", CREDENTIALS)
def test_what_looks_like_a_credential_is_neither_told_nor_kept(text: str) -> None:
    for shown in (redacted(text), stored_text(text, LIMIT)):
        assert PLANTED not in shown
        assert PLANTED[:8] not in shown


@pytest.mark.parametrize("text", CREDENTIALS)
def test_what_went_through_once_may_go_through_again(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)
    once = stored_text(f"{text}\r\nHTTP 500", LIMIT)
    assert stored_text(once, LIMIT) == once


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 503 from https://host/path",
        "slot nightly@2026-01-15T0300 ended",
        "the tokens of this account were refreshed",
        "account default must log in again",
        "author: someone",
        "no work of @someone by mail@example.test",
        "絵 by 作者 «ё» 🎨",
        "",
    ],
)
def test_what_is_no_credential_is_told_as_it_is(text: str) -> None:
    assert redacted(text) == stored_text(text, LIMIT) == text


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
        ("https://host/a#part", "https://host/a"),
        ("https://api.telegram.org/bot12345:AAE-x_y/sendPhoto", "https://api.telegram.org/bot***/sendPhoto"),
        ("refused Bearer abc.def-ghi", "refused Bearer ***"),
        ("token=abc&grant_type=x", "token=***&grant_type=x"),
        ('{"token": "abc", "x": 1}', '{"token": ***, "x": 1}'),
    ],
)
def test_what_is_around_a_credential_stays(text: str, expected: str) -> None:
    assert redacted(text) == stored_text(text, LIMIT) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\x00b\x1b[31mc\r\nd\x85e\u2028f", "a b [31mc  d e f", id="no control character is kept"),
        pytest.param("half \ud83d a pair", "half ? a pair", id="half a surrogate pair becomes a mark"),
        pytest.param("  x  ", "x", id="no space around"),
        pytest.param(None, None, id="nothing stays nothing"),
    ],
)
def test_a_kept_text_is_one_clean_line(text: str | None, expected: str | None) -> None:
    assert stored_text(text, LIMIT) == expected


def test_a_text_of_megabytes_is_cut() -> None:
    assert stored_text("x" * 5_000_000, 200) == "x" * 200
    assert len(redacted("word " * 1_000_000)) <= TEXT_CHARS + 2


@pytest.mark.parametrize("before", ["long " * 1_590, "x" * (TEXT_CHARS - 20), "https://host/?" + "q" * 7_960 + " "])
def test_an_address_that_is_cut_in_the_middle_shows_no_password(before: str) -> None:
    text = f"{before}https://user:{PLANTED}@host/{'y' * 500}"
    for shown in (redacted(text), stored_text(text, TEXT_CHARS), shortened(text, len(before) + 16)):
        assert PLANTED[:3] not in shown


@pytest.mark.parametrize(
    "piece",
    ["https://", "a+.", "@", "bearer ", "/bot1", "https://a@b?", "\ud800\x00", "token=", "cookie", 'secret="\\'],
)
def test_reading_a_text_made_to_be_slow_comes_to_an_end(piece: str) -> None:
    assert len(stored_text(piece * 1_000_000, LIMIT)) <= LIMIT
    assert len(redacted(piece * 1_000_000)) <= 2 * TEXT_CHARS


def test_well_formed_text_can_be_encoded() -> None:
    assert well_formed("\udc80x\ud800").encode() == b"?x?"


@pytest.mark.parametrize("shown", ['a/b "c d', "a%2Fb%20%22c%20d", "a%2Fb+%22c+d", 'a/b \\"c d', 'a\\/b \\"c d'])
def test_a_secret_that_is_known_is_found_in_every_spelling(shown: str) -> None:
    assert without(f"x{shown}y", spellings_of(' a/b "c d\n')) == f"x{MASK}y"


def test_a_secret_of_broken_bytes_has_its_spellings_too() -> None:
    assert "half\udc80" in spellings_of("half\udc80")
    assert spellings_of(" \n") == frozenset()


def test_of_two_secrets_one_inside_of_the_other_nothing_is_left() -> None:
    assert without("abcdef-ghijkl", ["abcdef", "abcdef-ghijkl"]) == MASK


def test_what_a_cut_left_of_a_secret_is_hidden_too() -> None:
    known = [PLANTED, "other-word"]
    assert without_torn(f"HTTP 500: {PLANTED[:9]}", known, 4) == f"HTTP 500: {MASK}"
    assert without_torn(f"{PLANTED} and {PLANTED[:3]}", known, 4) == f"{MASK} and {PLANTED[:3]}"
