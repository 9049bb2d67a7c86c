"""Sending an answer the way it was planned: whole and true, slowly, cut off, with a wrong length, or not at all."""

import socket
import struct
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final, TypeAlias

import h11
import trio

from pixivflow.sandbox.message import Reply
from pixivflow.sandbox.spoil import Wire

Stream: TypeAlias = "trio.SocketStream | trio.SSLStream[trio.SocketStream]"
PIECE_BYTES: Final = 256 * 1024
TICK_S: Final = 0.05
"""Between two pieces of a body that is sent slowly."""
BODILESS: Final = (204, 304)


class Sender:
    """Sends one answer. `sent`: how many bytes of the body went out, also when it was not to be all of them."""

    def __init__(self, stream: trio.abc.SendStream, connection: h11.Connection, *, is_head: bool) -> None:
        self._stream, self._h11, self._is_head = stream, connection, is_head
        self.sent = 0

    async def send(self, reply: Reply, wire: Wire) -> None:
        """Errors: `trio.BrokenResourceError` when the other side is gone."""
        if wire.delay_ms:
            await trio.sleep(wire.delay_ms / 1_000)
        if wire.is_silent:
            return
        body = b"" if self._is_head or reply.status in BODILESS else reply.body
        if wire.is_lost:
            await self._send_all(_raw_head(reply, wire), body[: wire.cut_at], wire.bytes_per_s)
        else:
            await self._honest(reply, wire, body)

    async def _honest(self, reply: Reply, wire: Wire, body: bytes) -> None:
        """What h11 has no objection to: afterwards the connection can be used again."""
        headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in _headers(reply, wire)]
        head = self._h11.send(h11.Response(status_code=reply.status, headers=headers, reason=_reason(reply.status)))
        if body:
            self._h11.send(h11.Data(data=body))
        self._h11.send(h11.EndOfMessage())
        await self._send_all(head or b"", body, wire.bytes_per_s)

    async def _send_all(self, head: bytes, body: bytes, bytes_per_s: int) -> None:
        if not bytes_per_s and len(body) <= PIECE_BYTES:
            await self._stream.send_all(head + body)
            self.sent = len(body)
            return
        await self._stream.send_all(head)
        for piece in _pieces(body, max(1, int(bytes_per_s * TICK_S)) if bytes_per_s else PIECE_BYTES):
            await self._stream.send_all(piece)
            self.sent += len(piece)
            if bytes_per_s:
                await trio.sleep(len(piece) / bytes_per_s)


def _pieces(body: bytes, size: int) -> Iterator[memoryview]:
    view = memoryview(body)
    for at in range(0, len(body), size):
        yield view[at : at + size]


def _headers(reply: Reply, wire: Wire) -> Iterator[tuple[str, str]]:
    yield from reply.headers
    if reply.status not in BODILESS:
        yield "Content-Length", str(len(reply.body) if wire.length is None else wire.length)
    if wire.closes:
        yield "Connection", "close"


def _raw_head(reply: Reply, wire: Wire) -> bytes:
    """The head of an answer that does not keep its word, which h11 would not write."""
    lines = [f"HTTP/1.1 {reply.status} {_reason(reply.status).decode()}"]
    lines += [f"{name}: {value}" for name, value in _headers(reply, wire)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _reason(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode("ascii")
    except ValueError:
        return b"Unknown"


def reset(stream: Stream) -> None:
    """Make the next close of the connection a TCP reset."""
    transport = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
    transport.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
