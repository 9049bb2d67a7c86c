"""One request and what became of it: an answer of bounded size, or why there is none.

    sending ── answered whole ─────────────▶ Answer
        │      half an answer, reset, slow ─▶ Raised, the bytes may have left
        └───── no connection ──────────────▶ Raised, nothing left

No redirect is followed, so no credential travels to a place that nobody configured; no cookie is kept; nothing is sent
twice.
"""

import base64
import zlib
from collections.abc import Callable, Mapping
from typing import Final

import httpx
import msgspec
import trio

from pixivflow import __version__
from pixivflow.delivery.faults import Raised, Signal
from pixivflow.providers.addresses import Refused
from pixivflow.providers.bodies import Body, LocalFault
from pixivflow.providers.headers import Headers, merged

ANSWER_BYTES: Final = 1_048_576
"""How much of an answer is read. What is longer is no business answer."""

STANDING: Final[Headers] = (
    ("User-Agent", f"pixivflow/{__version__}".encode()),
    ("Accept", b"*/*"),
    ("Accept-Encoding", b"identity"),
)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it is about to be made. `timeout_ms`: for all of it, from the look-up of the name to the last byte
    of the answer."""

    method: str
    url: str
    headers: Headers = ()
    body: Body
    timeout_ms: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the receiver sent. `body` is empty where there was none, and where it is not whole: more than is read, or
    packed in a way that nobody can undo."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_whole: bool = True


async def exchange(way_out: httpx.AsyncBaseTransport, call: Call) -> Answer | Raised:
    """Make the request, once. Errors: none but a cancellation; whatever happens is an outcome."""
    left = _Watch()
    try:
        with trio.move_on_after(call.timeout_ms / 1000):
            return await _answered(way_out, call, left)
    except LocalFault as error:
        return _raised(Signal.PAYLOAD if error.lasting else Signal.LOCAL, error, left)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
        return _raised(Signal.CONFIGURATION, error, left)
    except httpx.TransportError as error:
        refused = isinstance(error.__cause__, Refused)
        return _raised(Signal.CONFIGURATION if refused else Signal.TRANSPORT, error, left)
    text = f"no whole answer within {call.timeout_ms} ms"
    return Raised(signal=Signal.TIMEOUT, text=text, bytes_left=left.bytes_left)


async def _answered(way_out: httpx.AsyncBaseTransport, call: Call, left: "_Watch") -> Answer:
    url = httpx.URL(call.url)
    if not url.host:
        raise httpx.InvalidURL("this URL names no host")
    headers = merged((("Host", url.netloc), *STANDING, *_login(url)), (*call.headers, *call.body.headers))
    sent = [(name.encode(), value) for name, value in headers]
    request = httpx.Request(call.method, url, headers=sent, stream=call.body, extensions={"trace": left.see})
    response = await way_out.handle_async_request(request)
    try:
        body = await _read(response, ANSWER_BYTES)
        return Answer(
            status=response.status_code, headers=dict(response.headers), body=body or b"", is_whole=body is not None
        )
    finally:
        with trio.CancelScope(shield=True):
            await response.aclose()


def _login(url: httpx.URL) -> Headers:
    """Who we are, where the URL says it."""
    if not url.userinfo:
        return ()
    login = f"{url.username}:{url.password}".encode()
    return (("Authorization", b"Basic " + base64.b64encode(login)),)


async def _read(response: httpx.Response, limit: int) -> bytes | None:
    """The body, unpacked where the receiver packed it although nobody asked; None when it is longer than `limit`."""
    unpack = _unpacker(response.headers.get("content-encoding", "identity").strip().lower())
    if unpack is None:
        return None
    read = bytearray()
    with trio.CancelScope() as enough:  # leaving the loop would leave the generators behind it half-run
        async for piece in response.aiter_raw():
            try:
                read += unpack(piece, max(1, limit + 1 - len(read)))
            except zlib.error:
                read += bytes(limit + 1)
            if len(read) > limit:
                enough.cancel()
    return bytes(read) if len(read) <= limit else None


def _unpacker(coding: str) -> Callable[[bytes, int], bytes] | None:
    if coding in ("", "identity"):
        return lambda piece, most: piece[:most]
    if coding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress
    return None


class _Watch:
    """Sees whether anything of the request went on its way to the receiver; a proxy's tunnel is no part of it."""

    def __init__(self) -> None:
        self.bytes_left = False

    async def see(self, event: str, info: Mapping[str, object]) -> None:
        request = info.get("request")
        if event.endswith(".send_request_headers.started") and getattr(request, "method", b"") != b"CONNECT":
            self.bytes_left = True


def _raised(signal: Signal, error: Exception, left: _Watch) -> Raised:
    return Raised(
        signal=signal, text=str(error) or type(error).__name__, bytes_left=left.bytes_left, name=type(error).__name__
    )
