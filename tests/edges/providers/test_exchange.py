"""One request over a real line: an answer of bounded size, or the truth about why there is none."""

import gzip
import zlib
from collections.abc import Sequence

import httpx
import pytest
import trio

from pixivflow.delivery.faults import Raised, Signal
from pixivflow.providers import egress
from pixivflow.providers.addresses import anywhere, public_only
from pixivflow.providers.bodies import Body, LocalFault
from pixivflow.providers.exchange import ANSWER_BYTES, Answer, Call, exchange
from tests.edges.providers.receivers import (
    Behave,
    Line,
    answering,
    drip,
    endless,
    half_an_answer,
    hang,
    hang_up,
    receiving,
    reset,
    reset_in_the_body,
)

BIG = Body.of(b"x" * 8_000_000)


async def asked(url: str, *, timeout_ms: int = 5_000, body: Body | None = None, **options: object) -> Answer | Raised:
    """One exchange on a transport of its own."""
    known: dict[str, object] = {"allow": anywhere, "keep_alive": False}
    way_out = egress.transport(**(known | options))  # type: ignore[arg-type]
    call = Call(method="POST", url=url, body=body or Body.of(b"{}"), timeout_ms=timeout_ms)
    try:
        with trio.fail_after(10):
            return await exchange(way_out, call)
    finally:
        await way_out.aclose()


async def met(behave: Behave, **options: object) -> Answer | Raised:
    async with receiving(behave) as [receiver]:
        return await asked(receiver.url(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [200, 204, 301, 400, 409, 429, 500, 502])
async def test_any_status_is_an_answer(status: int) -> None:
    body = b"" if status == 204 else b'{"a": 1}'
    found = await met(answering(status, body, [("X-Told", "so")]))
    assert isinstance(found, Answer)
    assert (found.status, found.body, found.headers["x-told"]) == (status, body, "so")


async def test_a_request_says_who_asks_and_takes_no_packed_answer() -> None:
    async with receiving(answering()) as [receiver]:
        await asked(receiver.url())
        [arrival] = receiver.arrivals
    assert arrival.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert arrival.headers["user-agent"].startswith("pixivflow/")
    assert arrival.headers["accept-encoding"] == "identity"
    assert arrival.headers["content-length"] == "2"


async def test_a_login_in_the_url_is_sent_as_such_and_not_as_part_of_the_host() -> None:
    async with receiving(answering()) as [receiver]:
        await asked(f"http://me:p%40ss@127.0.0.1:{receiver.port}/")
        [arrival] = receiver.arrivals
    assert arrival.headers["authorization"] == "Basic bWU6cEBzcw=="
    assert arrival.headers["host"] == f"127.0.0.1:{receiver.port}"


async def test_a_redirect_is_an_answer_and_nobody_is_asked_twice() -> None:
    async with receiving(answering()) as [other]:
        found = await met(answering(307, b"", [("Location", other.url())]))
    assert isinstance(found, Answer)
    assert found.status == 307
    assert other.lines == 0


async def test_a_cookie_is_not_kept_for_anybody() -> None:
    async with receiving(answering(200, b"", [("Set-Cookie", "a=b")])) as [receiver]:
        way_out = egress.transport(allow=anywhere, keep_alive=False)
        for _ in range(2):
            await exchange(way_out, Call(method="GET", url=receiver.url(), body=Body(), timeout_ms=5_000))
        await way_out.aclose()
    assert all("cookie" not in arrival.headers for arrival in receiver.arrivals)


# --- no answer ---


async def refusing_port() -> int:
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        return int(listener.socket.getsockname()[1])


async def test_a_receiver_that_is_not_there_got_nothing() -> None:
    found = await asked(f"http://127.0.0.1:{await refusing_port()}/")
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left, found.http_status) == (Signal.TRANSPORT, False, None)


async def test_a_name_that_does_not_exist_got_nothing() -> None:
    async def nowhere(_host: str, _port: int) -> Sequence[str]:
        raise OSError("no such name")

    found = await asked("http://nowhere.test/", resolve=nowhere)
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left) == (Signal.TRANSPORT, False)


async def test_a_connection_that_never_stands_got_nothing_and_ends_in_time() -> None:
    async def hanging(_host: str, _port: int) -> Sequence[str]:
        await trio.sleep_forever()
        raise AssertionError

    found = await asked("http://slow.test/", timeout_ms=30, resolve=hanging)
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left) == (Signal.TIMEOUT, False)


async def test_a_host_that_does_not_speak_tls_got_nothing() -> None:
    async with receiving(answering()) as [receiver]:
        found = await asked(f"https://127.0.0.1:{receiver.port}/")
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left) == (Signal.TRANSPORT, False)


@pytest.mark.parametrize(
    "behave",
    [hang_up, reset, half_an_answer, reset_in_the_body],
    ids=["hangs up", "resets", "gives half an answer", "resets in the middle of the request"],
)
async def test_a_receiver_that_breaks_off_may_have_got_everything(behave: Behave) -> None:
    found = await met(behave, body=BIG)
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left, found.http_status) == (Signal.TRANSPORT, True, None)


@pytest.mark.parametrize("behave", [hang, drip], ids=["hangs", "drips"])
async def test_a_receiver_that_takes_too_long_may_have_got_everything(behave: Behave) -> None:
    found = await met(behave, timeout_ms=400)
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left) == (Signal.TIMEOUT, True)


async def test_what_is_no_http_is_no_answer() -> None:
    async def babble(line: Line) -> None:
        await line.request()
        await line.stream.send_all(b"220 mail.test ESMTP\r\n")

    found = await met(babble)
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left) == (Signal.TRANSPORT, True)


async def test_a_receiver_that_refuses_before_it_has_read_everything_has_answered() -> None:
    async def early(line: Line) -> None:
        await line.stream.receive_some(1_000)
        await line.stream.send_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        with trio.move_on_after(2):
            while await line.stream.receive_some(65_536):
                pass

    found = await met(early, body=BIG)
    assert isinstance(found, Answer)
    assert found.status == 413


@pytest.mark.parametrize("url", ["", "ftp://127.0.0.1/", "http:///x", "/take", "http://[::1", "nowhere"])
async def test_a_url_that_cannot_be_asked_is_the_operator_s_to_mend(url: str) -> None:
    found = await asked(url)
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left) == (Signal.CONFIGURATION, False)


async def test_an_address_that_is_not_allowed_is_the_operator_s_to_mend() -> None:
    found = await asked("http://127.0.0.1:9/", allow=public_only)
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left) == (Signal.CONFIGURATION, False)


async def test_a_proxy_that_opens_no_tunnel_has_passed_nothing_on() -> None:
    async with receiving(answering(502)) as [proxy]:
        found = await asked("https://far.test/", proxy=httpx.Proxy(f"http://127.0.0.1:{proxy.port}"))
        assert [arrival.method for arrival in proxy.arrivals] == ["CONNECT"]
    assert isinstance(found, Raised)
    assert (found.signal, found.bytes_left) == (Signal.TRANSPORT, False)


@pytest.mark.parametrize(("lasting", "signal"), [(True, Signal.PAYLOAD), (False, Signal.LOCAL)])
async def test_a_body_that_cannot_be_read_to_its_end_is_no_fault_of_the_receiver(lasting: bool, signal: Signal) -> None:
    async def broken() -> bytes:
        raise LocalFault("1.png is gone", lasting=lasting)

    found = await met(hang, body=Body((b"begun", broken), 100))
    assert isinstance(found, Raised)
    assert (found.signal, found.text, found.bytes_left) == (signal, "1.png is gone", True)


async def test_an_exchange_that_is_cancelled_answers_nothing_and_closes_its_line() -> None:
    async with receiving(hang) as [receiver]:
        with trio.fail_after(5), trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def cancelling() -> None:
                    await receiver.arrived.wait()
                    scope.cancel()

                nursery.start_soon(cancelling)
                await asked(receiver.url())
        assert scope.cancelled_caught


# --- what is read of an answer ---

ACCEPTED = b'{"status": "accepted"}'


def packed(body: bytes, coding: str) -> bytes:
    return gzip.compress(body) if coding.endswith("gzip") else zlib.compress(body)


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "GZip"])
async def test_an_answer_that_is_packed_although_nobody_asked_is_read_all_the_same(coding: str) -> None:
    found = await met(answering(200, packed(ACCEPTED, coding.lower()), [("Content-Encoding", coding)]))
    assert isinstance(found, Answer)
    assert found.body == ACCEPTED


@pytest.mark.parametrize("coding", ["br", "gzip, gzip", "gzip"])
async def test_an_answer_that_cannot_be_unpacked_is_not_whole(coding: str) -> None:
    found = await met(answering(200, ACCEPTED, [("Content-Encoding", coding)]))
    assert isinstance(found, Answer)
    assert (found.status, found.body, found.is_whole) == (200, b"", False)


async def test_of_an_answer_without_end_a_bounded_part_is_read_and_the_line_is_closed() -> None:
    async with receiving(endless(b"x" * 65_536)) as [receiver]:
        found = await asked(receiver.url())
        with trio.fail_after(5):
            while receiver.open:
                await trio.testing.wait_all_tasks_blocked(0.01)
    assert isinstance(found, Answer)
    assert (found.status, found.body) == (200, b"")


async def test_of_an_answer_that_unpacks_without_end_a_bounded_part_is_read() -> None:
    bomb = gzip.compress(bytes(64_000_000))
    found = await met(answering(200, bomb, [("Content-Encoding", "gzip")]))
    assert isinstance(found, Answer)
    assert found.body == b""


@pytest.mark.parametrize(("length", "kept"), [(ANSWER_BYTES, True), (ANSWER_BYTES + 1, False)])
async def test_an_answer_is_read_up_to_its_limit(length: int, kept: bool) -> None:
    found = await met(answering(200, b"x" * length))
    assert isinstance(found, Answer)
    assert (len(found.body), found.is_whole) == (length if kept else 0, kept)
