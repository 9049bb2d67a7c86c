"""Sending an answer the way it was planned: whole and true, slowly, cut off, with a wrong length, or not at all.

The head is written here and not by h11, which rightly refuses to write one that lies.
"""

import socket
import struct
from collections.abc import Iterator
from functools import lru_cache
from http import HTTPStatus
from typing import Final

import trio

from pixivflow.sandbox.message import Pairs, Reply
from pixivflow.sandbox.reading import Stream
from pixivflow.sandbox.spoil import Wire

PIECE_BYTES: Final = 256 * 1024
TICK_S: Final = 0.05
"""Between two pieces of a body that is sent slowly."""
BODILESS: Final = (204, 304)


class Sender:
    """Sends one answer. `sent`: how many bytes of the body went out, also when it was not to be all of them."""

    def __init__(self, stream: Stream, *, is_head: bool = False) -> None:
        self._stream, self._is_head = stream, is_head
        self.sent = 0

    async def send(self, reply: Reply, wire: Wire) -> None:
        """Errors: `trio.BrokenResourceError` when the other side is gone."""
        if wire.delay_ms:
            await trio.sleep(wire.delay_ms / 1_000)
        if wire.is_silent:
            return
        length = len(reply.body) if wire.length is None else wire.length
        head = _head(reply.status, reply.headers, length, closes=wire.closes)
        body = b"" if self._is_head or reply.status in BODILESS else reply.body[: wire.cut_at]
        if len(body) > PIECE_BYTES or wire.bytes_per_s:
            await self._stream.send_all(head)
            await self._send_pieces(body, wire.bytes_per_s)
        else:
            await self._stream.send_all(head + body)
            self.sent = len(body)

    async def _send_pieces(self, body: bytes, bytes_per_s: int) -> None:
        for piece in _pieces(body, max(1, int(bytes_per_s * TICK_S)) if bytes_per_s else PIECE_BYTES):
            await self._stream.send_all(piece)
            self.sent += len(piece)
            if bytes_per_s:
                await trio.sleep(len(piece) / bytes_per_s)


def _pieces(body: bytes, size: int) -> Iterator[memoryview]:
    view = memoryview(body)
    for at in range(0, len(body), size):
        yield view[at : at + size]


@lru_cache(maxsize=1_024)
def _head(status: int, headers: Pairs, length: int, *, closes: bool) -> bytes:
    lines = [f"HTTP/1.1 {status} {_reason(status)}", *(f"{name}: {value}" for name, value in headers)]
    if status not in BODILESS:
        lines.append(f"Content-Length: {length}")
    if closes:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def reset(stream: Stream) -> None:
    """Make the next close of the connection a TCP reset."""
    transport = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
    transport.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
