"""How deep a document is, asked without recursion, so that junk ends in a message and not in a crash."""

import re
from typing import Final

DEPTH: Final = 64
"""Deeper than any configuration, and far from where a recursive walk ends."""

DOTS: Final = 256
"""More dots on one line than a line of ours has. A TOML key of many dots costs its parser the square of them."""

_DOT: Final = re.compile(r""""[^"\n]*"|'[^'\n]*'|[.\n]""")
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\[\]{}]')


def too_deep(document: object) -> bool:
    """Whether something lies more than `DEPTH` levels down."""
    level = [document]
    for _ in range(DEPTH):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def nested_at(text: str) -> int:
    """Where in `text` the first bracket beyond `DEPTH` stands; its end when the brackets do not tell."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEPTH:
            return token.start()
    return len(text)


def dotted_at(text: str) -> int | None:
    """Where in `text` the first line stands that has more than `DOTS` dots outside of quotes; None without one."""
    dots = 0
    for token in _DOT.finditer(text):
        dots = 0 if token[0] == "\n" else dots + (token[0] == ".")
        if dots > DOTS:
            return token.start()
    return None


def where(text: str, position: int) -> str:
    """`line 3 column 5` of a position in `text`."""
    line = text.count("\n", 0, position) + 1
    return f"line {line} column {position - text.rfind(chr(10), 0, position)}"


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
