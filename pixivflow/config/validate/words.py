"""Judges of texts that have a grammar: identifiers, days, paths, zones, templates."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from pixivflow.config.references import REFERENCE
from pixivflow.config.validate.judges import FIELD, Judge, is_text, judge

DAY_WORDS: Final = ("YESTERDAY", "TODAY")
"""The days that are resolved when a run starts, the earlier one first."""

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_BOT_TOKEN: Final = re.compile(r"[0-9]+:[A-Za-z0-9_-]{20,}")


def identifier(code: str) -> Judge:
    """What may name a target or a plan."""
    return judge(
        lambda value: isinstance(value, str) and _ID.fullmatch(value) is not None,
        "letters, digits, _ and -, at most 64 of them, the first a letter or digit",
        code,
    )


def pixiv_id(code: str = FIELD) -> Judge:
    """A number of Pixiv's as text."""
    return judge(
        lambda value: isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 20,
        'a number of Pixiv\'s in quotes, as "12345"',
        code,
    )


def day(code: str) -> Judge:
    """A day as `YYYY-MM-DD`, or one of the words."""
    return judge(_is_day, "a day as 2025-01-31, TODAY or YESTERDAY", code)


def path(code: str = FIELD) -> Judge:
    """A path, relative or not."""
    return judge(lambda value: is_text(value) and "\0" not in str(value), "a path that is not blank", code)


def bot_token(code: str) -> Judge:
    """A Telegram bot's token, or a reference to one."""
    return judge(
        lambda value: isinstance(value, str) and bool(_BOT_TOKEN.fullmatch(value) or REFERENCE.search(value)),
        "digits, a colon and at least 20 letters, digits, _ or -, or ${NAME}",
        code,
    )


def zone(code: str) -> Judge:
    """A timezone's IANA name."""
    return judge(is_zone, "the IANA name of a timezone, as Asia/Tokyo", code)


def unknown_names(value: object) -> Iterator[str]:
    """The `{{names}}` of a template, or of a list of them, that nothing will ever fill."""
    from pixivflow.delivery.templates import PLACEHOLDER, VALUES  # the names belong to who fills them

    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str):
            yield from (name for name in PLACEHOLDER.findall(each) if name.strip() not in VALUES)


def is_zone(value: object) -> bool:
    """Whether the zone is known here."""
    from zoneinfo import ZoneInfo  # reads its tables when it is first needed

    try:
        ZoneInfo(value if isinstance(value, str) else "")
    except (KeyError, ValueError, OSError):
        return False
    return True


def _is_day(value: object) -> bool:
    if value in DAY_WORDS:
        return True
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
