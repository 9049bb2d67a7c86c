"""Where relative paths of the file lead, and what is done with those that lead nowhere.

They start from the folder of the file, or from the one above where that folder is called `config`; never from the
folder that somebody happens to stand in. An absolute path is never replaced: a ledger on a volume that is not there
today would become an empty one elsewhere, and all that it remembers would be published again.
"""

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeGuard

from pixivflow.config.load.document import Document
from pixivflow.config.load.overrides import with_value
from pixivflow.config.model import Storage
from pixivflow.config.validate.findings import Finding, Level
from pixivflow.config.validate.shape import finding

_DEFAULTS: Final = Storage()
_DOUBLED: Final = frozenset({"downloads", "data", "illustrations", "novels"})


def base_of(path: Path) -> Path:
    """The folder that relative paths of the file at `path` start from."""
    folder = path.parent
    return folder.parent if folder.name == "config" else folder


def with_paths(document: Document, base: Path) -> tuple[Document, list[Finding]]:
    """The document with all four storage paths, each of them absolute.

    Besides a warning for each that was mended, and a fault for each that leads nowhere.
    """
    storage = document.get("storage")
    if not isinstance(storage, dict | None):
        return document, []
    given: Mapping[str, object] = storage or {}
    findings: list[Finding] = []
    database = _placed(given, "databasePath", base, _DEFAULTS.database_path, findings)
    downloads = _placed(given, "downloadDirectory", base, _DEFAULTS.download_directory, findings)
    placed = {"databasePath": database, "downloadDirectory": downloads}
    for key, name in (("illustrationDirectory", "illustrations"), ("novelDirectory", "novels")):
        placed[key] = _below(given, key, downloads, name, findings)
    for key, place in placed.items():
        if place is not None:
            document = with_value(document, ("storage", key), str(place))
    return document, findings


def is_usable(path: Path) -> bool:
    """Whether `path` is there, or can be made where it is not."""
    try:
        if path.exists():
            return True
        above = next(each for each in path.parents if each.exists())
    except OSError:
        return False
    return above.is_dir() and os.access(above, os.W_OK | os.X_OK)


def _placed(given: Mapping[str, object], key: str, base: Path, default: Path, found: list[Finding]) -> Path | None:
    """The place of one path; None where the file holds no path but something that validation will refuse."""
    text = given.get(key, str(default))
    if not _is_path(text):
        return None
    written = Path(text)
    if not written.is_absolute():
        return _single(base, written, key, found)
    if not is_usable(written):
        found.append(finding(Level.ERROR, "PATH_UNUSABLE", ("storage", key), "is not there and cannot be made"))
    return written


def _below(
    given: Mapping[str, object], key: str, downloads: Path | None, name: str, found: list[Finding]
) -> Path | None:
    """The place of a folder for works, which lies in the download folder."""
    text = given.get(key, name)
    if not _is_path(text) or downloads is None:
        return None
    written = Path(text)
    if not written.is_absolute():
        inside = Path(*written.parts[1:]) if written.parts[:1] == ("downloads",) else written
        return _single(downloads, inside, key, found)
    if written.is_relative_to(downloads):
        return written
    found.append(_mended(key, "lies outside of downloadDirectory", downloads / written.name))
    return downloads / written.name


def _single(base: Path, written: Path, key: str, found: list[Finding]) -> Path:
    """`written` below `base`, with segments that a careless tool doubled said once."""
    parts = written.parts
    once = Path(*[part for before, part in pairwise(("", *parts)) if part != before or part not in _DOUBLED])
    if len(once.parts) != len(parts):
        found.append(_mended(key, "says a folder twice", base / once))
    return base / once


def _mended(key: str, reason: str, instead: Path) -> Finding:
    return finding(Level.WARNING, "PATH_REPAIRED", ("storage", key), f"{reason}; {instead} is used")


def _is_path(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and text.strip() != "" and "\0" not in text
