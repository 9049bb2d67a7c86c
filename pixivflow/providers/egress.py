"""The one way out: how every request of this program reaches the network.

A transport gives back what a cancelled request held, connects only to addresses that it was allowed, reads no proxy
from the environment and never follows a redirect. It knows no total deadline: whoever makes a request stands inside
`trio.fail_after`, since httpx only bounds each single read.

What it leans on in httpcore has private names: `tests/edges/providers/test_egress_names.py` fails when they move.
"""

import functools
import logging
import ssl
from typing import Final

import httpx
import trio

from pixivflow.config.model import Proxy
from pixivflow.providers.addresses import Allow, Guard, Resolve, anywhere, public_only

CONNECTIONS: Final = 32
"""How many connections one transport has open at most."""

KEEP_ALIVE_S: Final = 5.0
"""How long an unused connection is kept, where any is: shorter than servers keep theirs."""


class Reclaiming(httpx.AsyncHTTPTransport):
    """httpx's transport, from which a cancelled request can take nothing away.

    httpcore forgets connections whose request was cancelled while they were being made: each takes one place of the
    pool for ever. Source: httpcore issue 1093.
    """

    def __init__(
        self,
        *,
        allow: Allow,
        resolve: Resolve | None,
        tls: ssl.SSLContext,
        limits: httpx.Limits,
        proxy: httpx.Proxy | None,
    ) -> None:
        super().__init__(verify=tls, trust_env=False, limits=limits, proxy=proxy)
        self._asked = Guard(allow, resolve) if proxy is not None and allow is not anywhere else None
        self._pool._network_backend = Guard(allow if proxy is None else anywhere, resolve)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request once.

        Errors: httpx's own; a refused address is a `httpx.ConnectError`. Behind a proxy the guard never sees the
        receiver's connection, so the name is judged here, before the proxy looks it up once more.
        """
        if self._asked is not None:
            await self._judge(self._asked, request.url)
        try:
            return await super().handle_async_request(request)
        except BaseException:
            with trio.CancelScope(shield=True):
                await self._reclaim()
            raise

    async def _judge(self, guard: Guard, url: httpx.URL) -> None:
        with httpx._transports.default.map_httpcore_exceptions():
            await guard.addresses(url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80))

    async def _reclaim(self) -> None:
        """Close every connection that no request owns and that is not idle, and let those who wait have its place."""
        pool = self._pool
        owned = {id(waiting.connection) for waiting in pool._requests if waiting.connection is not None}
        orphans = [each for each in pool._connections if id(each) not in owned and not each.is_idle()]
        for orphan in orphans:
            pool._connections.remove(orphan)
        for connection in [*orphans, *pool._assign_requests_to_connections()]:
            await connection.aclose()


def transport(
    *,
    allow: Allow = public_only,
    keep_alive: bool,
    connections: int = CONNECTIONS,
    proxy: httpx.Proxy | None = None,
    tls: ssl.SSLContext | None = None,
    resolve: Resolve | None = None,
) -> httpx.AsyncBaseTransport:
    """A way out of this process. Make few of them, close each with `aclose`.

    `allow`: judges every address before a connection is made to it. `keep_alive`: reuse connections; never for what
    must not be sent twice, since a receiver may close an idle connection at the moment a request leaves on it, and then
    nobody knows whether it arrived. `tls`: an own authority, in tests.
    """
    for library in ("httpx", "httpcore"):
        logging.getLogger(library).setLevel(logging.WARNING)  # their lines carry whole URLs
    return Reclaiming(
        allow=allow,
        resolve=resolve,
        tls=tls or shared_tls(),
        limits=httpx.Limits(
            max_connections=connections,
            max_keepalive_connections=connections if keep_alive else 0,
            keepalive_expiry=KEEP_ALIVE_S,
        ),
        proxy=proxy,
    )


def proxy_of(settings: Proxy) -> httpx.Proxy | None:
    """The configured proxy, None where there is none."""
    if not settings.enabled:
        return None
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    login = (settings.username, settings.password.reveal()) if settings.username else None
    return httpx.Proxy(f"{settings.protocol}://{host}:{settings.port}", auth=login)


@functools.cache
def shared_tls() -> ssl.SSLContext:
    """The authorities that every connection trusts, read once: reading them takes 45 ms.

    `SSL_CERT_FILE` and `SSL_CERT_DIR` of the environment name others, as everywhere.
    """
    return httpx.create_ssl_context()
