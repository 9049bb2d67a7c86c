"""Judges of single values. A judge takes any value and says what is wrong with it, if anything is.

Each function here makes a judge; `code` is what a wrong value is reported as. Where the tables say warning, a value out
of range is replaced and only a value of another kind is an error.
"""

import math
from collections.abc import Callable
from typing import Any, Final, get_args

import msgspec

from pixivflow.config.validate.findings import Level

FIELD: Final = "FIELD_INVALID"

RANGE: Final = "FIELD_RANGE"

MOST: Final = 2**53 - 1
"""The largest number that every reader of JSON keeps whole."""

WRONG: Final = object()
"""Stands for a value that was refused, so that nobody reports its absence too."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with one value. `instead`: what is used in its place, where the fault is only a warning."""

    code: str
    hint: str
    level: Level = Level.ERROR
    instead: object = WRONG


Judge = Callable[[object], Fault | None]


def is_whole(value: object) -> bool:
    """Whether `value` is an integer; True and False are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether `value` is a number that can be compared and stored."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def is_text(value: object) -> bool:
    """Whether `value` is text with anything to read in it."""
    return isinstance(value, str) and value.strip() != ""


def is_blank(value: object) -> bool:
    """Whether `value` is text with nothing to read in it."""
    return isinstance(value, str) and not value.strip()


def judge(right: Callable[[Any], bool], expected: str, code: str = FIELD) -> Judge:
    """Refuse whatever is not `right`. `expected` completes "must be ..."."""
    fault = Fault(code=code, hint=f"must be {expected}")
    return lambda value: None if right(value) else fault


def flag(code: str = FIELD) -> Judge:
    """True or false."""
    return judge(lambda value: isinstance(value, bool), "true or false", code)


def text(code: str = FIELD) -> Judge:
    """Text that is not blank."""
    return judge(is_text, "text that is not blank", code)


def any_text(code: str = FIELD) -> Judge:
    """Any text, also an empty one."""
    return judge(lambda value: isinstance(value, str), "text", code)


def texts(code: str = FIELD, *, least: int = 0) -> Judge:
    """A list of texts that are not blank."""
    expected = "a list of texts that are not blank" + (", and not empty" if least else "")
    return judge(lambda value: _is_list(value, is_text) and len(value) >= least, expected, code)


def whole(least: int, most: int = MOST, code: str = FIELD) -> Judge:
    """A whole number of a range."""
    return judge(lambda value: is_whole(value) and least <= value <= most, _range("a whole number", least, most), code)


def number(least: float, most: float = math.inf, code: str = FIELD) -> Judge:
    """A number of a range."""
    return judge(lambda value: is_number(value) and least <= value <= most, _range("a number", least, most), code)


def clamped(least: int, most: int = MOST, code: str = RANGE) -> Judge:
    """A whole number; out of its range the nearest one inside is used, with a warning."""
    right = _range("a whole number", least, most)

    def look(value: object) -> Fault | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return Fault(code=FIELD, hint=f"must be {right}")
        near = min(max(value, least), most)
        if near == value:
            return None
        return Fault(code=code, hint=f"should be {right}; {near} is used", level=Level.WARNING, instead=near)

    return look


def warned_above(most: int, inner: Judge, code: str) -> Judge:
    """What `inner` finds; and a warning, with the value kept, for a number above `most`."""

    def look(value: object) -> Fault | None:
        if (fault := inner(value)) is not None:
            return fault
        if isinstance(value, int) and value > most:
            return Fault(code=code, hint=f"should be at most {most}", level=Level.WARNING, instead=value)
        return None

    return look


def defaulted(least: int, default: int, code: str) -> Judge:
    """A whole number of at least `least`; for anything else `default` is used, with a warning."""
    hint = f"should be {_range('a whole number', least, MOST)}; the default of {default} is used"
    fault = Fault(code=code, hint=hint, level=Level.WARNING, instead=default)
    return lambda value: None if isinstance(value, int) and is_whole(value) and least <= value <= MOST else fault


def choice(values: object, code: str = FIELD) -> Judge:
    """One word of a `Literal`."""
    words = get_args(values)
    return judge(lambda value: isinstance(value, str) and value in words, "one of " + ", ".join(words), code)


def subset(values: object, code: str = FIELD) -> Judge:
    """A list of words of a `Literal`."""
    words = get_args(values)
    right = f"a list of {', '.join(words)}"
    return judge(lambda value: _is_list(value, lambda each: isinstance(each, str) and each in words), right, code)


def _is_list(value: object, right: Callable[[object], bool]) -> bool:
    return isinstance(value, list) and all(map(right, value))


def _range(kind: str, least: float, most: float) -> str:
    if most in (MOST, math.inf):
        return f"{kind} of at least {least}"
    return f"{kind} from {least} to {most}"
