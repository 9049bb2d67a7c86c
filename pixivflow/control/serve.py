"""The door as an actor: it listens on sockets that are bound already, and closes in order.

    told to stop ─> no more connections ─> those that wait are closed ─> those that are answered get `GRACE_S` ─> cut
                                                                     └─> counts are written down

Each life works on copies of the sockets, so a restart finds them open; while nobody serves, callers wait in their
backlog.
A client that idles, does not read, or sent half a request cannot hold the stop.
"""

import socket
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import msgspec
import trio

from actors.kit import Context, unwrapped
from pixivflow.control.front import App, Front
from pixivflow.control.ports import Identity, Parts
from pixivflow.control.refusals import Refusals, prune_daily
from pixivflow.control.server import Desk
from pixivflow.control.wire import HealthReply, VersionReply

GRACE_S: Final = 1.0
"""What an answer that is under way gets when the door closes."""

CONNECTIONS_MAX: Final = 256
"""Who comes beyond that waits in the backlog."""

BACKLOG: Final = 128

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


async def control(ctx: Context, sockets: Sequence[socket.socket], parts: Parts) -> None:
    """Serve until told to stop. `sockets`: bound; they stay the caller's."""
    parts, refusals = replace(parts, point=ctx.point), Refusals(parts.ledger)
    front = Front(open_answers(parts.identity), served_hosts(sockets), ctx.note)
    async with trio.open_nursery() as beside:
        beside.start_soon(refusals.keep, ctx)
        beside.start_soon(prune_daily, ctx, parts.ledger)
        beside.start_soon(front.load, partial(_build, parts, refusals))
        await listen(ctx, sockets, Desk(front))
        beside.cancel_scope.cancel()
    await refusals.flush(ctx)


async def listen(ctx: Context, sockets: Sequence[socket.socket], desk: Desk) -> None:
    """Take connections until told to stop, and let those that there are end."""
    places = trio.Semaphore(CONNECTIONS_MAX)
    async with trio.open_nursery() as connections:
        async with trio.open_nursery() as listening:
            listeners = [Bounded(listener_on(each), places) for each in sockets]
            serve_one = partial(_serve_one, ctx, desk, places)
            listening.start_soon(partial(trio.serve_listeners, serve_one, listeners, handler_nursery=connections))
            ctx.started()
            await ctx.wait_stopping()
            listening.cancel_scope.cancel()
        await desk.close()
        connections.cancel_scope.deadline = trio.current_time() + GRACE_S


class Bounded(trio.abc.Listener[trio.SocketStream]):
    """A listener that takes nobody in for whom there is no place."""

    def __init__(self, inner: trio.SocketListener, places: trio.Semaphore) -> None:
        self._inner, self._places = inner, places

    async def accept(self) -> trio.SocketStream:
        await self._places.acquire()
        try:
            return await self._inner.accept()
        except BaseException:
            self._places.release()
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _serve_one(ctx: Context, desk: Desk, places: trio.Semaphore, stream: trio.SocketStream) -> None:
    """One connection. Whatever goes wrong in it is its own end and nobody else's."""
    try:
        await desk.serve(stream)
    except* Exception as group:  # a cancellation beside it goes on upward
        ctx.note("control.connection_failed", error=unwrapped(group))
    finally:
        places.release()


def listener_on(bound: socket.socket) -> trio.SocketListener:
    """A listener of our own on a socket that stays the caller's."""
    bound.listen(BACKLOG)
    copy = bound.dup()
    return trio.SocketListener(trio.socket.from_stdlib_socket(copy))


def served_hosts(sockets: Sequence[socket.socket]) -> frozenset[bytes] | None:
    """The values of `Host` that are served: if everybody who can reach us is on this machine, only this machine's."""
    places = [each.getsockname()[:2] if each.family != socket.AF_UNIX else ("", 0) for each in sockets]
    if not all(address.startswith("127.") or address == "::1" for address, _ in places):
        return None
    return frozenset(f"{name}:{port}".encode() for address, port in places for name in (address, *LOOPBACK_NAMES))


def open_answers(identity: Identity) -> dict[str, bytes]:
    """What everybody may read, and what does not change while we live."""
    version, commit = identity.version, identity.commit
    return {
        "/health": msgspec.json.encode(HealthReply(version=version, commit=commit)),
        "/version": msgspec.json.encode(VersionReply(version=version, commit=commit)),
    }


def _build(parts: Parts, refusals: Refusals) -> App:
    from pixivflow.control.app import build  # Quart: it takes a fifth of a second

    return build(parts, refusals)
