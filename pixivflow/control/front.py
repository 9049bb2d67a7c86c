"""What stands before Quart: two answers that need no Quart, a look at `Host`, and a last word on errors.

An orchestrator asks for `/health` as soon as the process exists, and Quart takes a fifth of a second to import. So the
door opens without it, `load` brings it meanwhile, and whoever wants more than the two open routes waits for that.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final

import msgspec
import trio

from actors.kit import Note, unwrapped
from pixivflow.control.wire import ErrorBody

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Mapping[str, Any], Receive, Send], Awaitable[None]]

JSON: Final = (b"content-type", b"application/json")
OPEN_METHODS: Final = ("GET", "HEAD")


class Front:
    """The ASGI application that the server calls.

    `answers`: path -> body of what everybody may read. `hosts`: the values of `Host` that are served, None for any: on
    a loopback address another name means that a web page was made to reach us.
    """

    def __init__(self, answers: Mapping[str, bytes], hosts: frozenset[bytes] | None, note: Note) -> None:
        self._answers, self._hosts, self._note = answers, hosts, note
        self._app: App = self._once_loaded
        self._loaded = trio.Event()

    async def load(self, build: Callable[[], App]) -> None:
        """Build the application in a thread, and let in whoever waits for it. Errors: as `build`."""
        own = trio.CapacityLimiter(1)
        self._app = await trio.to_thread.run_sync(build, limiter=own, abandon_on_cancel=True)
        self._loaded.set()

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        word = LastWord(receive, send)
        try:
            await self._answer(scope, word)
        except Exception as error:
            self._note("control.failed", path=scope["path"][:200], error=unwrapped(error))
            if not word.begun:
                await word.say(500, error_body("internal error"))

    async def _once_loaded(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        await self._loaded.wait()
        await self._app(scope, receive, send)

    async def _answer(self, scope: Mapping[str, Any], word: "LastWord") -> None:
        if self._hosts is not None and host_of(scope) not in self._hosts:
            await word.say(404, error_body("unknown host"))
        elif (body := self._answers.get(scope["path"])) is None:
            await self._app(scope, word.receive, word.send)
        elif scope["method"] in OPEN_METHODS:
            await word.say(200, body)
        else:
            await word.say(405, error_body("method not allowed"), (b"allow", ", ".join(OPEN_METHODS).encode()))


class LastWord:
    """The channels of one request, in which the end of an answer is never mistaken for the client's going.

    Hypercorn tells the application that the client has gone as part of sending the last piece; Quart-Trio then cancels
    the very task that is sending it, which leaves the connection half recycled: open, deaf, and in the way of a stop.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._is_last = False
        self.begun = False

    async def send(self, message: Message) -> None:
        """ASGI's."""
        self.begun = True
        self._is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def receive(self) -> Message:
        """ASGI's."""
        message = await self._receive()
        if message["type"] == "http.disconnect" and self._is_last:
            await trio.sleep_forever()  # our own last send is under way, and whoever runs us cancels this
        return message

    async def say(self, http_status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
        """A whole answer. Meanwhile what the client still sends is thrown away, or its queue would hold us."""
        length = (b"content-length", f"{len(body)}".encode())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._swallow)
            await self.send({"type": "http.response.start", "status": http_status, "headers": [JSON, length, *headers]})
            await self.send({"type": "http.response.body", "body": body})
            nursery.cancel_scope.cancel()

    async def _swallow(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


def host_of(scope: Mapping[str, Any]) -> bytes:
    """The request's `Host` in small letters, empty when it has none, or more than one."""
    found = [value for name, value in scope["headers"] if name.lower() == b"host"]
    return found[0].strip().lower() if len(found) == 1 else b""


def error_body(text: str) -> bytes:
    """The body of an error."""
    return msgspec.json.encode(ErrorBody(error=text))
