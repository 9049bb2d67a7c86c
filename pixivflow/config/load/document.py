"""From a file to a plain document: objects, lists, texts, numbers, true and false.

JSON, or TOML where the file's name ends in `.toml`. A document that comes out of here is no deeper than `DEPTH`, and
every text of it can be written down, so that whoever walks over it needs no care of its own.
"""

import json
import math
from datetime import date, time
from pathlib import Path
from typing import Final

from pixivflow.config.load.depth import dotted_at, nested_at, too_deep, where
from pixivflow.config.load.unreadable import ConfigUnreadable

BYTES: Final = 4 * 1024 * 1024
"""A larger file is not one of ours."""

_DEEP: Final = "the text is nested too deeply"

Document = dict[str, object]


class Doubled(dict[str, object]):
    """An object in which some keys stood more than once; the last of each counts here."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.doubled = tuple(key for key in self if keys.count(key) > 1)


def read_document(path: Path) -> Document:
    """The document in the file at `path`, as it is written there.

    Errors: `ConfigUnreadable` naming the file, and the position where the text tells one.
    """
    return parse(path, _text(path))


def parse(path: Path, text: str) -> Document:
    """The document in `text`; the name of `path` says how it is written.

    Errors: as `read_document`.
    """
    is_toml = path.suffix == ".toml"
    if is_toml and (dotted := dotted_at(text)) is not None:
        raise ConfigUnreadable(path, _DEEP, where(text, dotted))
    try:
        parsed = _toml(text) if is_toml else _json(text)
    except json.JSONDecodeError as error:
        raise ConfigUnreadable(path, error.msg, f"line {error.lineno} column {error.colno}") from error
    except RecursionError:
        raise ConfigUnreadable(path, _DEEP, where(text, nested_at(text))) from None
    except ValueError as error:
        raise ConfigUnreadable(path, str(error)) from error
    if too_deep(parsed):
        raise ConfigUnreadable(path, _DEEP, where(text, nested_at(text)))
    if not isinstance(parsed, dict):
        raise ConfigUnreadable(path, "the whole file must be one object", "line 1 column 1")
    return parsed


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(BYTES + 1)
    except OSError as error:
        raise ConfigUnreadable(path, error.strerror or "it cannot be read") from error
    if len(raw) > BYTES:
        raise ConfigUnreadable(path, f"more than {BYTES} bytes are no configuration")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigUnreadable(path, "it is not UTF-8", f"byte {error.start}") from error


def _json(text: str) -> object:
    return json.loads(text, object_pairs_hook=_object, parse_int=_whole)


def _object(pairs: list[tuple[str, object]]) -> Document:
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else Doubled(pairs)


def _whole(digits: str) -> float:
    """The number; one that no field can hold is infinite, so that the field is named and not just the file."""
    return int(digits) if len(digits) < 100 else math.inf


def _toml(text: str) -> object:
    import tomllib  # most files are JSON

    return _without_dates(tomllib.loads(text))


def _without_dates(value: object) -> object:
    """TOML knows days of its own; here they are the texts that JSON would hold."""
    if isinstance(value, dict):
        return {key: _without_dates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_dates(item) for item in value]
    return value.isoformat() if isinstance(value, date | time) else value
