"""Whether what follows belongs to the bytes that are here already. Pure."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

STRONG: Final = re.compile(r'"[\x21\x23-\x7e]*"')
PLAIN: Final = re.compile(r"[\x20-\x7e]+")
NUMBER: Final = re.compile(r"[0-9]{1,18}")
RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """Which file it is, at one address. `validator`: its strong ETag; without one the date of its last change, which
    counts only together with `length`; empty where nothing says so. `length` in bytes, None where it is not known."""

    validator: str = ""
    length: int | None = None


UNKNOWN: Final = Version()


def version_of(headers: Mapping[str, str]) -> Version:
    """What a whole answer can be known by again."""
    length = _number(headers.get("content-length", ""))
    if STRONG.fullmatch(etag := headers.get("etag", "")):
        return Version(validator=etag, length=length)
    date = headers.get("last-modified", "")
    is_telling = length is not None and not date.startswith('"') and PLAIN.fullmatch(date)
    return Version(validator=date if is_telling else "", length=length)


def length_with(headers: Mapping[str, str], at: int, version: Version) -> int | None:
    """How long the file is once the body of this partial answer follows its first `at` bytes.

    None: these are not the bytes that follow, or they are another file's.
    """
    found = RANGE.fullmatch(headers.get("content-range", ""))
    if found is None or int(found[1]) != at:
        return None
    length = int(found[2]) + 1
    name = "etag" if version.validator.startswith('"') else "last-modified"
    is_same = headers.get(name, version.validator) == version.validator and version.length in (None, length)
    return length if is_same and found[3] in ("*", f"{length}") else None


def _number(text: str) -> int | None:
    return int(text) if NUMBER.fullmatch(text) else None
