"""Which settings the program reads, found in its source: every field of the snapshot by its place, and who reads it.

A field counts as read where its name is taken from something (`download.concurrency`) in a file that knows its struct:
by its name, or by a field that holds one. Names alone would not do, since `enabled` and `text` are everywhere.
"""

import ast
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_args

import msgspec

from pixivflow.config.model import Settings

ROOT = Path(__file__).resolve().parents[2]
READERS = ("actors", "pixivflow")
DOCUMENTS = ("config/load/paths.py", "config/migrate.py")
"""Who reads keys of the document, before there are settings."""

NO_READERS = (
    "pixivflow/config/load",
    "pixivflow/config/validate",
    "pixivflow/config/watch/decide.py",
    "pixivflow/daemon/gaps.py",
    "pixivflow/sandbox",
)
"""Who judges, writes or compares settings, and acts on none; and the sandbox, which has none."""

Struct = type[msgspec.Struct]


def structs_of(annotation: object) -> Iterator[Struct]:
    """The structs that a field's type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
    for part in get_args(annotation):
        yield from structs_of(part)


Step = tuple[Struct, str]
"""A struct, and the name of one of its fields."""


def places(
    struct: Struct = Settings, at: str = "", way: tuple[Step, ...] = ()
) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """Every field that holds no struct, with the way to it.

    Shape: `targets[].tag` or `delivery.targets{webhook}.url`.
    """
    for field in msgspec.structs.fields(struct):
        place = f"{at}.{field.encode_name}" if at else field.encode_name
        inner, steps = list(structs_of(field.type)), (*way, (struct, field.name))
        if not inner:
            yield place, steps
        for each in inner:
            kind = f"{{{each.__struct_config__.tag}}}" if len(inner) > 1 else "[]" * _is_list(field.type)
            yield from places(each, place + kind, steps)


def is_read(way: tuple[Step, ...]) -> bool:
    """Whether each step of the way is taken in a file that knows its struct."""
    return all(any(name in taken and struct.__name__ in known for known, taken in _files()) for struct, name in way)


def is_read_as_written(key: str) -> bool:
    """Whether the key is looked up in the document itself."""
    return any(f'"{key}"' in (ROOT / "pixivflow" / each).read_text() for each in DOCUMENTS)


@cache
def _files() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Of each file: the structs that it knows, and the attributes that it takes."""
    holders: dict[str, set[str]] = {}
    for _, way in places():
        for (_, name), (inner, _) in pairwise(way):
            holders.setdefault(name, set()).add(inner.__name__)
    return tuple(_look(path, holders) for folder in READERS for path in _sources(folder))


def _sources(folder: str) -> Iterator[Path]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        if not path.relative_to(ROOT).as_posix().startswith(NO_READERS):
            yield path


def _look(path: Path, holders: dict[str, set[str]]) -> tuple[frozenset[str], frozenset[str]]:
    known: set[str] = set()
    taken: set[str] = set()
    nodes = list(ast.walk(ast.parse(path.read_text())))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.ClassDef(name=name):
                known.add(name)
            case ast.Attribute(attr=name, ctx=ast.Load()) if id(node) not in called:
                taken.add(name)
                known |= holders.get(name, set())
    return frozenset(known), frozenset(taken)


def _is_list(annotation: object) -> bool:
    return "tuple" in str(annotation)
