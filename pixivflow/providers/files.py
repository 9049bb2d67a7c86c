"""The files that an attempt sends, read piece by piece in threads of their own.

Each piece opens the file anew, so a thread that a dying disk keeps for ever holds nothing that anybody waits for. One
key never arrives with two contents: where the promise knows what a file must hold, it is looked through before the
request begins, and once more while its bytes pass, so that the last of them leave only if all are the right ones.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Mapping, Sequence
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

    async def sizes(self, paths: Sequence[str], checksums: Mapping[str, str]) -> list[int]:
        """Bytes of each file. `checksums`: of those that are known, by path.

        Errors: `LocalFault` naming the first that cannot be sent, or is not what was promised.
        """
        for path in paths:
            await self.do(prove, path, checksums.get(path))
        return await self.do(lambda: [size(path) for path in paths])

    def pieces(self, path: str, expected_bytes: int, checksum: str | None = None) -> Sequence[Piece]:
        """The whole file, read in order, each piece when its turn comes. To be sent once.

        Errors, then: `LocalFault` when it is no longer what it was when it was measured.
        """
        passing = Passing(path, expected_bytes, checksum)
        return [partial(self.do, passing.piece, *step) for step in _steps(expected_bytes)]


class Passing:
    """The bytes of one file on their way, in order. `checksum`: of the whole, where it is known."""

    def __init__(self, path: str, expected_bytes: int, checksum: str | None) -> None:
        self._path, self._expected_bytes, self._checksum = path, expected_bytes, checksum
        self._passed = hashlib.sha256()

    def piece(self, offset: int, length: int) -> bytes:
        """The next bytes. Errors: `LocalFault`, with the last of them when they are not what was promised."""
        read = piece(self._path, offset, length, self._expected_bytes)
        if self._checksum is not None:
            self._passed.update(read)
            if offset + length == self._expected_bytes and self._passed.hexdigest() != self._checksum:
                raise LocalFault(f"{os.path.basename(self._path)} has changed while it was sent", lasting=True)
        return read


def size_on_disk(path: str) -> int | None:
    """Bytes of a regular file; None when there is none, but a link to one. Errors: `OSError` when nobody can tell."""
    try:
        found = os.lstat(path)
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
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
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


def whole(path: str, checksum: str | None = None) -> bytes:
    """The file. Errors: `LocalFault`, also for one that is not what was promised."""
    expected = size(path)
    read = b"".join(piece(path, *step, expected) for step in _steps(expected))
    if checksum is not None and hashlib.sha256(read).hexdigest() != checksum:
        raise _not_promised(path)
    return read


def prove(path: str, checksum: str | None) -> None:
    """Look whether a file holds what was promised; one of which nothing is known holds it. Errors: `LocalFault`."""
    if checksum is None:
        return
    expected, passed = size(path), hashlib.sha256()
    for step in _steps(expected):
        passed.update(piece(path, *step, expected))
    if passed.hexdigest() != checksum:
        raise _not_promised(path)


def _not_promised(path: str) -> LocalFault:
    return LocalFault(f"{os.path.basename(path)} has changed since it was downloaded", lasting=True)


def _steps(expected_bytes: int) -> list[tuple[int, int]]:
    """Where each piece begins and how long it is."""
    return [(at, min(PIECE_BYTES, expected_bytes - at)) for at in range(0, expected_bytes, PIECE_BYTES)]


def fault(path: str, error: OSError) -> LocalFault:
    """What a file that cannot be read says: by its name alone, since its folder is nobody's business."""
    lasting = error.errno in _GONE
    return LocalFault(f"{os.path.basename(path)} {'is gone' if lasting else error.strerror}", lasting=lasting)
