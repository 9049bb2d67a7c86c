"""No secret leaves the process in words."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pytest

from pixivflow.config.mask import MASK, Secret
from pixivflow.observe.redact import TEXT_CHARS, Redactor, redact_text

PLANTED = "Planted-s3cret_0123"


@pytest.mark.parametrize(
    "text",
    [
        f"Bearer {PLANTED}",
        f"bearer  {PLANTED}, and so on",
        f"Basic {PLANTED}",
        f"Authorization: Bearer {PLANTED}",
        f"authorization: {PLANTED}",
        f"X-Auth-Token: {PLANTED}",
        f"token={PLANTED}",
        f"refresh_token={PLANTED}&grant_type=x",
        f"clientSecret = {PLANTED}",
        f"password: {PLANTED}",
        f"api_key={PLANTED}",
        f"Cookie: a=1; PHPSESSID={PLANTED}; b=2",
        f"Set-Cookie: PHPSESSID={PLANTED}",
        f"cookie={PLANTED}",
        f'{{"refresh_token": "{PLANTED}", "x": 1}}',
        f'"{{\\"access_token\\":\\"{PLANTED}\\"}}"',
        f"{{'botToken': '{PLANTED}'}}",
        f'token="{PLANTED} with {PLANTED}"',
        f"https://user:{PLANTED}@host/path",
        f"socks5://{PLANTED}@host",
        f"GET https://host/path?code={PLANTED}&state=1 failed",
        f"pixiv://account/login?code={PLANTED}",
        f"https://api.telegram.org/bot123456:{PLANTED}/sendMessage",
        f"{'long ' * 1590}https://user:{PLANTED}@host{' end' * 500}",
        f"{'x' * (TEXT_CHARS - 15)} a://u:{PLANTED}@h",
        f"{'x' * (TEXT_CHARS - 20)}a://u:{PLANTED}@h",
    ],
)
def test_what_looks_like_a_credential_is_masked(text: str) -> None:
    shown = redact_text(text)
    assert PLANTED not in shown
    assert PLANTED[:8] not in shown


@pytest.mark.parametrize(
    "text",
    [
        "HTTP 503 from https://host/path",
        "slot nightly@2026-01-15T0300 ended",
        "the tokens of this account were refreshed",
        "no work of @someone by mail@example.test",
        "絵 by 作者",
        "",
    ],
)
def test_what_is_no_credential_is_told_as_it_is(text: str) -> None:
    assert redact_text(text) == text


def test_a_masked_text_stays_as_it_is() -> None:
    once = redact_text(f"Authorization: Bearer {PLANTED} at https://a:b@c/?d token={PLANTED}")
    assert redact_text(once) == once


def test_a_long_text_is_told_in_part() -> None:
    assert len(redact_text("word " * 10_000)) <= TEXT_CHARS + 2


def test_a_secret_that_is_known_disappears_wherever_it_stands() -> None:
    redactor = Redactor([PLANTED, "ab/cd ef?g", "short"])
    redactor.learn("learnt-later", " ", "")
    assert redactor.text(f"x{PLANTED}y learnt-later ab/cd ef?g ab%2Fcd%20ef%3Fg") == f"x{MASK}y {MASK} {MASK} {MASK}"
    assert redactor.text("shortly") == "shortly"


def test_of_two_secrets_one_inside_of_the_other_nothing_is_left() -> None:
    assert Redactor(["abcdef", "abcdef-ghijkl"]).text("abcdef-ghijkl") == MASK


class Word(StrEnum):
    SAID = "said"


@dataclass
class Holder:
    token: str = PLANTED


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError(PLANTED)


def test_fields_are_told_as_plain_values_with_secret_names_masked_whole() -> None:
    fields = {
        "refresh_token": PLANTED,
        "clientSecret": [PLANTED, {"a": PLANTED}],
        "password": 12345678,
        "headers": {"Authorization": PLANTED, "X-Auth": PLANTED, "Accept": "x"},
        "has_token": True,
        "token": None,
        "author": "someone",
        "idempotency_key": "k",
        "path": Path("/a/b"),
        "word": Word.SAID,
        "bytes": b"\xff" * 3,
        "set": {1},
        "secret": Secret(PLANTED),
        "hidden": Secret(PLANTED),
        "infinite": float("inf"),
        "object": Holder(),
        "nothing": Unshowable(),
        "url": f"https://h/?a={PLANTED}",
    }
    told = Redactor([PLANTED]).field(fields)
    assert told == {
        "refresh_token": MASK,
        "clientSecret": MASK,
        "password": MASK,
        "headers": {"Authorization": MASK, "X-Auth": MASK, "Accept": "x"},
        "has_token": True,
        "token": None,
        "author": "someone",
        "idempotency_key": "k",
        "path": "/a/b",
        "word": "said",
        "bytes": "3 bytes",
        "set": [1],
        "secret": MASK,
        "hidden": MASK,
        "infinite": "inf",
        "object": f"Holder(token={MASK})",
        "nothing": "a Unshowable that cannot be shown",
        "url": "https://h/?…",
    }


def test_what_lies_very_deep_or_holds_itself_is_not_told() -> None:
    knot: list[object] = []
    knot.append(knot)
    assert "…" in str(Redactor().field(knot, ("knot",)))


def test_an_error_is_told_with_what_caused_it_and_without_secrets() -> None:
    error = ExceptionGroup("two", [ValueError(f"token={PLANTED}"), KeyError(Unshowable())])
    error.__cause__ = OSError(f"https://u:{PLANTED}@h")
    assert Redactor().field(error, ("error",)) == {
        "name": "ExceptionGroup",
        "message": "two (2 sub-exceptions)",
        "errors": [
            {"name": "ValueError", "message": f"token={MASK}"},
            {"name": "KeyError", "message": "a message that cannot be shown"},
        ],
        "cause": {"name": "OSError", "message": "https://redacted@h"},
    }
