"""Files on the disk: parts that are written in threads, and the moment at which they get their names.

Blocking, but for `Part.drop`: call it in a thread. A thread that was abandoned by its task may still be writing, so a
part is closed by whoever is last to use it: a descriptor that is closed under a write may be another file's by then.
"""

import errno
import hashlib
import io
import os
import secrets
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from pixivflow.errors import PixivflowError, StorageFull, Unavailable

T = TypeVar("T")

PART: Final = ".part-"
NAMES_TRIED: Final = 999
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def translated(error: OSError) -> PixivflowError:
    """What a failed call to the disk means. The path is left out: it is long, and the work is named beside it."""
    words = os.strerror(error.errno) if error.errno else type(error).__name__
    return StorageFull(f"storage: {words}") if error.errno in FULL else Unavailable(f"storage: {words}")


class Part:
    """One page that is being written, `.part-<work>-<page>-<random>`, its hash kept as it grows."""

    def __init__(self, folder: Path, work_id: str, page: int) -> None:
        self.path = folder / f"{PART}{work_id}-{page}-{secrets.token_hex(6)}"
        self._file: io.FileIO | None = None
        self._sha = hashlib.sha256()
        self._use, self._is_dropped = threading.Lock(), False
        self._attempt = self.size = 0

    def begin(self) -> int:
        """Make the file, or go on with it; the number of this attempt. A call that an earlier one left behind in its
        thread is waited for if it has begun, and does nothing if it has not. Errors: `OSError`."""
        with self._use:
            self._attempt += 1
            if self._file is None and not self._is_dropped:
                flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
                self._file = io.FileIO(os.open(self.path, flags, 0o644), "wb")
        self._tidy()
        return self._attempt

    def write(self, attempt: int, pieces: Sequence[bytes]) -> None:
        """Append the pieces. Errors: `OSError`."""
        with self._use:
            for piece in pieces if attempt == self._attempt and not self._is_dropped else ():
                self._append(piece)
        self._tidy()

    def _append(self, piece: bytes) -> None:
        left = memoryview(piece)
        while left:
            left = left[self._opened.write(left) :]
        self._sha.update(piece)
        self.size += len(piece)

    def restart(self) -> None:
        """Back to nothing."""
        with self._use:
            if self._file is not None and not self._is_dropped:
                self._opened.seek(0)
                self._opened.truncate()
                self._sha, self.size = hashlib.sha256(), 0
        self._tidy()

    def finish(self, look: Callable[[Path], T]) -> tuple[T, str]:
        """Everything to the disk; what `look` makes of it, and the hash in hex. Closed then, but still there.

        Errors: those of `look`, after which the part can be restarted; `OSError`.
        """
        with self._use:
            if self._is_dropped:
                raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
            seen = look(self.path)
            os.fsync(self._opened.fileno())
            self._opened.close()
        self._tidy()
        return seen, self._sha.hexdigest()

    def drop(self) -> None:
        """Give the part up, also while an abandoned thread writes to it. Never waits."""
        self._is_dropped = True
        self._tidy()

    def _tidy(self) -> None:
        if self._is_dropped and self._use.acquire(blocking=False):
            try:
                if self._file is not None:
                    self._file.close()
                    self.path.unlink(missing_ok=True)
            finally:
                self._use.release()

    @property
    def _opened(self) -> io.FileIO:
        assert self._file is not None  # noqa: S101 -- for the type checker: `begin` came first
        return self._file


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
        raise Unavailable("storage: a folder of works leads out of its base")
    for each in (folder, *folder.parents) if is_new else ():
        fsync_folder(each)
        if each == base.parent:
            break
    return folder
