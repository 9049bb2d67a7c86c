"""What a transport holds: every place of its pool comes back, whatever interrupts a request."""

import logging
import random
import ssl
from collections import Counter
from functools import partial

import httpx
import pytest
import trio
import trustme

from pixivflow.providers import egress
from pixivflow.providers.addresses import anywhere
from tests.edges.providers.receivers import Behave, Line, answering, hang, receiving

PLACES = 4


def a_transport(**options: object) -> httpx.AsyncBaseTransport:
    known: dict[str, object] = {"allow": anywhere, "keep_alive": True, "connections": PLACES}
    return egress.transport(**(known | options))  # type: ignore[arg-type]


async def fetch(way_out: httpx.AsyncBaseTransport, url: str) -> bytes:
    response = await way_out.handle_async_request(httpx.Request("GET", url))
    try:
        return await response.aread()
    finally:
        with trio.CancelScope(shield=True):
            await response.aclose()


async def all_places_answer(way_out: httpx.AsyncBaseTransport, url: str) -> None:
    """As many requests at once as there are places, and every one of them is answered."""
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            for _ in range(PLACES):
                nursery.start_soon(fetch, way_out, url)


async def restless(way_out: httpx.AsyncBaseTransport, url: str, chance: random.Random, most_s: float) -> Counter[str]:
    """Three times as many requests at once as there are places, each cut at a moment of chance."""
    ended: Counter[str] = Counter()

    async def one() -> None:
        for _ in range(25):
            with trio.move_on_after(chance.random() * most_s) as scope:
                try:
                    await fetch(way_out, url)
                except httpx.TransportError:
                    ended["failed"] += 1
                else:
                    ended["answered"] += 1
            ended["cut"] += scope.cancelled_caught

    async with trio.open_nursery() as nursery:
        for _ in range(3 * PLACES):
            nursery.start_soon(one)
    return ended


async def slowly(line: Line) -> None:
    """Answers in small steps, so that a cut may fall between any two of them; request after request."""
    while True:
        await line.request()
        await trio.sleep(0.001)
        await line.begin(200, 4)
        for piece in (b"so", b"on"):
            await trio.sleep(0.0005)
            await line.more(piece)
        await line.end()
        line.wire.start_next_cycle()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("behave", "most_s"), [(slowly, 0.01), (hang, 0.003)], ids=["slow", "hanging"])
async def test_requests_that_are_cut_at_any_moment_cost_no_place(behave: Behave, most_s: float, seed: int) -> None:
    async with receiving(behave, answering(200, b"well")) as [restless_one, healthy]:
        way_out = a_transport()
        ended = await restless(way_out, restless_one.url(), random.Random(seed), most_s)
        assert ended["cut"] > 30
        await all_places_answer(way_out, healthy.url())
        await way_out.aclose()


async def test_requests_that_are_cut_in_the_middle_of_a_handshake_cost_no_place_and_no_socket(
    tls: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    ours, theirs = tls

    async def serve(stream: trio.SocketStream) -> None:
        try:
            secured = trio.SSLStream(stream, theirs, server_side=True, https_compatible=True)
            await trio.sleep(0.001)
            await secured.do_handshake()
            await secured.receive_some(4_096)
            await secured.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwell")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await trio.aclose_forcefully(stream)

    async with trio.open_nursery() as server:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        url = f"https://localhost:{listener.socket.getsockname()[1]}/"
        with trio.fail_after(20):
            async with trio.open_nursery() as connections:  # left once every connection is closed
                server.start_soon(partial(trio.serve_listeners, serve, [listener], handler_nursery=connections))
                way_out = a_transport(tls=ours)
                ended = await restless(way_out, url, random.Random(3), 0.03)
                assert ended["cut"] > 30
                await all_places_answer(way_out, url)
                await way_out.aclose()
        server.cancel_scope.cancel()


async def test_a_request_that_waits_for_a_place_gets_that_of_one_that_was_cut() -> None:
    async with receiving(hang, answering(200, b"well")) as [hanging, healthy]:
        way_out = a_transport(connections=1)
        got: list[bytes] = []
        cut = trio.CancelScope()

        async def hanging_one() -> None:
            with cut:
                await fetch(way_out, hanging.url())

        async def waiting_one() -> None:
            got.append(await fetch(way_out, healthy.url()))

        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(hanging_one)
                await hanging.arrived.wait()
                nursery.start_soon(waiting_one)
                await trio.testing.wait_all_tasks_blocked(0.02)
                assert got == []
                cut.cancel()
        assert got == [b"well"]
        await way_out.aclose()


async def test_without_keep_alive_every_request_has_a_connection_of_its_own() -> None:
    async with receiving(several, several) as [kept, fresh]:
        keeping, forgetting = a_transport(), a_transport(keep_alive=False)
        for _ in range(3):
            await fetch(keeping, kept.url())
            await fetch(forgetting, fresh.url())
        await keeping.aclose()
        await forgetting.aclose()
    assert (kept.lines, fresh.lines) == (1, 3)


async def several(line: Line) -> None:
    """Request after request on one connection."""
    while True:
        await line.request()
        await line.answer(200, b"well")
        line.wire.start_next_cycle()


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async with receiving(answering(200, b"elsewhere")) as [other]:
        moved = answering(302, b"", [("Location", other.url())])
        async with receiving(moved) as [receiver], httpx.AsyncClient(transport=a_transport()) as client:
            assert (await client.get(receiver.url())).status_code == 302
    assert other.lines == 0


async def test_the_libraries_say_nothing_of_a_request(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with receiving(answering()) as [receiver], httpx.AsyncClient(transport=a_transport()) as client:
        await client.get(receiver.url("/take?token=told-to-nobody"))
    assert "told-to-nobody" not in caplog.text


def test_the_authorities_are_read_once() -> None:
    assert egress.shared_tls() is egress.shared_tls()
    assert egress.shared_tls().verify_mode is ssl.CERT_REQUIRED
    assert egress.shared_tls().check_hostname


@pytest.fixture(scope="module")
def tls() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A client's and a server's side of one authority of the test's own."""
    authority = trustme.CA()
    ours, theirs = ssl.create_default_context(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.configure_trust(ours)
    authority.issue_cert("localhost").configure_cert(theirs)
    return ours, theirs
