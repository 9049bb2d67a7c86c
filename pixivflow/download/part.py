"""A page that is being written, in threads that its task may leave at any moment.

Blocking, but for `Part.drop` and `Part.leave`: call it in a thread. A thread that was abandoned by its task may still
be writing, so a part is closed by whoever is last to use it: a descriptor that is closed under a write may be another
file's by then.

Bytes are only ever appended to a part. What begins afresh gets a file and a name of its own, so that a row never counts
bytes of another attempt.
"""

import errno
import hashlib
import io
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from pixivflow.download.living import claimed, is_alone

T = TypeVar("T")

PART: Final = ".part-"
PIECE_BYTES: Final = 1 << 20


class Part:
    """One page that is being written, `.part-<work>-<page>-<random>`, its hash kept as it grows.

    `begun`: the part of an earlier attempt and how many of its bytes count. It is cut to them and gone on with, unless
    it is gone, shorter, or being written by somebody else. `size`: bytes written; `synced`: on the disk for sure.
    """

    def __init__(self, folder: Path, work_id: str, page: int, begun: tuple[Path, int] | None = None) -> None:
        self._stem, self._begun = folder / f"{PART}{work_id}-{page}-", begun
        self.path = self._name() if begun is None else begun[0]
        self._file: io.FileIO | None = None
        self._sha = hashlib.sha256()
        self._use, self._is_ended, self._stays = threading.Lock(), False, False
        self._attempt = self.size = self.synced = 0

    def begin(self) -> int:
        """Make the file, or go on with it; the number of this attempt. A call that an earlier one left behind in its
        thread is waited for if it has begun, and does nothing if it has not. Errors: `OSError`."""
        with self._using():
            self._attempt += 1
            if self._file is None and not self._is_ended:
                self._file = self._continued() or self._fresh()
        return self._attempt

    def _continued(self) -> io.FileIO | None:
        """The part of the earlier attempt, cut and read, or None."""
        begun, self._begun = self._begun, None
        file = None if begun is None else claimed(begun[0])
        if begun is None or file is None:
            return None
        try:
            self._sha, self.size = _hashed(file, begun[1])
            if self.size == begun[1]:
                file.truncate(self.size)
                self.synced = self.size
                return file
            begun[0].unlink(missing_ok=True)
        except OSError:  # what cannot be read is begun afresh
            pass
        file.close()
        return None

    def _fresh(self) -> io.FileIO:
        while True:
            self.path = self._name()
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
            file = io.FileIO(os.open(self.path, flags, 0o644), "wb")
            if is_alone(file.fileno()) and os.fstat(file.fileno()).st_nlink:
                self._sha, self.size, self.synced = hashlib.sha256(), 0, 0
                return file
            file.close()  # a process that starts took it for a leftover before it was locked

    def _name(self) -> Path:
        return self._stem.with_name(f"{self._stem.name}{secrets.token_hex(6)}")

    def write(self, attempt: int, pieces: Sequence[bytes]) -> None:
        """Append the pieces. Errors: `OSError`."""
        with self._using():
            for piece in pieces if attempt == self._attempt and not self._is_ended else ():
                self._append(piece)

    def _append(self, piece: bytes) -> None:
        left = memoryview(piece)
        while left:
            left = left[self._opened.write(left) :]
        self._sha.update(piece)
        self.size += len(piece)

    def sync(self) -> int:
        """Everything that is written to the disk; how much that is. Errors: `OSError`."""
        with self._using():
            if self._file is not None and not self._is_ended:
                os.fsync(self._opened.fileno())
                self.synced = self.size
        return self.synced

    def restart(self) -> None:
        """Back to nothing, under another name."""
        with self._using():
            if self._file is not None and not self._is_ended:
                self._opened.close()
                self._file = None
                self.path.unlink(missing_ok=True)
                self._file = self._fresh()

    def finish(self, look: Callable[[Path], T]) -> tuple[T, str]:
        """Everything to the disk; what `look` makes of it, and the hash in hex.

        Errors: those of `look`, after which the part can be restarted; `OSError`.
        """
        with self._using():
            if self._is_ended:
                raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
            seen = look(self.path)
            os.fsync(self._opened.fileno())
            self.synced = self.size
        return seen, self._sha.hexdigest()

    def drop(self) -> None:
        """Give the part up, also while an abandoned thread writes to it. Never waits."""
        self._is_ended = True
        self._tidy()

    def leave(self) -> None:
        """Close the part and let it lie, for whoever goes on with it. Never waits."""
        self._stays = True
        self.drop()

    @contextmanager
    def _using(self) -> Iterator[None]:
        """A block that no other call enters meanwhile; whoever leaves a part that was given up, however, removes it."""
        try:
            with self._use:
                yield
        finally:
            self._tidy()

    def _tidy(self) -> None:
        if self._is_ended and self._use.acquire(blocking=False):
            try:
                if self._file is not None:
                    self._file.close()
                    if not self._stays:
                        self.path.unlink(missing_ok=True)
            finally:
                self._use.release()

    @property
    def _opened(self) -> io.FileIO:
        assert self._file is not None  # noqa: S101 -- for the type checker: `begin` came first
        return self._file


def _hashed(file: io.FileIO, count: int) -> tuple["hashlib._Hash", int]:
    """The hash of the first `count` bytes, and how many there are; the file then stands behind them."""
    sha, done = hashlib.sha256(), 0
    while done < count and (piece := file.read(min(count - done, PIECE_BYTES))):
        sha.update(piece)
        done += len(piece)
    return sha, done
