"""The listening ports, which a fault can shut for a while, and the connections that came through them."""

import ssl
from collections.abc import Sequence
from typing import Final

import trio

from pixivflow.errors import ConfigError
from pixivflow.sandbox.http import Connection
from pixivflow.sandbox.reading import Stream
from pixivflow.sandbox.service import Service

HOST: Final = "127.0.0.1"
GRACE_S: Final = 1.0
"""How long a stop waits for answers that are under way."""


class Door:
    """One port on loopback. It stays ours while it is shut, as far as the system lets us: nobody else is told of it."""

    def __init__(self, port: int, context: ssl.SSLContext | None = None) -> None:
        self.port, self._context = port, context
        self._listener: trio.SocketListener | None = None
        self._open = trio.CancelScope()
        self._shut_ms = 0

    async def bind(self) -> None:
        """Take the port; 0 becomes the one that the system chose. Errors: `ConfigError` when somebody else has it."""
        try:
            (self._listener,) = await trio.open_tcp_listeners(self.port, host=HOST)
        except OSError as error:
            raise ConfigError("port", self.port, error.strerror or str(error)) from error
        self.port = self._listener.socket.getsockname()[1]

    async def serve(self, hall: "Hall") -> None:
        """Let peers in for ever; after each time that the door was shut, take the same port again."""
        while True:
            if self._listener is None:
                await self.bind()
            assert self._listener is not None  # noqa: S101 -- bound above
            with trio.CancelScope() as self._open:
                await trio.serve_listeners(hall.enter, [self._dressed(self._listener)], handler_nursery=hall.nursery)
            self._listener = None
            await trio.sleep(self._shut_ms / 1_000)

    def _dressed(self, listener: trio.SocketListener) -> "trio.SocketListener | trio.SSLListener[trio.SocketStream]":
        if self._context is None:
            return listener
        return trio.SSLListener(listener, self._context, https_compatible=True)

    def close(self) -> None:
        """Give the port back."""
        if self._listener is not None:
            self._listener.socket.close()

    def shut(self, for_ms: int) -> None:
        self._shut_ms = for_ms
        self._open.cancel()


class Hall:
    """Everybody who is inside."""

    def __init__(self, service: Service, nursery: trio.Nursery, doors: Sequence[Door]) -> None:
        self.nursery = nursery
        self._service, self._doors = service, doors
        self._inside: dict[Connection, trio.CancelScope] = {}
        self._empty = trio.Event()

    async def enter(self, stream: Stream) -> None:
        """Serve one peer to its end."""
        connection = Connection(stream, self._service)
        shut_ms = 0
        with trio.CancelScope() as scope:
            self._inside[connection] = scope
            self._empty = trio.Event()
            try:
                shut_ms = await connection.serve()
            finally:
                del self._inside[connection]
                if not self._inside:
                    self._empty.set()
        if shut_ms:
            self._refuse(shut_ms)

    def _refuse(self, for_ms: int) -> None:
        """Be away: nobody gets in, and whoever is inside is put out."""
        for door in self._doors:
            door.shut(for_ms)
        for scope in list(self._inside.values()):
            scope.cancel()

    async def close(self) -> None:
        """Let answers that are under way be sent, held ones too, as long as the grace lasts; idle peers go at once."""
        self._service.state.gates.release_all()
        if not self._inside:
            return
        for connection in self._inside:
            connection.finish()
        with trio.move_on_after(GRACE_S):
            await self._empty.wait()
