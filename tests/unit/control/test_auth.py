"""Who is let in."""

import pytest

from pixivflow.config.mask import Secret
from pixivflow.control.auth import Entry, judge, refusal

TOKEN = Secret("s3cret-token")


@pytest.mark.parametrize(
    "header",
    ["Bearer s3cret-token", "bearer s3cret-token", "BEARER   s3cret-token  "],
)
def test_the_token_opens(header: str) -> None:
    assert judge(TOKEN, header) is Entry.OPEN


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "s3cret-token",
        "Bearer",
        "Bearer ",
        "Bearer s3cret-toke",
        "Bearer s3cret-token2",
        "Bearer S3CRET-TOKEN",
        "Basic s3cret-token",
        "Bearer s3cret-token, Bearer other",
        "Bearer s\u00e9cret",
        "Bearer \udcff",
    ],
)
def test_nothing_else_does(header: str | None) -> None:
    assert judge(TOKEN, header) is Entry.UNAUTHORIZED


@pytest.mark.parametrize("token", ["", "   ", "\n"])
@pytest.mark.parametrize("header", [None, "Bearer ", "Bearer    ", "Bearer x"])
def test_a_token_that_nobody_set_opens_nothing(token: str, header: str | None) -> None:
    assert judge(Secret(token), header) is Entry.DISABLED


def test_a_token_is_taken_without_the_blanks_around_it() -> None:
    assert judge(Secret("  s3cret-token\n"), "Bearer s3cret-token") is Entry.OPEN


def test_a_token_may_hold_any_letter() -> None:
    assert judge(Secret("schl\u00fcssel"), "Bearer schl\u00fcssel") is Entry.OPEN


def test_who_is_let_in_is_refused_nothing() -> None:
    assert {each: refusal(each) for each in Entry} == {
        Entry.OPEN: None,
        Entry.DISABLED: "disabled",
        Entry.UNAUTHORIZED: "unauthorized",
    }
