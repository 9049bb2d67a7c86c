"""One connection: requests are read with h11, one after the other, and their answers are sent as they were planned."""

import traceback
from typing import Final

import h11
import msgspec
import trio

from pixivflow.sandbox.hosts import Place
from pixivflow.sandbox.journal import Record
from pixivflow.sandbox.message import Reply, Request, request
from pixivflow.sandbox.sending import Sender, Stream, reset
from pixivflow.sandbox.service import Exchange, Service
from pixivflow.sandbox.spoil import Ending, Wire

IDLE_S: Final = 75.0
"""How long a connection may say nothing between two requests, or take for a head."""
PIECE_S: Final = 60.0
"""How long the next piece of a body may take."""
LINGER_S: Final = 1.0
"""How long what a peer still sends is read after the last answer, so that it can read that answer."""
HEAD_BYTES: Final = 64 * 1024
DROPPED_BYTES: Final = 1 << 30
"""How much of a body is read and thrown away before the sender is left alone with the rest."""
RECEIVE_BYTES: Final = 64 * 1024
GONE: Final = (trio.BrokenResourceError, trio.ClosedResourceError)
NOTHING: Final = Reply(status=500)


class Connection:
    """One peer. Who stops the server calls `finish`: what is being answered is answered, what waits is not."""

    def __init__(self, stream: Stream, service: Service) -> None:
        self._stream, self._service = stream, service
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
        self._waiting = trio.CancelScope()
        self._is_last = False

    def finish(self) -> None:
        """End the connection once it waits for something, which may be now."""
        self._is_last = True
        self._waiting.cancel()

    async def serve(self) -> int:
        """Answer until one of both sides ends it. How long the whole server is to be away then, in ms; mostly 0."""
        wire = Wire()
        try:
            while not self._is_last and (wire := await self._one()).ending is Ending.KEPT:
                self._h11.start_next_cycle()
        except GONE:
            pass  # the record of the request says so
        finally:
            await trio.aclose_forcefully(self._stream)
        return wire.shut_ms

    async def _one(self) -> Wire:
        """One request and its answer; the wire tells whether another may follow."""
        try:
            with trio.CancelScope(deadline=trio.current_time() + IDLE_S) as self._waiting:
                head = await self._event()
            if self._waiting.cancelled_caught or not isinstance(head, h11.Request):
                return Wire(ending=Ending.CLOSED)
            asked = await self._whole(head)
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint)
            return Wire(ending=Ending.CLOSED)
        wire = await self._answer(asked)
        if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
            return msgspec.structs.replace(wire, ending=Ending.CLOSED)
        return wire

    async def _event(self) -> object:
        """What comes next: a head, a piece of a body, its end, or the end of the connection."""
        while (event := self._h11.next_event()) is h11.NEED_DATA:
            if self._h11.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
                await self._stream.send_all(self._h11.send(go_on) or b"")
            self._h11.receive_data(bytes(await self._stream.receive_some(RECEIVE_BYTES)))
        return event

    async def _whole(self, head: h11.Request) -> Request:
        """The request with its body. One that breaks off, or is too large, is a request too, and says so."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        is_tls = isinstance(self._stream, trio.SSLStream)
        asked = request(head.method.decode("latin-1"), head.target.decode("latin-1"), headers, tls=is_tls)
        kept, size, limit = bytearray(), 0, self._service.limit(asked)
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
        try:
            with trio.fail_after(PIECE_S):
                return await self._event()
        except trio.TooSlowError as error:
            raise trio.BrokenResourceError("the rest of the body did not come") from error

    async def _answer(self, asked: Request) -> Wire:
        """Answer, and end the connection if the way of the answer says so."""
        place, record = self._service.arrive(asked, _now_ms())
        exchange = Exchange(reply=NOTHING, record=record)
        sender = Sender(self._stream, self._h11, is_head=asked.method == "HEAD")
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
            return self._service.answer(asked, place, record, _now_ms())
        except Exception:
            traceback.print_exc()
            return Exchange(reply=NOTHING, wire=Wire(ending=Ending.CLOSED), record=record)

    async def _end(self, ending: Ending) -> bool:
        """What follows the answer. True when we wait for the peer to go away, and it does."""
        match ending:
            case Ending.STALLED:
                with trio.CancelScope() as self._waiting:
                    while await self._stream.receive_some(RECEIVE_BYTES):
                        pass
                return not self._waiting.cancelled_caught
            case Ending.RESET:
                reset(self._stream)
            case Ending.CLOSED:
                await self._close()
        return False

    async def _close(self) -> None:
        """Close so that the peer can read what it was sent: to close on unread bytes would be a reset."""
        if isinstance(self._stream, trio.SSLStream):
            await self._stream.aclose()
            return
        await self._stream.send_eof()
        with trio.move_on_after(LINGER_S):
            while await self._stream.receive_some(RECEIVE_BYTES):
                pass

    async def _refuse(self, status: int) -> None:
        """Answer what is no HTTP, if anything can still be said."""
        if self._h11.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            refused = Reply(status=status, headers=(("Content-Type", "text/plain"),), body=b"this is not HTTP")
            await Sender(self._stream, self._h11, is_head=False).send(refused, Wire(ending=Ending.CLOSED))
            await self._close()


def _now_ms() -> float:
    return trio.current_time() * 1_000
