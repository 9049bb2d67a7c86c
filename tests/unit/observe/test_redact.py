"""No secret leaves the process in words."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pixivflow.config.mask import MASK, Secret
from pixivflow.observe.redact import Redactor

PLANTED = "Planted-s3cret_0123"


def test_a_secret_that_is_known_disappears_wherever_it_stands() -> None:
    redactor = Redactor([PLANTED, "ab/cd ef?g", "abc"])
    redactor.learn("learnt-later", " ", "")
    assert redactor.text(f"x{PLANTED}y learnt-later ab/cd ef?g ab%2Fcd%20ef%3Fg") == f"x{MASK}y {MASK} {MASK} {MASK}"
    assert redactor.text("abcde") == "abcde"


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
