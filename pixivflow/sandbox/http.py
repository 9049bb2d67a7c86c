"""One connection: a request is read, answered the way its answer was planned, and then the next one."""

import math
import traceback
from typing import Final

import msgspec
import trio

from pixivflow.sandbox.hosts import Place
from pixivflow.sandbox.journal import Record
from pixivflow.sandbox.message import Reply, Request
from pixivflow.sandbox.reading import RECEIVE_BYTES, Reader, Stream, Unreadable
from pixivflow.sandbox.sending import Sender, reset
from pixivflow.sandbox.service import Exchange, Service
from pixivflow.sandbox.spoil import PLAIN, Ending, Wire

IDLE_S: Final = 75.0
"""How long a connection may say nothing between two requests, or take for a head."""
LINGER_S: Final = 1.0
"""How long what a peer still sends is read after the last answer, so that it can read that answer."""
GONE: Final = (trio.BrokenResourceError, trio.ClosedResourceError)
NOTHING: Final = Reply(status=500)
LAST: Final = Wire(ending=Ending.CLOSED)


class Connection:
    """One peer. Who stops the server calls `finish`: what is being answered is answered, what waits is not."""

    def __init__(self, stream: Stream, service: Service) -> None:
        self._stream, self._service = stream, service
        self._reader = Reader(stream, service.limit)
        self._patience = trio.CancelScope()
        self._is_idle = self._is_last = False

    def finish(self) -> None:
        """End the connection once it waits for its peer, which may be now."""
        self._is_last = True
        if self._is_idle:
            self._patience.cancel()

    async def serve(self) -> int:
        """Answer until one of both sides ends it. How long the whole server is to be away then, in ms; mostly 0."""
        wire = PLAIN
        try:
            with self._patience:
                while not (self._is_last or wire.closes):
                    wire = await self._one()
        except GONE:
            pass  # the record of the request says so
        finally:
            await trio.aclose_forcefully(self._stream)
        return wire.shut_ms

    async def _one(self) -> Wire:
        """One request and its answer; the wire tells whether another may follow."""
        self._is_idle, self._patience.deadline = True, trio.current_time() + IDLE_S
        try:
            head = await self._reader.head()
        except Unreadable as unreadable:
            text = Reply(status=unreadable.status, headers=(("Content-Type", "text/plain"),), body=b"this is not HTTP")
            await Sender(self._stream).send(text, LAST)
            await self._end(Ending.CLOSED)
            return LAST
        self._is_idle, self._patience.deadline = False, math.inf
        return LAST if head is None else await self._answer(await self._reader.whole(head))

    async def _answer(self, asked: Request) -> Wire:
        """Answer, and end the connection if the way of the answer says so."""
        place, record = self._service.arrive(asked, _now_ms())
        exchange = Exchange(reply=NOTHING, record=record)
        sender = Sender(self._stream, is_head=asked.method == "HEAD")
        left = True
        try:
            await self._service.state.gates.passed(place)
            exchange = self._planned(asked, place, record)
            await sender.send(exchange.reply, exchange.wire)
            left = await self._end(exchange.wire.ending)
        finally:
            self._service.leave(exchange, sender.sent, _now_ms(), left=left)
        return exchange.wire

    def _planned(self, asked: Request, place: Place, record: Record | None) -> Exchange:
        """The answer. A bug in the making of it is one bad answer and a trace, not the end of the sandbox."""
        try:
            exchange = self._service.answer(asked, place, record, _now_ms())
        except Exception:
            traceback.print_exc()
            exchange = Exchange(reply=NOTHING, wire=LAST, record=record)
        if self._reader.goes_on or exchange.wire.closes:
            return exchange
        return msgspec.structs.replace(exchange, wire=msgspec.structs.replace(exchange.wire, ending=Ending.CLOSED))

    async def _end(self, ending: Ending) -> bool:
        """What follows the answer. True when it was the peer who ended the connection.

        To close on unread bytes would be a reset, and the peer could not read what it was sent.
        """
        match ending:
            case Ending.KEPT:
                return False
            case Ending.RESET:
                reset(self._stream)
            case Ending.STALLED:
                self._is_idle = True
                await self._drained()
                return True
            case Ending.CLOSED if isinstance(self._stream, trio.SSLStream):
                await self._stream.aclose()
            case Ending.CLOSED:
                await self._stream.send_eof()
                with trio.move_on_after(LINGER_S):
                    await self._drained()
        return False

    async def _drained(self) -> None:
        while await self._stream.receive_some(RECEIVE_BYTES):
            pass


def _now_ms() -> float:
    return trio.current_time() * 1_000
