"""The files that an attempt sends, read piece by piece in threads of their own.

Each piece opens the file anew, so a thread that a dying disk keeps for ever holds nothing that anybody waits for.
"""

import errno
import os
import stat
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import trio

from pixivflow.providers.bodies import LocalFault, Piece

T = TypeVar("T")

PIECE_BYTES: Final = 1_048_576
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG})


class Files:
    """Reads files without stopping anything else; at most `threads` reads at once."""

    def __init__(self, threads: int = 4) -> None:
        self._limiter = trio.CapacityLimiter(threads)

    async def do(self, fn: Callable[..., T], *args: Any) -> T:
        """Run `fn` in one of the threads. A cancelled caller leaves at once; what `fn` does then is of no use."""
        return await trio.to_thread.run_sync(fn, *args, abandon_on_cancel=True, limiter=self._limiter)

    async def sizes(self, paths: Sequence[str]) -> list[int]:
        """Bytes of each file. Errors: `LocalFault` naming the first that cannot be sent."""
        return await self.do(lambda: [size(path) for path in paths])

    def pieces(self, path: str, expected_bytes: int) -> Sequence[Piece]:
        """The whole file, read when its turn comes.

        Errors, then: `LocalFault` when it is no longer what it was when it was measured.
        """
        return [partial(self.do, piece, path, *step, expected_bytes) for step in _steps(expected_bytes)]


def size_on_disk(path: str) -> int | None:
    """Bytes of a regular file; None when there is none. Errors: `OSError` when nobody can tell."""
    try:
        found = os.stat(path)
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def size(path: str) -> int:
    """Bytes of the file. Errors: `LocalFault`."""
    try:
        found = size_on_disk(path)
    except OSError as error:
        raise fault(path, error) from error
    if found is None:
        raise LocalFault(f"{os.path.basename(path)} is gone", lasting=True)
    return found


def piece(path: str, offset: int, length: int, expected_bytes: int) -> bytes:
    """`length` bytes of the file from `offset`. Errors: `LocalFault`, also when its size has changed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            read = os.pread(handle, length, offset) if stat.S_ISREG(found.st_mode) else b""
        finally:
            os.close(handle)
    except OSError as error:
        raise fault(path, error) from error
    if found.st_size != expected_bytes or len(read) != length:
        raise LocalFault(f"{os.path.basename(path)} has changed while it was sent", lasting=True)
    return read


def whole(path: str) -> bytes:
    """The file. Errors: `LocalFault`."""
    expected = size(path)
    return b"".join(piece(path, *step, expected) for step in _steps(expected))


def _steps(expected_bytes: int) -> list[tuple[int, int]]:
    """Where each piece begins and how long it is."""
    return [(at, min(PIECE_BYTES, expected_bytes - at)) for at in range(0, expected_bytes, PIECE_BYTES)]


def fault(path: str, error: OSError) -> LocalFault:
    """What a file that cannot be read says: by its name alone, since its folder is nobody's business."""
    lasting = error.errno in _GONE
    return LocalFault(f"{os.path.basename(path)} {'is gone' if lasting else error.strerror}", lasting=lasting)
