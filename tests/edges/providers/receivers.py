"""Receivers on loopback that answer, or fail, the way the test says; each writes down what arrived.

A receiver reads one request a connection, unless its behaviour says otherwise, and forgets nothing.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import h11
import trio

Behave = Callable[["Line"], Awaitable[None]]
"""What the receiver does with one connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One whole request."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(eq=False, slots=True)
class Receiver:
    """A receiver that listens. `lines`: connections so far; `open`: those that are open now."""

    behave: Behave
    port: int = 0
    lines: int = 0
    open: int = 0
    arrivals: list[Arrival] = field(default_factory=list)
    arrived: trio.Event = field(default_factory=trio.Event)

    def url(self, path: str = "/take") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def serve(self, stream: trio.SocketStream) -> None:
        self.lines += 1
        self.open += 1
        try:
            async with stream:
                await self.behave(Line(self, stream))
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
            pass
        finally:
            self.open -= 1


@dataclass(eq=False, slots=True)
class Line:
    """One connection of a receiver."""

    receiver: Receiver
    stream: trio.SocketStream
    wire: h11.Connection = field(default_factory=lambda: h11.Connection(h11.SERVER))

    async def request(self) -> Arrival:
        """The next whole request, written down. Errors: as a stream's, and h11's."""
        head: h11.Request | None = None
        body = bytearray()
        while not isinstance(event := self.wire.next_event(), h11.EndOfMessage):
            match event:
                case h11.NEED_DATA:
                    self.wire.receive_data(await self.stream.receive_some(1_048_576))
                case h11.Request():
                    head = event
                case h11.Data():
                    body += event.data
                case _:
                    raise trio.BrokenResourceError
        assert head is not None
        headers = {name.decode(): value.decode("utf-8") for name, value in head.headers}
        arrival = Arrival(method=head.method.decode(), target=head.target.decode(), headers=headers, body=bytes(body))
        self.receiver.arrivals.append(arrival)
        self.receiver.arrived.set()
        return arrival

    async def answer(self, status: int, body: bytes = b"", headers: Sequence[tuple[str, str]] = ()) -> None:
        """A whole answer."""
        await self.begin(status, len(body), headers)
        await self.more(body)
        await self.end()

    async def begin(self, status: int, length: int | None, headers: Sequence[tuple[str, str]] = ()) -> None:
        """The head of an answer of `length` bytes; None: as long as it lasts."""
        sized = [] if length is None else [("Content-Length", str(length))]
        await self.stream.send_all(self.wire.send(h11.Response(status_code=status, headers=[*headers, *sized])) or b"")

    async def more(self, data: bytes) -> None:
        """Some of its body."""
        if data:
            await self.stream.send_all(self.wire.send(h11.Data(data=data)) or b"")

    async def end(self) -> None:
        """The end of the answer."""
        await self.stream.send_all(self.wire.send(h11.EndOfMessage()) or b"")

    def reset(self) -> None:
        """Let the connection end with a reset instead of an orderly close."""
        self.stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


@asynccontextmanager
async def receiving(*behaviours: Behave, host: str = "127.0.0.1") -> AsyncIterator[list[Receiver]]:
    """One receiver for each behaviour, listening until the end of the block."""
    async with AsyncExitStack() as stack, trio.open_nursery() as nursery:
        found = []
        for behave in behaviours:
            [listener] = await trio.open_tcp_listeners(0, host=host)
            await stack.enter_async_context(listener)
            receiver = Receiver(behave, port=listener.socket.getsockname()[1])
            nursery.start_soon(trio.serve_listeners, receiver.serve, [listener])
            found.append(receiver)
        try:
            yield found
        finally:
            nursery.cancel_scope.cancel()


def answering(status: int = 200, body: bytes = b"", headers: Sequence[tuple[str, str]] = ()) -> Behave:
    """Takes a request and answers it."""

    async def behave(line: Line) -> None:
        await line.request()
        await line.answer(status, body, headers)

    return behave


def in_turn(*behaviours: Behave) -> Behave:
    """One behaviour a connection, in their order; the last one again and again."""
    left = list(behaviours)

    async def behave(line: Line) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(line)

    return behave


async def hang(line: Line) -> None:
    """Takes the request and never says a word."""
    await line.request()
    await trio.sleep_forever()


async def hang_up(line: Line) -> None:
    """Takes the request and closes without a word."""
    await line.request()


async def reset(line: Line) -> None:
    """Takes the request and resets the connection."""
    await line.request()
    line.reset()


async def reset_in_the_body(line: Line) -> None:
    """Resets the connection while the request still arrives."""
    await line.stream.receive_some(1_000)
    line.reset()


async def half_an_answer(line: Line) -> None:
    """Promises more of an answer than it gives."""
    await line.request()
    await line.begin(200, 1_000)
    await line.more(b'{"status":"accepted","id":"half"')


async def drip(line: Line) -> None:
    """Sends an answer a byte at a time, for ever: every single read succeeds."""
    await line.request()
    await line.begin(200, 1_000_000)
    while True:
        await line.more(b" ")
        await trio.sleep(0.01)


def endless(piece: bytes, headers: Sequence[tuple[str, str]] = ()) -> Behave:
    """Sends an answer that never ends, as fast as it is read."""

    async def behave(line: Line) -> None:
        await line.request()
        await line.begin(200, None, headers)
        while True:
            await line.more(piece)

    return behave
