"""The sandbox behind a transport without sockets, so that waits cost nothing under a virtual clock, and an account
that asks it."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import httpx
import msgspec
import trio

from actors.kit import Clock
from actors.kit.testing import Probe, VirtualClock
from pixivflow.config.mask import Secret
from pixivflow.config.model import Endpoints, Network, Pixiv, Target
from pixivflow.errors import Unavailable
from pixivflow.pixiv.source import PixivSource, source
from pixivflow.sandbox.hosts import local_bases
from pixivflow.sandbox.message import Reply
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.spoil import Ending, Wire
from pixivflow.sandbox.tokens import Refresh
from pixivflow.times import PRODUCTION
from tests.fixtures.sandboxes import MANUAL, Asker

PORT = 8_000
VALID, ROTATING, REVOKED = "rt-valid-token", "rt-rotating-token", "rt-revoked-token"


class Body(httpx.AsyncByteStream):
    """A body as the sandbox's wire would send it: whole, cut, reset, or for ever about to come."""

    def __init__(self, played: "Played", reply: Reply, wire: Wire) -> None:
        self._played, self._reply, self._wire = played, reply, wire
        played.open += 1
        played.most_at_once = max(played.most_at_once, played.open)

    async def aclose(self) -> None:
        self._played.open -= 1

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body, cut = self._reply.body, self._wire.cut_at
        for start in range(0, len(body[:cut]), 65_536):
            await trio.lowlevel.checkpoint()
            yield body[:cut][start : start + 65_536]
        if cut is None and (self._wire.length or 0) <= len(body):
            return
        if self._wire.ending is Ending.STALLED:
            await trio.sleep_forever()
        raise httpx.RemoteProtocolError("peer closed connection")


class Played(httpx.AsyncBaseTransport):
    """Hands every request to a sandbox. `sent`: what left, with the instant in seconds."""

    def __init__(self, clock: Clock, options: Options = MANUAL) -> None:
        self.ask, self.clock = Asker(options, PORT), clock
        self.sent: list[tuple[float, httpx.Request]] = []
        self.edit: Callable[[str, bytes], bytes] = lambda path, body: body
        """What becomes of a body, by the path of its request, before it is sent."""
        self.open = self.most_at_once = 0
        """Bodies that are being read now, and how many were at most."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append((trio.current_time(), request))
        await trio.lowlevel.checkpoint()
        if request.url.host != "127.0.0.1":
            raise AssertionError("a request left for another host")
        self.ask.service.state.clock.set(self.clock.now_ms())
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = self.ask.exchange(request.method, str(request.url), await request.aread(), headers)
        wire = answer.wire
        reply = msgspec.structs.replace(answer.reply, body=self.edit(request.url.path, answer.reply.body))
        if wire.is_silent and wire.ending is Ending.STALLED:
            await trio.sleep_forever()
        if wire.is_silent:
            raise httpx.ReadError("connection reset")
        length = len(reply.body) if wire.length is None else wire.length
        told = [*reply.headers, ("Content-Length", str(length))]
        return httpx.Response(reply.status, headers=told, stream=Body(self, reply, wire))

    def fault(self, name: str, *, match: Mapping[str, Any] | None = None, count: int = 0, **args: Any) -> None:
        """Break the sandbox: a rule of its control surface."""
        self.ask.tell("/faults", {"fault": name, "match": match or {}, "count": count, "args": args})

    def paths(self, part: str = "") -> list[str]:
        """The paths of what was sent, those that hold `part`."""
        return [request.url.path for _, request in self.sent if part in request.url.path]

    def times(self, part: str) -> list[float]:
        return [round(at, 3) for at, request in self.sent if part in request.url.path]


class Rows:
    """`Vault` and `GateRows` in memory. `full`: nothing can be written."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.gates: dict[str, str] = {}
        self.full = False

    async def read(self, key: str) -> str | None:
        await trio.lowlevel.checkpoint()
        return self.values.get(key)

    async def keep(self, values: Mapping[str, str], now: int) -> None:
        await self._written()
        self.values.update(values)

    async def load(self, scope: str) -> str | None:
        await trio.lowlevel.checkpoint()
        return self.gates.get(scope)

    async def save(self, scope: str, state: str, now: int) -> None:
        await self._written()
        self.gates[scope] = state

    async def _written(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.full:
            raise Unavailable("no room")


class Stage:
    """One account before one sandbox. `again` is the same account in the next life of the process."""

    def __init__(self, *, token: str = VALID, pacing_ms: int | None = 0, retries: int = 3, **extra: Any) -> None:
        self.clock, self.probe, self.rows = VirtualClock(), Probe(), Rows()
        self.played = Played(self.clock)
        known = self.played.ask.service.state.tokens.refresh
        known.update({VALID: Refresh(), ROTATING: Refresh(rotates=True), REVOKED: Refresh(is_revoked=True)})
        self.network = Network(retries=retries, request_pacing_ms=pacing_ms)
        self.extra, self.token = extra, token
        self.source = self.again()

    def again(self, token: str | None = None) -> PixivSource:
        bases = local_bases(PORT)
        endpoints = Endpoints(api=bases.app, oauth=bases.oauth, web=bases.web, image=bases.img)
        return source(
            Pixiv(refresh_token=Secret(token or self.token), endpoints=endpoints),
            self.network,
            self.played,
            vault=self.rows,
            gates=self.rows,
            clock=self.clock,
            note=self.probe.note,
            page_delay_ms=500,
            timings=PRODUCTION,
            **self.extra,
        )


def a_search(**fields: Any) -> Target:
    known: dict[str, Any] = {"type": "illustration", "tag": "dup", "r18": True}
    return Target(**(known | fields))
