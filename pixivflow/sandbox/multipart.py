"""Reading `multipart/form-data` the strict way: what does not end where it says was not sent whole."""

import hashlib
import re
from typing import Final

import msgspec

BOUNDARY: Final = re.compile(r'multipart/form-data;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))\s*', re.IGNORECASE)
NAME: Final = re.compile(r'(?:^|;)\s*name="([^"]*)"')
FILE_NAME: Final = re.compile(r'(?:^|;)\s*filename="([^"]*)"')


class Malformed(ValueError):
    """A body that is not what its head says."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One part. `head`: its header lines as they came, without the empty line."""

    head: bytes
    name: str
    file_name: str | None
    body: bytes


def parts_of(content_type: str, body: bytes) -> list[Part]:
    """The parts in their order. Errors: `Malformed` naming what is wrong."""
    match = BOUNDARY.fullmatch(content_type)
    if match is None:
        raise Malformed("not multipart/form-data with a boundary")
    line = b"--" + (match[1] or match[2]).encode("latin-1")
    first, *chunks = (b"\r\n" + body).split(b"\r\n" + line)
    if first or not chunks or chunks[-1] not in (b"--", b"--\r\n"):
        raise Malformed("the body does not begin and end with its boundary")
    return [_part(chunk) for chunk in chunks[:-1]]


def _part(chunk: bytes) -> Part:
    head, empty, body = chunk.partition(b"\r\n\r\n")
    if not head.startswith(b"\r\n") or not empty:
        raise Malformed("a part has no head")
    named = NAME.search(_disposition(head))
    if named is None:
        raise Malformed("a part has no name")
    file_name = FILE_NAME.search(_disposition(head))
    return Part(head=head[2:], name=named[1], file_name=file_name[1] if file_name else None, body=body)


def _disposition(head: bytes) -> str:
    """`form-data; name="a"` without its first word, or nothing."""
    for line in head.decode("utf-8", "replace").split("\r\n"):
        key, _, value = line.partition(":")
        if key.strip().lower() == "content-disposition" and value.strip().startswith("form-data"):
            return value.partition(";")[2]
    return ""


def digest(parts: list[Part]) -> str:
    """The SHA-256 of all parts in their order. The boundary, which differs from request to request, is left out."""
    found = hashlib.sha256()
    for part in parts:
        for piece in (part.head, part.body):
            found.update(len(piece).to_bytes(8, "big"))
            found.update(piece)
    return found.hexdigest()
