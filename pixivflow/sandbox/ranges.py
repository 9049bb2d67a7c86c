"""Parts of a file, as HTTP asks for them (RFC 9110, section 14)."""

import re
from typing import Final

from pixivflow.sandbox.message import Reply, Request

ONE_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def ranged(whole: Reply, request: Request) -> Reply:
    """The part of `whole` that was asked for: 206, 416 when there is no such part, else all of it.

    A part is only given out of the very file that the client knows: with another validator it gets all. Several
    ranges at once are answered with the whole file, as a server may.
    """
    asked = ONE_RANGE.fullmatch(request.headers.get("range", ""))
    if asked is None or not _makes_sense(asked[1], asked[2]) or not _is_same(whole, request.headers.get("if-range")):
        return whole
    size = len(whole.body)
    first, last = _bounds(asked[1], asked[2], size)
    if first > last:
        return Reply(status=416, headers=(("Content-Range", f"bytes */{size}"),))
    part = Reply(status=206, headers=whole.headers, body=whole.body[first : last + 1])
    return part.with_headers(content_range=f"bytes {first}-{last}/{size}")


def _makes_sense(first: str, last: str) -> bool:
    return bool(first or last) and not (first and last and int(last) < int(first))


def _is_same(whole: Reply, validator: str | None) -> bool:
    return validator is None or validator in (whole.header("ETag"), whole.header("Last-Modified"))


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    """First and last byte; the first is behind the last where there is nothing to give."""
    if not first:  # so many bytes from the end
        count = min(int(last), size)
        return (size - count, size - 1) if count else (1, 0)
    start, end = int(first), min(int(last or size), size - 1)
    return (start, end) if start < size else (1, 0)
