"""One request to Pixiv and its whole answer, bounded in time and size. No redirect is followed, no cookie is kept.

No text of an error made here repeats a header, a body, or more of an address than host and port: any of them may
carry a token.
"""

import zlib
from collections.abc import Callable, Mapping
from typing import Final

import httpx
import trio

from pixivflow.errors import Cause, Unavailable
from pixivflow.pixiv.answers import Reply
from pixivflow.pixiv.urls import origin

BODY_BYTES: Final = 16 << 20
"""The longest answer that is read."""


class Lost(Unavailable):
    """No whole answer came: refused, cut, too slow, too long, or packed in a way that nobody asked for."""


async def exchange(
    transport: httpx.AsyncBaseTransport,
    method: str,
    url: str,
    headers: Mapping[str, str],
    timeout_ms: int,
    body: bytes = b"",
) -> Reply:
    """Make the request once. `timeout_ms`: for all of it, to the last byte. Errors: `Lost`."""
    try:
        with trio.fail_after(timeout_ms / 1000):
            return await _answered(transport, httpx.Request(method, url, headers=dict(headers), content=body))
    except trio.TooSlowError:
        raise Lost(f"no whole answer from {_host(url)} within {timeout_ms} ms", cause=Cause.TOO_SLOW) from None
    except (httpx.TransportError, httpx.StreamError, httpx.InvalidURL) as error:
        raise Lost(f"no answer from {_host(url)}: {type(error).__name__}", cause=Cause.UNREACHABLE) from None


def _host(url: str) -> str:
    found = origin(url)
    return f"Pixiv ({found[1]}:{found[2]})" if found else "Pixiv (an address that is none)"


async def _answered(transport: httpx.AsyncBaseTransport, request: httpx.Request) -> Reply:
    response = await transport.handle_async_request(request)
    try:
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(status=response.status_code, headers=headers, body=await _read(response))
    finally:
        with trio.CancelScope(shield=True):
            await response.aclose()


async def _read(response: httpx.Response) -> bytes:
    unpack = _unpacker(response.headers.get("content-encoding", "").strip().lower())
    read = bytearray()
    with trio.CancelScope() as enough:  # leaving the loop would leave the generators behind it half-run
        async for piece in response.aiter_raw():
            try:
                read += unpack(piece, BODY_BYTES + 1 - len(read))
            except zlib.error:
                raise Lost("an answer from Pixiv that cannot be unpacked", cause=Cause.NONSENSE) from None
            if len(read) > BODY_BYTES:
                enough.cancel()
    if len(read) > BODY_BYTES:
        raise Lost(f"an answer from Pixiv of more than {BODY_BYTES} bytes", cause=Cause.NONSENSE)
    return bytes(read)


def _unpacker(coding: str) -> Callable[[bytes, int], bytes]:
    """Nobody asks for packed answers; gateways pack them all the same. Never more than asked for comes out."""
    if coding in ("", "identity"):
        return lambda piece, most: piece[:most]
    if coding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress
    raise Lost("an answer from Pixiv in a coding that nobody asked for", cause=Cause.NONSENSE)
