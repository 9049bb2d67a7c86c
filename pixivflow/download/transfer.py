"""One file over the wire into a part: asked for, counted, written in large pieces, continued where a line broke."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar
from urllib.parse import urljoin

import httpx
import msgspec
import trio

from pixivflow.download.hosts import Origin, origin
from pixivflow.download.part import Part
from pixivflow.download.verify import Spoiled
from pixivflow.download.versions import UNKNOWN, Version, length_with, version_of
from pixivflow.errors import Cause, Outage, Unavailable

T = TypeVar("T")

BATCH_BYTES: Final = 1 << 20
MARK_BYTES: Final = 8 << 20
"""After so many more bytes it is written down how far the file has come."""
FILE_BYTES: Final = 256 << 20
REDIRECTS: Final = 3
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
    same; whatever is in doubt begins afresh.

    `version`: of the file that the part has the first bytes of; unknown where it is of another address.
    `mark`: hears every 8 MiB that more of that version can be counted on.
    """

    def __init__(
        self,
        wire: Wire,
        url: str,
        part: Part,
        threads: trio.CapacityLimiter,
        version: Version,
        mark: Callable[[Version], Awaitable[object]],
    ) -> None:
        self._wire, self._url, self._part, self._threads = wire, url, part, threads
        self.version, self._mark, self._number = version, mark, 0

    async def attempt(self) -> None:
        """Bring the part to its full length, or as far as it goes.

        Errors: `Absent`, `Forbidden`; `Spoiled`, `Outage`, `Unavailable`: may pass; `OSError` of the disk.
        """
        self._number = await hop(self._threads, self._part.begin)
        if self._part.size and self.version.validator and self._part.size == self.version.length:
            return  # the attempt before ended between the last byte and the look at all of them
        try:
            with trio.fail_after(self._wire.timeout_ms / 1000):
                await self._attempt()
        except trio.TooSlowError:
            words = f"the image host{self._at()} took longer than {self._wire.timeout_ms} ms"
            raise Unavailable(words, cause=Cause.FILE_TOO_SLOW) from None
        except (httpx.TransportError, httpx.StreamError, httpx.InvalidURL) as error:
            words = f"no answer from the image host{self._at()}: {type(error).__name__}"
            raise Unavailable(words, cause=Cause.FILE_BROKEN) from None

    def _at(self) -> str:
        found = origin(self._url)
        return f" ({found[1]}:{found[2]})" if found else ""

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
        raise Unavailable("the image host redirects without end", cause=Cause.FILE_BROKEN)

    def _headers(self) -> dict[str, str]:
        asked = {"User-Agent": self._wire.user_agent, "Referer": REFERER, "Accept-Encoding": "identity"}
        if not (self._part.size and self.version.validator):
            return asked
        return {**asked, "Range": f"bytes={self._part.size}-", "If-Range": self.version.validator}

    async def _placed(self, response: httpx.Response) -> None:
        """Check the head of the answer, and put the part to where its body begins."""
        status, headers, size = response.status_code, response.headers, self._part.size
        if status not in (200, 206):
            if status == 416 and size:
                await hop(self._threads, self._part.restart)  # nothing follows what is here, yet it is no whole file
            raise refusal(status, headers)
        kind = headers.get("content-type", "image/").partition(";")[0].strip().lower()
        if not kind.startswith("image/") or headers.get("content-encoding", "identity").lower() != "identity":
            raise Spoiled("bad_content")
        if status == 206 and size and (length := length_with(headers, size, self.version)) is not None:
            self.version = Version(validator=self.version.validator, length=length)
            return
        self.version = UNKNOWN
        if size:
            await hop(self._threads, self._part.restart)
        if status == 206:
            raise Spoiled("truncated")
        self.version = version_of(headers)

    async def _read(self, response: httpx.Response) -> None:
        """Write the body, a mebibyte a hop. What came before a line broke is written too, to be continued."""
        pieces: list[bytes] = []
        held, failed = 0, None
        with trio.CancelScope() as enough:  # leaving the loop would leave the generators behind it half-run
            try:
                async for piece in response.aiter_raw():
                    pieces.append(piece)
                    held += len(piece)
                    if held >= BATCH_BYTES:
                        failed = await self._failed(pieces)
                        pieces, held = [], 0
                    if failed is not None or self._part.size + held > FILE_BYTES:
                        enough.cancel()
            except httpx.TransportError:
                await self._write(pieces)
                raise
        if failed is not None:
            raise failed
        if self._part.size + held > FILE_BYTES:
            raise Forbidden(f"a file of more than {FILE_BYTES} bytes")
        await self._write(pieces)
        if self.version.length not in (None, self._part.size):
            raise Spoiled("truncated")

    async def _failed(self, pieces: Sequence[bytes]) -> Exception | None:
        """What kept the pieces from being written, None if nothing did."""
        try:
            await self._write(pieces)
        except Exception as error:
            return error
        return None

    async def _write(self, pieces: Sequence[bytes]) -> None:
        await hop(self._threads, self._part.write, self._number, pieces)
        if self.version.validator and self._part.size - self._part.synced >= MARK_BYTES:
            await self._mark(self.version)


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
        return Unavailable("the image host limits us", wish, cause=Cause.LIMITED)
    if status >= 500 or status in (408, 416):
        return Unavailable(f"the image host answered HTTP {status}", cause=Cause.FILE_BROKEN)
    return Forbidden(f"the image host answered HTTP {status}")
