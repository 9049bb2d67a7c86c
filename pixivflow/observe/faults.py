"""What is told about an error: its name, its message, its cause; and where it happened, if nobody expected it."""

import traceback
from typing import Final

from pixivflow.errors import PixivflowError

MANY: Final = 5
"""Of a chain or a group no more than this is told."""

STACK_CHARS: Final = 6_000
"""The longest account of where an error happened."""


def told(error: BaseException, left: int = MANY) -> dict[str, object]:
    """The error as plain values, not yet redacted."""
    plain: dict[str, object] = {"name": type(error).__name__, "message": _message(error)}
    if isinstance(error, BaseExceptionGroup):
        plain["errors"] = [told(each, left - 1) for each in error.exceptions[:MANY]] if left > 1 else []
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and left > 1:
        plain["cause"] = told(cause, left - 1)
    return plain


def is_expected(error: BaseException) -> bool:
    """Whether the program raised it on purpose, so that its message says everything."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_expected, error.exceptions))
    return isinstance(error, PixivflowError)


def stack(error: BaseException) -> str:
    """Where it happened, as Python tells it; of a long story its last lines, since the end says most."""
    lines = "".join(traceback.format_exception(error)).splitlines()
    room = STACK_CHARS
    for start in range(len(lines) - 1, -1, -1):
        room -= len(lines[start]) + 1
        if room < 0:
            return "\n".join(["…", *lines[start + 1 :]])
    return "\n".join(lines)


def _message(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:
        return "a message that cannot be shown"
