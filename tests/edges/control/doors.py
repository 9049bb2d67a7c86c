"""A door for tests: the control plane on a real socket and a real ledger, and a process behind it that does as told.

async with open_door(ledger) as door:
    answer = await door.post("/internal/schedules/p/run", token=TOKEN)
"""

import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import h11
import msgspec
import trio

from actors.kit import Context, Hooks
from actors.kit.testing import Probe, VirtualClock, running
from actors.ports import Admitted, Refused
from actors.runs import LiveRun
from pixivflow.config.mask import Secret
from pixivflow.config.model import SchedulerRuntime, Trigger
from pixivflow.control.ports import Identity, Parts
from pixivflow.control.serve import control
from pixivflow.ids import ScheduleId, TargetId
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.owed import OwedLedger
from pixivflow.scheduling.model import Plan
from pixivflow.times import PRODUCTION
from tests.fixtures.slots import HOUR, MINUTE, NOW, A, B, a_plan

TOKEN = "schedule-token-of-the-test"
RUN = "/internal/schedules/p/run"
TAKEN = Admitted("p", "lane", 1, 1_000)
TEN = NOW + 2 * MINUTE
"""Two minutes past the fire of plan `p`, which lives in Shanghai."""


@dataclass
class Behind:
    """The process behind the door, as it is told to be.

    `answer`: of slot_runner; an exception is raised. `meet`: awaited by slot_runner before it answers.
    """

    ledger: Ledger
    plans: dict[ScheduleId, Plan]
    clock: VirtualClock
    probe: Probe = field(default_factory=Probe)
    targets: tuple[TargetId, ...] = (A, B)
    runtime: SchedulerRuntime = field(default_factory=lambda: a_runtime())
    is_leaving: bool = False
    answer: Admitted | Refused | Exception = TAKEN
    meet: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint
    offered: list[str] = field(default_factory=list)
    live: list[LiveRun] = field(default_factory=list)
    body_ms: int = PRODUCTION.body_ms

    async def offer(self, slot: str) -> Admitted | Refused:
        self.offered.append(slot)
        await self.meet()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def has_offered(self) -> None:
        """Until slot_runner has been asked."""
        while not self.offered:
            await trio.lowlevel.checkpoint()

    @property
    def parts(self) -> Parts:
        owing = OwedLedger(self.ledger, lambda: self.live)
        return Parts(
            ledger=self.ledger,
            offer=self.offer,
            plans=lambda: self.plans,
            targets=lambda: self.targets,
            runtime=lambda: self.runtime,
            owed=owing.now,
            leaving=lambda: self.is_leaving,
            identity=Identity(version="1.2.3", commit="abc", pid=4711, started_at=TEN - HOUR),
            clock=self.clock,
            note=self.probe.note,
            body_ms=self.body_ms,
            point=self.probe.point,
        )

    @property
    def hooks(self) -> Hooks:
        return Hooks(clock=self.clock, note=self.probe.note, point=self.probe.point)

    async def rows(self) -> list[dict[str, Any]]:
        """The journal, oldest first."""
        return await self.ledger.read(journal)

    async def slots(self) -> list[str]:
        """Every slot there is."""
        return await self.ledger.read(lambda db: [row[0] for row in db.execute("SELECT id FROM schedule_slots")])


def a_runtime(token: str = TOKEN, *, grace_minutes: int = 90, mode: str = "external") -> SchedulerRuntime:
    """The settings of a process that is triggered from outside."""
    trigger = Trigger(enabled=True, token=Secret(token), grace_minutes=grace_minutes)
    return SchedulerRuntime(mode="internal" if mode == "internal" else "external", trigger=trigger)


def behind(ledger: Ledger, *plans: Plan, **fields: Any) -> Behind:
    """A process with these plans, or with `p` alone, two minutes past ten."""
    found = plans or (a_plan(timezone="Asia/Shanghai"),)
    clock = VirtualClock(TEN - round(trio.current_time() * 1000))
    return Behind(ledger, {plan.id: plan for plan in found}, clock, **fields)


def journal(db: Db) -> list[dict[str, Any]]:
    """The rows of requests, oldest first."""
    cursor = db.execute("SELECT * FROM trigger_requests ORDER BY id")
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@dataclass(frozen=True)
class Answer:
    """What came back on the wire."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Caller:
    """One connection of a client. It may misbehave: `send` and `stream` are the raw ends of it."""

    def __init__(self, stream: trio.SocketStream, host: str) -> None:
        self.stream, self.host = stream, host
        self._wire = h11.Connection(h11.CLIENT)

    async def send(self, raw: bytes) -> None:
        await self.stream.send_all(raw)

    async def ask(
        self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request and its answer; the connection can be used again if the answer says so."""
        given = {"host": self.host, **(headers or {})}
        if body or method == "POST":
            given.setdefault("content-length", f"{len(body)}")
        request = h11.Request(method=method, target=target, headers=list(given.items()))
        await self.send((self._wire.send(request) or b"") + (self._wire.send(h11.Data(data=body)) or b""))
        self._wire.send(h11.EndOfMessage())
        return await self.answer()

    async def answer(self) -> Answer:
        """The next answer. Errors: `EOFError` when the connection ends first."""
        head, data = None, b""
        while True:
            try:
                event = self._wire.next_event()
            except h11.RemoteProtocolError as error:
                raise EOFError from error
            if event is h11.NEED_DATA:
                self._wire.receive_data(await self.stream.receive_some(65_536))
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                data += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                if self._wire.our_state is h11.DONE and self._wire.their_state is h11.DONE:
                    self._wire.start_next_cycle()
                return Answer(head.status_code, {n.decode(): v.decode() for n, v in head.headers}, data)
            elif isinstance(event, h11.ConnectionClosed):
                raise EOFError

    def break_off(self) -> None:
        """End the connection at once, by a reset."""
        self.stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.stream.socket.close()

    async def is_closed(self) -> bool:
        """Whether the other side has closed, waited for."""
        try:
            return await self.stream.receive_some(1) == b""
        except trio.BrokenResourceError:
            return True


@dataclass
class Door:
    """The door at work."""

    behind: Behind
    port: int
    ctx: Context
    over: trio.Event = field(default_factory=trio.Event)

    async def gone(self) -> None:
        """Until this life of the door has ended."""
        await self.over.wait()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @asynccontextmanager
    async def caller(self) -> AsyncIterator[Caller]:
        """A connection of one's own."""
        async with await trio.open_tcp_stream("127.0.0.1", self.port) as stream:
            yield Caller(stream, self.host)

    async def ask(
        self, method: str, target: str, body: bytes = b"", *, token: str | None = None, **headers: str
    ) -> Answer:
        """One request on a connection of its own. `headers`: underscores stand for dashes."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            given["authorization"] = f"Bearer {token}"
        async with self.caller() as caller:
            return await caller.ask(method, target, body, given)

    async def get(self, target: str, **more: Any) -> Answer:
        return await self.ask("GET", target, **more)

    async def post(self, target: str = RUN, body: bytes = b"", *, token: str | None = TOKEN, **more: Any) -> Answer:
        return await self.ask("POST", target, body, token=token, **more)


@asynccontextmanager
async def open_door(process: Behind, address: str = "127.0.0.1") -> AsyncIterator[Door]:
    """The door of `process`, open inside the block, on a port of its own."""
    with socket.socket() as bound:
        bound.bind((address, 0))
        async with door_on(bound, process) as door:
            yield door


@asynccontextmanager
async def door_on(bound: socket.socket, process: Behind) -> AsyncIterator[Door]:
    """One life of the door on a socket that outlives it."""

    over = trio.Event()

    async def live(ctx: Context) -> None:
        await control(ctx, [bound], process.parts)
        over.set()

    async with running(live, process.hooks) as ctx:
        yield Door(process, bound.getsockname()[1], ctx, over)
