"""Hypercorn's half of the door: one connection, HTTP/1.1 alone, and nothing that a client can hold open for ever.

Hypercorn is used piece by piece, since four things of its own worker stand in the way of a stop, or of staying up:

- it shields what it sends, so that one client who does not read makes the server unstoppable;
- an error in one connection ends the server, and a `Host` that is not UTF-8 is such an error;
- it speaks HTTP/2 without TLS to whoever asks;
- it has no bound on connections.

The names that this leans on are not promised by Hypercorn: hence the narrow version, and a test that notices.
"""

import contextlib
import logging
from typing import Any, Final, cast

import h11
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState
from hypercorn.utils import parse_socket_addr

WRITE_S: Final = 10.0
"""What one piece of an answer may take to leave; then its reader is given up."""

MAX_RECV: Final = 65_536
"""How many bytes are taken from a socket at a time."""

WHOLE: Final = (h11.DONE, h11.MUST_CLOSE)
"""What h11 calls a client whose request is there to its end, whether or not another one may follow."""

IDLE_S: Final = 5.0
"""How long a connection may wait for its next request, or for the whole header of its first."""


class OnlyHttp1(H11Protocol):
    """HTTP/1.1, whatever else was offered or asked for: an upgrade may be ignored, says the protocol."""

    async def _check_protocol(self, event: h11.Request) -> None:
        return


class Connection(TCPServer):
    """One client. Cancelled, it ends; what a client does not read within `WRITE_S` ends it too."""

    stream: trio.SocketStream  # type: ignore[assignment]  # there is no TLS here
    protocol: OnlyHttp1  # type: ignore[assignment]
    _answered: trio.Event
    """Set once the request that was begun last has its whole answer."""

    async def run(self) -> None:
        """Serve until the client has gone, was silent for too long, or the server stops."""
        self._answered = trio.Event()
        self._answered.set()
        try:
            socket = self.stream.socket
            ours, theirs = (
                parse_socket_addr(socket.family, name()) for name in (socket.getsockname, socket.getpeername)
            )
            async with TaskGroup() as tasks:
                self._task_group = tasks
                self.protocol = OnlyHttp1(
                    self.app,
                    self.config,
                    self.context,
                    tasks,
                    ConnectionState(self.state),
                    False,
                    theirs,
                    ours,
                    self.protocol_send,
                )
                await self.idle_task.restart(tasks, self._idle_timeout)
                await self._read_data()
                await self.idle_task.stop()  # or who has gone keeps its place for as long as one who idles
        except OSError:
            return  # the client is gone
        finally:
            await trio.aclose_forcefully(self.stream)

    async def _read_data(self) -> None:
        """Hypercorn's own, but who has asked and says no more has not gone: a caller may close its half, and wait."""
        with contextlib.suppress(trio.ClosedResourceError, trio.BrokenResourceError):
            while data := await self.stream.receive_some(MAX_RECV):
                await self.protocol.handle(RawData(bytes(data)))
            if self.protocol.connection.their_state in WHOLE:
                await self._answered.wait()
        await self.protocol.handle(Closed())

    async def protocol_send(self, event: Event) -> None:
        """Hypercorn's own, without the shield and with a bound."""
        match event:
            case Updated(idle=False):
                self._answered = trio.Event()
            case Updated() | Closed():
                self._answered.set()
        if not isinstance(event, RawData):
            return await super().protocol_send(event)
        async with self.send_lock:
            try:
                with trio.fail_after(WRITE_S):
                    await self.stream.send_all(event.data)
            except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
                await trio.aclose_forcefully(self.stream)
                await self.protocol.handle(Closed())


class Desk:
    """What the connections of one server share: the application, the limits, the word that it is over."""

    def __init__(self, app: Any) -> None:
        self._app = ASGIWrapper(cast("ASGIFramework", app))
        self._config = limits()
        self._context = WorkerContext(None)

    async def serve(self, stream: trio.SocketStream) -> None:
        """One connection, to its end."""
        await Connection(self._app, self._config, self._context, ConnectionState({}), stream)  # type: ignore[arg-type]

    async def close(self) -> None:
        """Let those who wait for a request go at once, and everybody else after the answer that is under way."""
        await self._context.terminated.set()


def limits() -> Config:
    """How Hypercorn reads and answers."""
    config = Config()
    config.accesslog = None
    config.errorlog = logging.getLogger("hypercorn.error")
    config.include_server_header = False
    config.keep_alive_timeout = IDLE_S
    config.read_timeout = None  # it would also cut a client that waits for its answer
    return config
