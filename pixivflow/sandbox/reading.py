"""Requests out of a stream of bytes: h11 reads each with a connection of its own, which begins where the last ended."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

import h11
import msgspec
import trio

from pixivflow.sandbox.message import Request, request

Stream: TypeAlias = "trio.SocketStream | trio.SSLStream[trio.SocketStream]"
PIECE_S: Final = 60.0
"""How long the next piece of a body may take."""
HEAD_BYTES: Final = 64 * 1024
DROPPED_BYTES: Final = 1 << 30
"""How much of a body is read and thrown away before the sender is left alone with the rest."""
RECEIVE_BYTES: Final = 64 * 1024


class Unreadable(Exception):
    """What came is no HTTP. `status`: what to answer, if anything."""

    def __init__(self, status: int) -> None:
        super().__init__(f"to be answered {status}")
        self.status = status


class Reader:
    """Reads one request after the other. `limit`: how many bytes of a request's body are kept."""

    def __init__(self, stream: Stream, limit: Callable[[Request], int]) -> None:
        self._stream, self._limit = stream, limit
        self._h11 = _connection()

    @property
    def goes_on(self) -> bool:
        """Whether another request may follow the one that was read."""
        return self._h11.their_state is h11.DONE

    async def head(self) -> h11.Request | None:
        """The next head; None when the peer closed. Errors: `Unreadable`."""
        if self.goes_on:
            rest, _ = self._h11.trailing_data
            self._h11 = _connection()
            if rest:  # nothing would mean the end
                self._h11.receive_data(rest)
        try:
            event = await self._event()
        except h11.RemoteProtocolError as error:
            raise Unreadable(error.error_status_hint) from error
        return event if isinstance(event, h11.Request) else None

    async def whole(self, head: h11.Request) -> Request:
        """The request with its body. One that breaks off, or is too large, is a request too, and says so.

        Errors: `trio.BrokenResourceError` when nothing more comes.
        """
        headers = _decoded(tuple(head.headers))
        is_tls = isinstance(self._stream, trio.SSLStream)
        asked = request(head.method.decode("latin-1"), head.target.decode("latin-1"), headers, tls=is_tls)
        kept, size, limit = bytearray(), 0, self._limit(asked)
        try:
            while isinstance(piece := await self._piece(), h11.Data):
                size += len(piece.data)
                if size <= limit:
                    kept += piece.data
                elif size > DROPPED_BYTES:
                    raise trio.BrokenResourceError("there is no end to it")
        except h11.RemoteProtocolError:
            return msgspec.structs.replace(asked, body=bytes(kept), is_whole=False)
        if size > limit:
            return msgspec.structs.replace(asked, is_oversized=True)
        return msgspec.structs.replace(asked, body=bytes(kept)) if kept else asked

    async def _piece(self) -> object:
        """The next piece of a body, or its end. One that is here already is not waited for."""
        if (event := self._h11.next_event()) is not h11.NEED_DATA:
            return event
        if self._h11.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
            await self._stream.send_all(self._h11.send(go_on) or b"")
        try:
            with trio.fail_after(PIECE_S):
                return await self._event()
        except trio.TooSlowError as error:
            raise trio.BrokenResourceError("the rest of the body did not come") from error

    async def _event(self) -> object:
        """What comes next: a head, a piece of a body, its end, or the end of the connection."""
        while (event := self._h11.next_event()) is h11.NEED_DATA:
            self._h11.receive_data(bytes(await self._stream.receive_some(RECEIVE_BYTES)))
        return event


@lru_cache(maxsize=256)
def _decoded(headers: tuple[tuple[bytes, bytes], ...]) -> Mapping[str, str]:
    """The headers as text. Clients send the same ones again and again, and every record keeps those of its request."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}


def _connection() -> h11.Connection:
    return h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
