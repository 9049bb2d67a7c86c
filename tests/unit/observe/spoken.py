"""Every event that the program can tell its log, found in its source."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from pixivflow.delivery import audit, deferral
from pixivflow.scheduling.disposition import ANSWERS
from pixivflow.slots.record import OutcomeRecord

ROOT = Path(__file__).resolve().parents[3]
EVENT = re.compile(r"[a-z]+\.[a-z_]+")
NOTES = ("note", "_note")
TELLERS = (*NOTES, "tell")
"""What the calls are called that tell an event. `say` names its level itself, and mailboxes are told messages."""

PASSED_ON = {
    ("actors/kit/context.py", "event"),
    ("pixivflow/control/visit.py", "event"),
    ("pixivflow/ledger/interface.py", "name"),
}
"""Where a name is handed on that was said elsewhere: by a caller, or by a row of the audit."""


def spoken() -> set[str]:
    """Their names."""
    return {*_literals(), *_audited(), *(answer.event for answer in ANSWERS.values())}


def passed_on() -> set[tuple[str, str]]:
    """Where an event is noted by a name that does not stand there: `(file, expression)`."""
    return {(file, ast.unparse(name)) for file, name in _told(NOTES) if not _words(name)}


def _literals() -> Iterator[str]:
    for _, name in _told(TELLERS):
        yield from _words(name)


def _audited() -> Iterator[str]:
    """The audit's rows are told as they are, but the end of an occurrence, which is told as its record."""
    yield str(OutcomeRecord.__struct_defaults__[OutcomeRecord.__struct_fields__.index("event")])
    for room in (audit, deferral):
        named = (value for name, value in vars(room).items() if name.isupper())
        yield from (value for value in named if isinstance(value, str) and EVENT.fullmatch(value))


def _told(calls: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    for path in sorted(each for folder in ("actors", "pixivflow") for each in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and node.args and _called(node.func) in calls:
                yield path.relative_to(ROOT).as_posix(), node.args[0]


def _called(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _words(name: ast.expr) -> list[str]:
    match name:
        case ast.Constant(value=str(word)):
            return [word]
        case ast.IfExp(body=one, orelse=other):
            return [*_words(one), *_words(other)]
        case _:
            return []
