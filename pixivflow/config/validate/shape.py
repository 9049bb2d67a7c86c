"""What a document may look like, as a tree of tables, and the walk over it that finds every fault.

The walk also returns the document as it will be used: without comments, unknown keys and nulls, which count as left
out, with replaced values replaced, and with `WRONG` where something was refused.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, assert_never

import msgspec

from pixivflow.config.mask import shown
from pixivflow.config.validate.findings import PREFIX, Finding, Level
from pixivflow.config.validate.judges import FIELD, Fault, Judge, is_blank
from pixivflow.config.validate.nearest import nearest

UNKNOWN: Final = "UNKNOWN_KEY"
DEPRECATED: Final = "DEPRECATED_KEY"

Place = tuple[str | int, ...]
"""The way to a value: keys and list positions."""
Emit = Callable[[Finding], None]


class Leaf(msgspec.Struct, frozen=True):
    """One value. `note`: what is said about a value that still is taken and no longer does anything.

    `blank_is_absent`: a blank text counts as left out, as forms write it.
    """

    judge: Judge
    note: str = ""
    blank_is_absent: bool = False


class Group(msgspec.Struct, frozen=True):
    """An object with known keys. `required`: key -> the code of its absence. `code`: not an object at all.

    `unless`: whether the object, as it stands, is to be left alone.
    """

    keys: Mapping[str, "Node"]
    required: Mapping[str, str] = {}
    code: str = FIELD
    unless: Callable[[Mapping[str, object]], bool] = lambda found: False


class Listed(msgspec.Struct, frozen=True):
    """A list of things of one shape. `code`: not a list at all."""

    each: "Node"
    code: str = FIELD


class Named(msgspec.Struct, frozen=True):
    """An object whose keys are names of the operator's own. `name`: what is wrong with one of them."""

    each: "Node"
    code: str = FIELD
    name: Judge = lambda name: None


class Variants(msgspec.Struct, frozen=True):
    """An object whose shape one of its keys tells. `code`: that key is not there or says something else."""

    key: str
    shapes: Mapping[str, Group]
    code: str


Node = Leaf | Group | Listed | Named | Variants


def walk(node: Node, value: object, at: Place, emit: Emit) -> object:
    """Find what is wrong with `value` and return it as it will be used."""
    match node:
        case Leaf():
            return _leaf(node, value, at, emit)
        case Group():
            return _group(node, value, at, emit)
        case Listed(each, code):
            if not isinstance(value, list):
                return _refuse(Fault(code=code, hint="must be a list"), value, at, emit)
            return [walk(each, item, (*at, position), emit) for position, item in enumerate(value)]
        case Named():
            return _named(node, value, at, emit)
        case Variants(key, shapes, code):
            return _variants(key, shapes, code, value, at, emit)
        case _:
            assert_never(node)


def finding(level: Level, code: str, at: Place, message: str) -> Finding:
    """One finding; `code` without its prefix."""
    return Finding(level=level, code=PREFIX + code, field=field(at), message=message)


def field(at: Place) -> str:
    """The way to a value as people write it: `targets[0].delivery.target`. Strange keys are quoted."""
    path = ""
    for step in at:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step.isascii() and step.replace("-", "").replace("_", "").isalnum():
            path += f".{step}" if path else step
        else:
            path += f"[{shown((), step)}]"
    return path or "(the whole file)"


def _leaf(node: Leaf, value: object, at: Place, emit: Emit) -> object:
    if node.note:
        emit(finding(Level.WARNING, DEPRECATED, at, node.note))
    fault = node.judge(value)
    return value if fault is None else _refuse(fault, value, at, emit)


def _refuse(fault: Fault, value: object, at: Place, emit: Emit) -> object:
    emit(finding(fault.level, fault.code, at, f"{fault.hint}, not {shown(at, value)}"))
    return fault.instead


def _named(node: Named, value: object, at: Place, emit: Emit) -> object:
    if not isinstance(value, dict):
        return _refuse(Fault(code=node.code, hint="must be an object"), value, at, emit)
    for name, _ in _spoken(value):
        if (fault := node.name(name)) is not None:
            emit(finding(fault.level, fault.code, (*at, name), f"this key {fault.hint}"))
    return {name: walk(node.each, item, (*at, name), emit) for name, item in _spoken(value)}


def _group(node: Group, value: object, at: Place, emit: Emit) -> object:
    if not isinstance(value, dict):
        return _refuse(Fault(code=node.code, hint="must be an object"), value, at, emit)
    if node.unless(value):
        return {}
    used = {}
    for key, item in _spoken(value):
        known = node.keys.get(key)
        if known is None:
            emit(finding(Level.WARNING, UNKNOWN, (*at, key), "this key means nothing here" + nearest(key, node.keys)))
        elif not (isinstance(known, Leaf) and known.blank_is_absent and is_blank(item)):
            used[key] = walk(known, item, (*at, key), emit)
    for key, code in node.required.items():
        if key not in used:
            emit(finding(Level.ERROR, code, (*at, key), "is required"))
    return used


def _variants(key: str, shapes: Mapping[str, Group], code: str, value: object, at: Place, emit: Emit) -> object:
    if not isinstance(value, dict):
        return _refuse(Fault(code=code, hint="must be an object"), value, at, emit)
    word = value.get(key)
    shape = shapes.get(word) if isinstance(word, str) else None
    if shape is None:
        return _refuse(Fault(code=code, hint="must be one of " + ", ".join(shapes)), word, (*at, key), emit)
    used = walk(shape, {name: item for name, item in value.items() if name != key}, at, emit)
    return {key: word, **used} if isinstance(used, dict) else used


def _spoken(value: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The entries of an object that say something: neither comments nor null."""
    return ((key, item) for key, item in value.items() if not key.startswith("_") and item is not None)
