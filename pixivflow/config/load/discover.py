"""Which file is the configuration."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pixivflow.config.load.unreadable import ConfigUnreadable

VARIABLE: Final = "PIXIV_DOWNLOADER_CONFIG"

NAME: Final = "standalone.config.json"

MARKER: Final = ".current-config"
"""In a config folder: names the file there that counts."""


def discover(explicit: str | None, environ: Mapping[str, str], cwd: Path, home: Path) -> Path:
    """The file to read, absolute: the one that is asked for, else the first that is found.

    Errors: `ConfigUnreadable` naming what was asked for and is not there, or where a file was looked for.
    """
    asked = environ.get(VARIABLE, "").strip() if explicit is None else explicit
    if asked or explicit is not None:
        return _file(cwd / asked, asked)
    try:
        folders = list(_folders(cwd, home))
        chosen = next((path for path in map(_chosen, folders) if path is not None), None)
    except OSError as error:
        raise ConfigUnreadable(Path(error.filename or cwd), f"cannot be looked into: {error.strerror}") from error
    if chosen is not None:
        return chosen
    looked = ", ".join(map(str, folders))
    raise ConfigUnreadable(folders[-1] / NAME, f"no configuration was found; looked into {looked}")


def _file(path: Path, asked: str) -> Path:
    try:
        if asked.strip() and path.is_file():
            return path
        reason = "this is a folder" if asked.strip() and path.is_dir() else "there is no such file"
    except OSError as error:
        raise ConfigUnreadable(path, f"cannot be looked at: {error.strerror}") from error
    raise ConfigUnreadable(path, reason if asked.strip() else "the name of the file is empty")


def _folders(cwd: Path, home: Path) -> Iterator[Path]:
    """Config folders from the nearest to the one at home."""
    for folder in (cwd, *cwd.parents):
        if (folder / "config").is_dir():
            yield folder / "config"
    yield (home / "pixivflow" if (home / "pixivflow").is_dir() else home / ".pixivflow") / "config"


def _chosen(folder: Path) -> Path | None:
    """The file of a config folder: the marked one, else the standard one, else the first that looks like one."""
    try:
        marked = folder / (folder / MARKER).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        marked = folder / NAME
    others = sorted([*folder.glob("*.json"), *folder.glob("*.toml")])
    return next((path for path in (marked, folder / NAME, *others) if path.is_file()), None)
