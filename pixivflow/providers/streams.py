"""A connection that closes its socket whatever interrupts it."""

import ssl
from typing import Any

import httpcore
import trio


class Stream(httpcore.AsyncNetworkStream):
    """A stream of httpcore's whose TLS handshake may be cancelled: by itself it would leave the socket open."""

    def __init__(self, inner: httpcore.AsyncNetworkStream) -> None:
        self._inner = inner

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._inner.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            return Stream(await self._inner.start_tls(ssl_context, server_hostname, timeout))
        except BaseException:
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(self._inner._stream)  # type: ignore[attr-defined]
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
