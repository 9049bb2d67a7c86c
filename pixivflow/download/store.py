"""The moment at which whole pages get their names: all of a work or none, none that another file has.

Blocking: call it in a thread.
"""

import errno
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from pixivflow.download.part import PART
from pixivflow.errors import Cause, StorageFailed, StorageFull, Unavailable

NAMES_TRIED: Final = 999
NO_FOLDER: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EEXIST})
"""The same if it is the base that is no folder; below it, only what belongs there is concerned."""
NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def translated(error: OSError, base: Path) -> Unavailable:
    """What a failed call to the disk means. `base`: the folder of the settings, below which something was to be
    written."""
    is_baseless = error.errno in NO_FOLDER and not base.is_dir()
    where = base if is_baseless else _folder(error, base)
    words = f"{where}: {os.strerror(error.errno) if error.errno else type(error).__name__}"
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return StorageFull(f"storage: {words}")
        case errno.EACCES | errno.EPERM | errno.EROFS | errno.EIO | errno.EMFILE | errno.ENFILE:
            return StorageFailed(f"storage: {words}")
        case errno.ENODEV | errno.ENXIO | errno.ESTALE:  # a disk, or a share, that went away
            return StorageFailed(f"storage: {words}")
        case _ if is_baseless:
            return StorageFailed(f"storage: {words}")
        case _:
            return Unavailable(f"storage: {words}", cause=Cause.STORAGE)


def _folder(error: OSError, base: Path) -> Path:
    """The folder that a person has to look at; names of parts mean nothing to anybody."""
    named = Path(error.filename) if isinstance(error.filename, str | Path) else base
    return named.parent if named.name.startswith(PART) else named


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """A whole part and the name that it is to get. `sha256` in hex."""

    part: Path
    name: str
    sha256: str


def publish(folder: Path, staged: Sequence[Staged]) -> tuple[Path, ...]:
    """Give every part its name, all or none, and make the names durable; their paths, in order.

    A name that another file has gets `_1`, `_2` … before its extension; one that the very same bytes have is used.
    Errors: `OSError`, after which none of the parts has a name.
    """
    given: list[Path] = []
    made: list[Path] = []
    try:
        for each in staged:
            path, is_new = _named(folder, each)
            given.append(path)
            made += [path] if is_new else []
        fsync_folder(folder)
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise
    for each in staged:
        each.part.unlink(missing_ok=True)
    return tuple(given)


def _named(folder: Path, staged: Staged) -> tuple[Path, bool]:
    wished = Path(staged.name)
    for clash in range(NAMES_TRIED + 1):
        path = folder / (f"{wished.stem}_{clash}{wished.suffix}" if clash else staged.name)
        try:
            _link(staged.part, path)
        except FileExistsError:
            if path.is_file() and not path.is_symlink() and sha256_of(path) == staged.sha256:
                return path, False
        else:
            return path, True
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _link(part: Path, path: Path) -> None:
    """A second name for the same bytes; it never replaces a file. Some file systems have one name a file."""
    try:
        os.link(part, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        part.rename(path)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(base: Path, parts: Sequence[str]) -> Path:
    """The folder below `base`, made durable if it is new.

    Errors: `OSError`; `Unavailable` for one that leads out of `base`, by a link that somebody put there.
    """
    folder = base.joinpath(*parts)
    is_new = not folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    if not folder.resolve().is_relative_to(base.resolve()):
        raise Unavailable("storage: a folder of works leads out of its base", cause=Cause.STORAGE)
    for each in (folder, *folder.parents) if is_new else ():
        fsync_folder(each)
        if each == base.parent:
            break
    return folder
