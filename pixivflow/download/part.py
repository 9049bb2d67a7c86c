"""A page that is being written, in threads that its task may leave at any moment.

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

T = TypeVar("T")

PART: Final = ".part-"


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
