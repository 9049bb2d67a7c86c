"""What stands before Quart, asked as a server asks an application."""

from collections import deque
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from actors.kit.testing import Probe
from pixivflow.control.front import App, Front, LastWord, Message, error_body

ANSWERS = {"/health": b'{"status":"ok"}'}
GONE: Message = {"type": "http.disconnect"}


QUEUE = 10
"""How much a server keeps for an application that does not listen."""


class Wire:
    """A server's two channels: what the client sent, and what went out. After the last piece comes the disconnect."""

    def __init__(self, *sent: Message) -> None:
        self._sent, self.out = deque(sent), list[Message]()
        self._last, self._has_place = trio.Event(), trio.Event()
        self._make_place()

    def _make_place(self) -> None:
        if len(self._sent) <= QUEUE:
            self._has_place.set()

    async def receive(self) -> Message:
        if self._sent:
            await trio.lowlevel.checkpoint()
            message = self._sent.popleft()
            self._make_place()
            return message
        await self._last.wait()
        return GONE

    async def send(self, message: Message) -> None:
        await trio.lowlevel.checkpoint()
        self.out.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            await self._has_place.wait()  # the disconnect comes behind what the client has sent
            self._last.set()
            await trio.testing.wait_all_tasks_blocked()  # as a server that recycles the connection meanwhile
            self.out.append({"type": "recycled"})

    @property
    def status(self) -> int:
        return int(self.out[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.out)


def scope(path: str, method: str = "GET", host: bytes = b"127.0.0.1:80", kind: str = "http") -> dict[str, Any]:
    return {"type": kind, "path": path, "method": method, "headers": [(b"Host", host)]}


def a_front(app: App | None = None, hosts: frozenset[bytes] | None = None, probe: Probe | None = None) -> Front:
    front = Front(ANSWERS, hosts, (probe or Probe()).note)
    if app is not None:
        front._app = app
    return front


async def test_an_open_route_is_answered_although_the_client_goes_on_sending(autojump_clock: MockClock) -> None:
    wire = Wire(*[{"type": "http.request", "body": b"x", "more_body": True}] * 50)
    with trio.fail_after(60):
        await a_front()(scope("/health"), wire.receive, wire.send)
    assert (wire.status, wire.body) == (200, b'{"status":"ok"}')


async def test_an_application_is_waited_for_and_then_asked() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await LastWord(receive, send).say(200, b"late")

    front, wire = a_front(), Wire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(front, scope("/status"), wire.receive, wire.send)
        await trio.testing.wait_all_tasks_blocked()
        assert wire.out == []
        await front.load(lambda: app)
    assert (wire.status, wire.body) == (200, b"late")


async def test_an_application_that_cannot_be_built_is_said_to_whoever_runs_the_door() -> None:
    def build() -> App:
        raise ImportError("quart")

    with pytest.raises(ImportError):
        await a_front().load(build)


async def cancelling(scope: Any, receive: Any, send: Any) -> None:
    """An application as Quart-Trio's: it cancels its answer once it hears that the client has gone."""

    async def hear() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hear)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"all of it"})
        nursery.cancel_scope.cancel()


async def test_the_end_of_an_answer_is_not_mistaken_for_the_clients_going() -> None:
    wire = Wire()
    await a_front(cancelling)(scope("/status"), wire.receive, wire.send)
    assert wire.out[-1] == {"type": "recycled"}


async def test_a_client_that_goes_before_the_answer_is_heard() -> None:
    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "http.disconnect"
        raise trio.ClosedResourceError

    probe, wire = Probe(), Wire(GONE)
    await a_front(waiting, probe=probe)(scope("/status"), wire.receive, wire.send)
    assert len(probe.heard("control.failed")) == 1


@pytest.mark.parametrize("begun", [False, True])
async def test_an_error_is_answered_flat_if_nothing_has_been_answered_yet(begun: bool) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ExceptionGroup("as nurseries raise them", [RuntimeError("broken")])

    probe, wire = Probe(), Wire()
    await a_front(broken, probe=probe)(scope("/status"), wire.receive, wire.send)
    [said] = probe.heard("control.failed")
    assert (said["path"], said["error"]) == ("/status", "RuntimeError('broken')")
    assert wire.out[0]["status"] == (200 if begun else 500)
    assert wire.body == (b"" if begun else error_body("internal error"))


async def test_a_websocket_is_closed() -> None:
    wire = Wire()
    await a_front()(scope("/health", kind="websocket"), wire.receive, wire.send)
    assert wire.out == [{"type": "websocket.close"}]


@pytest.mark.parametrize(
    ("host", "status"), [(b"127.0.0.1:80", 200), (b"LOCALHOST:80", 200), (b"evil:80", 404), (b"\xff\xfe", 404)]
)
async def test_only_the_named_hosts_are_served(host: bytes, status: int) -> None:
    wire = Wire()
    front = a_front(hosts=frozenset({b"127.0.0.1:80", b"localhost:80"}))
    await front(scope("/health", host=host), wire.receive, wire.send)
    assert wire.status == status


async def test_two_hosts_are_none() -> None:
    wire = Wire()
    asked = scope("/health") | {"headers": [(b"host", b"a:1"), (b"host", b"a:1")]}
    await a_front(hosts=frozenset({b"a:1"}))(asked, wire.receive, wire.send)
    assert wire.status == 404
