"""What a request carries: pieces in their order, each made when its turn comes, and how long they are together."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Final

import httpx

from pixivflow.providers.headers import Headers

Piece = bytes | Callable[[], Awaitable[bytes]]

PIECE_BYTES: Final = 262_144


class LocalFault(Exception):
    """A body that cannot be sent whole. `lasting`: nor will it be later."""

    def __init__(self, text: str, *, lasting: bool) -> None:
        super().__init__(text)
        self.lasting = lasting


class Body(httpx.AsyncByteStream):
    """The pieces, and the exact number of their bytes; the last thing that a request says of itself.

    Its iterators are objects and no generators: a request that breaks off would leave a generator half-run.
    """

    def __init__(self, pieces: Sequence[Piece] = (), length: int = 0) -> None:
        self._pieces, self.length = pieces, length

    @classmethod
    def of(cls, content: bytes) -> "Body":
        """A body that is in memory as a whole; sent in pieces, since TLS works on each without a pause."""
        steps = range(0, len(content), PIECE_BYTES)
        return cls([content[at : at + PIECE_BYTES] for at in steps], len(content))

    @property
    def headers(self) -> Headers:
        """How long it is; nothing for a request without a body."""
        return (("Content-Length", str(self.length).encode()),) if self._pieces else ()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Walk(iter(self._pieces))


class _Walk:
    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces

    def __aiter__(self) -> "_Walk":
        return self

    async def __anext__(self) -> bytes:
        for piece in self._pieces:
            return piece if isinstance(piece, bytes) else await piece()
        raise StopAsyncIteration
