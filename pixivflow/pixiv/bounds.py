"""How far the numbers that Pixiv names are believed. Pure.

Somebody counts up to them, keeps them in a row or puts them into a name: none may be as large as the answer likes.
"""

from typing import Final

from pixivflow.pixiv.wire import Id

PAGES_MOST: Final = 1_000
"""More pages than any work has; Pixiv itself takes 200."""
COUNT_MOST: Final = 2**53 - 1
"""The largest count that every reader of JSON and every row holds exactly."""
ID_DIGITS: Final = 18
"""The longest id that a row keeps as a number."""


def id_text(told: Id) -> str:
    """The id in digits; empty for what is none."""
    if isinstance(told, int):
        return str(told) if 0 < told < 10**ID_DIGITS else ""
    told = told or ""
    return told if told.isascii() and told.isdecimal() and len(told) <= ID_DIGITS else ""


def count(*told: int | None) -> int:
    """The first count that is told, 0 where none is, and never below 0 or above what a row holds."""
    return max(0, min(next((each for each in told if each is not None), 0), COUNT_MOST))


def page_count(told: int | None) -> int:
    """How many pages a work says it has, from 1; one more than the most for every larger number."""
    return max(1, min(told or 1, PAGES_MOST + 1))


def digits(text: str, otherwise: int = 0) -> int:
    """A number that is written down in ASCII digits; `otherwise` for anything else, and for a longer one than an id."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= ID_DIGITS else otherwise
