"""One client cannot hold the door, whatever it does with its connection, and cannot close it for the others."""

from contextlib import suppress

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pixivflow.control import app, serve, server
from pixivflow.ledger.interface import Ledger
from tests.edges.control.doors import RUN, TOKEN, Caller, behind, open_door
from tests.fixtures.slots import SLOT

PATIENCE_S = 30.0
"""Far more than anything here takes; only a fault waits so long."""

REQUEST = f"POST {RUN} HTTP/1.1\r\nhost: {{host}}\r\nauthorization: Bearer {TOKEN}\r\n"


def raw(caller: Caller, *more: str, body: bytes = b"") -> bytes:
    """A trigger as bytes, with further header lines."""
    return (REQUEST.format(host=caller.host) + "".join(f"{line}\r\n" for line in more) + "\r\n").encode() + body


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds in production takes a third of one here."""
    monkeypatch.setattr(server, "IDLE_S", 0.3)
    monkeypatch.setattr(server, "WRITE_S", 0.3)


async def test_a_connection_is_used_again_and_closed_when_it_idles(ledger: Ledger) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door, door.caller() as caller:
            for _ in range(3):
                assert (await caller.ask("GET", "/status", headers={"authorization": f"Bearer {TOKEN}"})).status == 200
            assert await caller.is_closed()


@pytest.mark.parametrize("sent", [b"", b"POST /internal/sch", b"GET /health HTTP/1.1\r\nhost: x\r\n"])
async def test_a_connection_that_says_nothing_or_half_a_header_is_closed(ledger: Ledger, sent: bytes) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door, door.caller() as caller:
            if sent:
                await caller.send(sent)
            assert await caller.is_closed()


async def test_a_body_that_does_not_come_is_answered_408_and_opens_nothing(ledger: Ledger) -> None:
    process = behind(ledger, body_ms=300)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            await caller.send(raw(caller, "content-length: 20", body=b'{"label"'))
            answer = await listened(caller)
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b'{"status":"error","error":"the body did not come"}' in answer
            assert await process.slots() == []
            assert [row["http_status"] for row in await process.rows()] == [408]


async def send_until_cut(caller: Caller, piece: bytes) -> None:
    """Send it again and again, for as long as the other side has not closed."""
    try:
        while True:
            await caller.send(piece)
    except trio.BrokenResourceError:
        return


async def listened(caller: Caller) -> bytes:
    """Everything that comes until the connection ends."""
    heard = b""
    with suppress(trio.BrokenResourceError):
        while piece := await caller.stream.receive_some(65_536):
            heard += piece
    return heard


async def test_after_a_body_that_was_too_large_the_connection_is_used_again(ledger: Ledger) -> None:
    process = behind(ledger)
    headers = {"authorization": f"Bearer {TOKEN}"}
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            for size in (app.BODY_MAX + 1, 900_000):
                answer = await caller.ask("POST", RUN, b" " * size, headers)
                assert (answer.status, answer.json["status"]) == (413, "error")
            answer = await caller.ask("POST", RUN, b" " * app.BODY_MAX, headers)
            assert answer.status == 202


async def test_a_chunked_body_is_counted_as_it_comes(ledger: Ledger) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            await caller.send(raw(caller, "transfer-encoding: chunked"))
            for _ in range(30):
                await caller.send(b"1000\r\n" + b" " * 4_096 + b"\r\n")
            await caller.send(b"0\r\n\r\n")
            assert (await caller.stream.receive_some(65_536)).startswith(b"HTTP/1.1 413 ")
            assert await process.slots() == []


async def test_a_body_without_end_is_cut(ledger: Ledger) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger, body_ms=10_000 * PATIENCE_S)) as door, door.caller() as caller:
            await caller.send(raw(caller, "transfer-encoding: chunked"))
            await send_until_cut(caller, b"10000\r\n" + b" " * 65_536 + b"\r\n")
            assert (await door.post()).status == 202


async def test_a_client_that_does_not_read_is_given_up_and_hinders_nobody(ledger: Ledger) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            caller.stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4_096)
            request = f"GET /health HTTP/1.1\r\nhost: {door.host}\r\n\r\n".encode() * 500
            await send_until_cut(caller, request)
            assert (await door.get("/health")).status == 200


async def test_requests_that_come_at_once_are_answered_in_their_order(ledger: Ledger) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            asked = ["/health", "/status", "/nowhere", "/version"]
            lines = [
                f"GET {path} HTTP/1.1\r\nhost: {door.host}\r\nauthorization: Bearer {TOKEN}\r\n\r\n" for path in asked
            ]
            await caller.send("".join(lines).encode())
            heard = b""
            while heard.count(b"HTTP/1.1 ") < 4 or b'"pixivflow"' not in heard:
                heard += await caller.stream.receive_some(65_536)
            assert [part[:3] for part in heard.split(b"HTTP/1.1 ")[1:]] == [b"200", b"200", b"404", b"200"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
async def test_on_a_loopback_address_another_name_is_nobody(ledger: Ledger, host: str) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door:
            answer = await door.post(host=host.format(port=door.port))
            assert (answer.status, answer.json) == (404, {"status": "error", "error": "unknown host"})
            assert (await door.get("/health", host=host.format(port=door.port))).status == 404
            assert await process.slots() == []


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}"])
async def test_this_machines_own_names_are_served(ledger: Ledger, host: str) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door:
            assert (await door.get("/health", host=host.format(port=door.port))).status == 200


async def test_on_an_address_that_others_reach_every_name_is_served(ledger: Ledger) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger), address="0.0.0.0") as door:  # noqa: S104 - what is tested
            assert (await door.get("/health", host="pixivflow.internal")).status == 200


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET /health HTTP/1.1\r\nhost: \xff\xfe\r\n\r\n", id="a host that is no text"),
        pytest.param(b"GET /health HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", id="two hosts"),
        pytest.param(b"GET /health HTTP/1.1\r\n\r\n", id="no host"),
        pytest.param(b"G\xc3T / HTTP/1.1\r\nhost: x\r\n\r\n", id="a method that is no text"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), id="HTTP/2"),
        pytest.param(
            b"GET /health HTTP/1.1\r\nhost: {host}\r\nupgrade: \xff\r\nconnection: upgrade\r\n\r\n", id="upgrade"
        ),
        pytest.param(b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", id="a path without end"),
        pytest.param(
            b"POST /health HTTP/1.1\r\nhost: {host}\r\ncontent-length: -1\r\n\r\n", id="a length below nothing"
        ),
        pytest.param(
            b"POST /health HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n", id="a broken chunk"
        ),
        pytest.param(
            b"GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
            id="half a websocket",
        ),
        pytest.param(
            b"GET /health HTTP/1.1\r\nhost: {host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            id="a websocket",
        ),
    ],
)
async def test_whatever_one_client_sends_the_next_one_is_served(ledger: Ledger, sent: bytes) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door:
            async with door.caller() as caller:
                await caller.send(sent.replace(b"{host}", caller.host.encode()))
                heard = b""
                with trio.move_on_after(1):
                    heard = await caller.stream.receive_some(65_536)
                assert b"HTTP/2" not in heard
                assert b"101" not in heard[:15]
                assert b"<html" not in heard.lower()
            assert (await door.get("/health")).status == 200


async def test_an_offer_of_another_protocol_is_answered_in_this_one(ledger: Ledger) -> None:
    upgrade = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2-settings": "AAMAAABkAAQAAP__"}
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door, door.caller() as caller:
            assert (await caller.ask("GET", "/health", headers=upgrade)).status == 200


async def test_an_error_in_one_connection_is_the_end_of_that_one(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, usual = behind(ledger), server.Connection._read_data
    fates = iter([RuntimeError("broken")])

    async def read(self: server.Connection) -> None:
        if (fate := next(fates, None)) is not None:
            raise fate
        await usual(self)

    monkeypatch.setattr(server.Connection, "_read_data", read)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door:
            async with door.caller() as caller:
                assert await caller.is_closed()
            assert (await door.get("/health")).status == 200
    assert [each["error"] for each in process.probe.heard("control.connection_failed")] == ["RuntimeError('broken')"]


async def test_no_answer_names_the_server(ledger: Ledger) -> None:
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door:
            for target in ("/health", "/status", "/nowhere"):
                assert "server" not in (await door.get(target)).headers


async def test_who_comes_when_every_place_is_taken_waits_and_is_served(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "CONNECTIONS_MAX", 3)
    monkeypatch.setattr(server, "IDLE_S", 60)
    with trio.fail_after(PATIENCE_S):
        async with open_door(behind(ledger)) as door:
            streams = [await trio.open_tcp_stream("127.0.0.1", door.port) for _ in range(3)]
            async with door.caller() as late:
                with trio.move_on_after(0.3) as waited:
                    await late.ask("GET", "/health")
                assert waited.cancelled_caught
                await streams.pop().aclose()
                assert (await late.answer()).status == 200
            for stream in streams:
                await stream.aclose()


@pytest.mark.parametrize(
    ("version", "more"),
    [("1.1", ()), ("1.1", ("connection: close",)), ("1.0", ()), ("1.0", ("connection: keep-alive",))],
)
async def test_a_caller_who_says_no_more_still_gets_its_answer(
    ledger: Ledger, version: str, more: tuple[str, ...]
) -> None:
    process = behind(ledger)

    heard_no_more = trio.Event()
    process.meet = heard_no_more.wait
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            request = raw(caller, "content-length: 0", *more).replace(b"HTTP/1.1", f"HTTP/{version}".encode(), 1)
            await caller.send(request)
            await process.has_offered()
            await caller.stream.send_eof()
            await wait_all_tasks_blocked(0.01)
            heard_no_more.set()
            assert (await listened(caller)).startswith(b"HTTP/1.1 202 ")
    assert [(row["disposition"], row["http_status"]) for row in await process.rows()] == [("accepted", 202)]


async def test_who_stops_in_the_middle_of_a_request_has_gone_and_leaves_a_row_that_says_so(ledger: Ledger) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            await caller.send(raw(caller, "content-length: 20", body=b'{"label"'))
            await caller.stream.send_eof()
            await listened(caller)
            while not (rows := await process.rows()):
                await trio.lowlevel.checkpoint()
    assert await process.slots() == []
    assert [(row["disposition"], row["http_status"], row["reason"]) for row in rows] == [("error", 0, "caller_gone")]


async def test_a_caller_who_breaks_off_while_it_waits_leaves_one_row_and_its_slot(ledger: Ledger) -> None:
    process = behind(ledger)
    process.meet = trio.sleep_forever
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            await caller.send(raw(caller, "content-length: 0"))
            await process.has_offered()
            caller.break_off()
            while [row["reason"] for row in await process.rows()] != ["caller_gone"]:
                await trio.lowlevel.checkpoint()
    assert await process.slots() == [SLOT]


@pytest.mark.parametrize(
    "sent", [b"GARBAGE\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n"]
)
async def test_a_first_request_that_is_none_is_refused_without_a_line_of_the_log(ledger: Ledger, sent: bytes) -> None:
    process = behind(ledger)
    with trio.fail_after(PATIENCE_S):
        async with open_door(process) as door, door.caller() as caller:
            await caller.send(sent)
            await caller.stream.send_eof()
            await listened(caller)
            assert (await door.get("/health")).status == 200
    assert process.probe.heard("control.connection_failed") == []
