"""The door closes in order, whoever stands in it."""

import socket

import pytest
import trio

from pixivflow.control import serve, server
from pixivflow.ledger.interface import Ledger
from tests.edges.control.doors import RUN, TOKEN, Door, behind, door_on, open_door
from tests.edges.control.test_connections import PATIENCE_S, listened, raw
from tests.fixtures.slots import SLOT


@pytest.fixture
def endless_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is only cut when the grace is over, or idles until its time is over, fails the test."""
    monkeypatch.setattr(serve, "GRACE_S", 10 * PATIENCE_S)
    monkeypatch.setattr(server, "IDLE_S", 10 * PATIENCE_S)
    monkeypatch.setattr(server, "WRITE_S", 10 * PATIENCE_S)


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever cannot be cut fails the test."""
    monkeypatch.setattr(serve, "GRACE_S", 0.2)
    monkeypatch.setattr(server, "IDLE_S", 10 * PATIENCE_S)
    monkeypatch.setattr(server, "WRITE_S", 10 * PATIENCE_S)


@pytest.mark.usefixtures("endless_grace")
@pytest.mark.parametrize("target", ["/health", "/status", "/nowhere"])
async def test_connections_that_idle_are_closed_at_once(ledger: Ledger, target: str) -> None:
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery, open_door(behind(ledger)) as door:
            for _ in range(20):
                await nursery.start(idle, door, target)
            door.ctx.stop()  # some are between two requests, and some in one


async def idle(door: Door, target: str, *, task_status: trio.TaskStatus[None]) -> None:
    """Ask twice, and wait for the end of the connection."""
    async with door.caller() as caller:
        try:
            await caller.ask("GET", target, headers={"authorization": f"Bearer {TOKEN}"})
            task_status.started()
            await caller.ask("GET", target, headers={"authorization": f"Bearer {TOKEN}"})
        except (EOFError, trio.BrokenResourceError):
            return  # it was told to stop in between
        assert await caller.is_closed()


@pytest.mark.usefixtures("endless_grace")
@pytest.mark.parametrize("sent", [b"", b"GET /heal", b"POST /x HTTP/1.1\r\nhost: y\r\n"])
async def test_whoever_has_not_asked_yet_is_closed_at_once(ledger: Ledger, sent: bytes) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door, door.caller() as first, door.caller() as caller:
            if sent:
                await caller.send(sent)
            await first.ask("GET", "/health")
            door.ctx.stop()
            assert await caller.is_closed()


@pytest.mark.usefixtures("short_grace")
async def test_half_a_body_is_cut_when_the_grace_is_over(ledger: Ledger) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            await caller.send(raw(caller, "content-length: 20", body=b'{"label"'))
            await process.probe.until("schedule.trigger_received")
            door.ctx.stop()
            assert await caller.is_closed()
    assert await process.slots() == []


@pytest.mark.usefixtures("short_grace")
async def test_a_client_that_does_not_read_cannot_hold_the_stop(ledger: Ledger) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door, door.caller() as caller:
            request = f"GET /health HTTP/1.1\r\nhost: {door.host}\r\n\r\n".encode() * 500
            with trio.move_on_after(1):
                while True:  # until both sides have nowhere to put anything
                    await caller.send(request)
            door.ctx.stop()
            await door.gone()


@pytest.mark.usefixtures("endless_grace")
async def test_an_answer_that_is_under_way_is_given(ledger: Ledger) -> None:
    process = behind(ledger)
    released = trio.Event()
    process.meet = released.wait
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            await caller.send(raw(caller, "content-length: 0"))
            await process.has_offered()
            door.ctx.stop()
            released.set()
            assert (await caller.answer()).status == 202
            assert await caller.is_closed()


@pytest.mark.usefixtures("short_grace")
async def test_an_answer_that_takes_too_long_is_cut_and_its_slot_stays(ledger: Ledger) -> None:
    process = behind(ledger)
    process.meet = trio.sleep_forever
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            await caller.send(raw(caller, "content-length: 0"))
            await process.has_offered()
            door.ctx.stop()
            assert await listened(caller) == b""
    assert await process.slots() == [SLOT]
    assert [row["http_status"] for row in await process.rows()] == [0]


async def test_who_comes_between_two_lives_is_served_by_the_second(ledger: Ledger) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S), socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        async with door_on(bound, process) as door:
            assert (await door.get("/health")).status == 200
        async with door.caller() as caller:
            await caller.send(raw(caller, "content-length: 0"))
            async with door_on(bound, process):
                assert (await caller.answer()).status == 202


async def test_the_port_is_free_once_the_sockets_owner_lets_it_go(ledger: Ledger) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door:
            assert (await door.get("/health")).status == 200
        with pytest.raises(OSError):
            await trio.open_tcp_stream("127.0.0.1", door.port)
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", door.port))


async def test_what_was_counted_is_written_down_before_the_door_is_closed(ledger: Ledger) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door:
            for _ in range(3):
                assert (await door.post(token="wrong")).status == 401
    assert [(row["disposition"], row["count"]) for row in await process.rows()] == [("unauthorized", 3)]


async def test_the_open_routes_answer_before_quart_is_there_and_whoever_wants_more_waits(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from threading import Event

    build, held = serve._build, Event()

    def slow(*args: object) -> object:
        assert held.wait(PATIENCE_S)
        return build(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(serve, "_build", slow)
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door, door.caller() as caller:
            await caller.send(raw(caller, "content-length: 0"))
            for target in ("/health", "/version"):
                assert (await door.get(target)).status == 200
            assert (await door.ask("POST", "/health")).status == 405
            held.set()
            assert (await caller.answer()).status == 202


async def test_an_error_of_the_door_itself_is_an_answer_too(ledger: Ledger) -> None:
    process = behind(ledger)
    process.plans = None  # type: ignore[assignment]
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door:
            answer = await door.get("/internal/schedules", token=TOKEN)
            assert (answer.status, answer.json) == (500, {"status": "error", "error": "internal error"})
            answer = await door.post(RUN)
            assert answer.status == 500
            assert (await door.get("/health")).status == 200
    assert len(process.probe.heard("control.failed")) == 1
