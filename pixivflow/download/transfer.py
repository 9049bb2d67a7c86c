"""One file over the wire into a part: asked for, counted, written in large pieces, continued where a line broke."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar
from urllib.parse import urljoin

import httpx
import msgspec
import trio

from pixivflow.download.hosts import Origin, origin
from pixivflow.download.part import Part
from pixivflow.download.verify import Spoiled
from pixivflow.errors import Outage, Unavailable

T = TypeVar("T")

BATCH_BYTES: Final = 1 << 20
FILE_BYTES: Final = 256 << 20
REDIRECTS: Final = 3
LENGTH_DIGITS: Final = 20
"""A length with more digits is none; nothing that long can be sent."""
LONGEST_WISH_S: Final = 3_600
"""Nobody sleeps longer because the image host said so."""
DOWN: Final = (502, 503, 504)
REFERER: Final = "https://app-api.pixiv.net/"
"""The image host answers 403 to who does not come from Pixiv."""


class Absent(Exception):
    """There is nothing at this address (404, 410)."""


class Forbidden(Exception):
    """The image host will not serve this (another 4xx), or the address is none of its own."""


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """How files are asked for. `timeout_ms`: for one attempt at one file, to its last byte."""

    transport: httpx.AsyncBaseTransport
    origins: frozenset[Origin]
    user_agent: str
    timeout_ms: int


class Transfer:
    """The attempts at one address into one part. Each continues what the last one left, if the file is still the
    same; whatever is in doubt begins afresh."""

    def __init__(self, wire: Wire, url: str, part: Part, threads: trio.CapacityLimiter) -> None:
        self._wire, self._url, self._part, self._threads = wire, url, part, threads
        self._validator, self._number = "", 0

    async def attempt(self) -> None:
        """Bring the part to its full length, or as far as it goes.

        Errors: `Absent`, `Forbidden`; `Spoiled`, `Outage`, `Unavailable`: may pass; `OSError` of the disk.
        """
        self._number = await hop(self._threads, self._part.begin)
        try:
            with trio.fail_after(self._wire.timeout_ms / 1000):
                await self._attempt()
        except trio.TooSlowError:
            raise Unavailable(f"the image host took longer than {self._wire.timeout_ms} ms") from None
        except (httpx.TransportError, httpx.StreamError, httpx.InvalidURL) as error:
            raise Unavailable(f"no answer from the image host: {type(error).__name__}") from None

    async def _attempt(self) -> None:
        response = await self._found()
        try:
            await self._placed(response)
            await self._read(response)
        finally:
            with trio.CancelScope(shield=True):
                await response.aclose()

    async def _found(self) -> httpx.Response:
        """The answer behind at most three redirects, none of which leaves the hosts that are allowed."""
        url = self._url
        for _ in range(REDIRECTS + 1):
            if origin(url) not in self._wire.origins:
                raise Forbidden("the address of the file is none of the image host's")
            request = httpx.Request("GET", url, headers=self._headers())
            response = await self._wire.transport.handle_async_request(request)
            if not 300 <= response.status_code < 400:
                return response
            with trio.CancelScope(shield=True):
                await response.aclose()
            url = joined(url, response.headers.get("location", ""))
        raise Unavailable("the image host redirects without end")

    def _headers(self) -> dict[str, str]:
        asked = {"User-Agent": self._wire.user_agent, "Referer": REFERER, "Accept-Encoding": "identity"}
        if not (self._part.size and self._validator):
            return asked
        return {**asked, "Range": f"bytes={self._part.size}-", "If-Range": self._validator}

    async def _placed(self, response: httpx.Response) -> None:
        """Check the head of the answer, and put the part to where its body begins."""
        status, headers = response.status_code, response.headers
        if status not in (200, 206):
            if status == 416 and self._part.size:
                await hop(self._threads, self._part.restart)  # nothing follows what is here, yet it is no whole file
            raise refusal(status, headers)
        kind = headers.get("content-type", "image/").partition(";")[0].strip().lower()
        if not kind.startswith("image/") or headers.get("content-encoding", "identity").lower() != "identity":
            raise Spoiled("bad_content")
        if status == 206 and headers.get("content-range", "").startswith(f"bytes {self._part.size}-"):
            return
        if self._part.size:
            await hop(self._threads, self._part.restart)
        if status == 206:
            raise Spoiled("truncated")
        etag = headers.get("etag", "")
        self._validator = headers.get("last-modified", "") if not etag or etag.startswith("W/") else etag

    async def _read(self, response: httpx.Response) -> None:
        """Write the body, a mebibyte a hop. What came before a line broke is written too, to be continued."""
        told = response.headers.get("content-length", "")
        wanted = int(told) if told.isascii() and told.isdecimal() and len(told) < LENGTH_DIGITS else None
        pieces: list[bytes] = []
        held = got = 0
        with trio.CancelScope() as enough:  # leaving the loop would leave the generators behind it half-run
            try:
                async for piece in response.aiter_raw():
                    pieces.append(piece)
                    held, got = held + len(piece), got + len(piece)
                    if held >= BATCH_BYTES:
                        await self._write(pieces)
                        pieces, held = [], 0
                    if self._part.size + held > FILE_BYTES:
                        enough.cancel()
            except httpx.TransportError:
                await self._write(pieces)
                raise
        if self._part.size + held > FILE_BYTES:
            raise Forbidden(f"a file of more than {FILE_BYTES} bytes")
        await self._write(pieces)
        if wanted is not None and got != wanted:
            raise Spoiled("truncated")

    async def _write(self, pieces: Sequence[bytes]) -> None:
        await hop(self._threads, self._part.write, self._number, pieces)


async def hop(threads: trio.CapacityLimiter, call: Callable[..., T], *args: object) -> T:
    """A blocking call in one of `threads`, left to itself when its task is cancelled."""
    return await trio.to_thread.run_sync(partial(call, *args), limiter=threads, abandon_on_cancel=True)


def joined(url: str, location: str) -> str:
    """Where a redirect leads; an empty address for one that leads nowhere."""
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def refusal(status: int, headers: Mapping[str, str]) -> Exception:
    """What an answer without a file means."""
    if status in (404, 410):
        return Absent()
    if status in DOWN:
        return Outage(f"the image host answered HTTP {status}")
    if status == 429:
        told = headers.get("retry-after", "")
        wish = min(int(told[:9]), LONGEST_WISH_S) if told.isascii() and told.isdecimal() else None
        return Unavailable("the image host limits us", wish)
    if status >= 500 or status in (408, 416):
        return Unavailable(f"the image host answered HTTP {status}")
    return Forbidden(f"the image host answered HTTP {status}")
