"""The private names of httpx and httpcore that the way out leans on. When one moves, this is where it is noticed."""

import inspect
from typing import Any

import httpcore
import httpx
from httpcore._async.connection_pool import AsyncPoolRequest
from httpcore._backends import trio as backend

from pixivflow.providers import addresses, egress, streams


async def test_the_pool_of_a_transport_still_has_the_parts_that_are_reclaimed() -> None:
    way_out = egress.transport(keep_alive=False)
    assert isinstance(way_out, httpx.AsyncHTTPTransport)
    pool = way_out._pool
    assert isinstance(pool, httpcore.AsyncConnectionPool)
    assert pool._connections == []
    assert pool._requests == []
    assert pool._assign_requests_to_connections() == []
    await way_out.aclose()


def test_a_waiting_request_still_names_its_connection() -> None:
    waiting = AsyncPoolRequest(httpcore.Request("GET", "http://one.test/"))
    assert waiting.connection is None


async def test_the_guard_is_what_a_pool_connects_through() -> None:
    for proxy in (None, httpx.Proxy("http://127.0.0.1:1"), httpx.Proxy("socks5://127.0.0.1:1")):
        way_out = egress.transport(keep_alive=False, proxy=proxy)
        assert isinstance(way_out, httpx.AsyncHTTPTransport)
        made = way_out._pool.create_connection(httpcore.Origin(b"https", b"one.test", 443))
        maker: Any = getattr(made, "_connection", None) or made  # a tunnel makes its connection through another one
        assert maker._network_backend is way_out._pool._network_backend
        await way_out.aclose()


def test_a_stream_still_has_the_arguments_and_the_socket_that_are_wrapped() -> None:
    assert list(inspect.signature(backend.TrioStream.__init__).parameters) == ["self", "stream"]
    for method in ("read", "write", "aclose", "start_tls", "get_extra_info"):
        ours = inspect.signature(getattr(streams.Stream, method)).parameters
        theirs = inspect.signature(getattr(backend.TrioStream, method)).parameters
        assert list(ours) == list(theirs), method
    assert backend.TrioStream(None)._stream is None  # type: ignore[arg-type]


def test_the_backend_still_takes_the_arguments_that_the_guard_takes() -> None:
    ours = inspect.signature(addresses.Guard.connect_tcp).parameters
    assert list(ours) == list(inspect.signature(backend.TrioBackend.connect_tcp).parameters)
