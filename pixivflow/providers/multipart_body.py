"""`multipart/form-data` as a stream: files, previews, fields, the end. Its length is known before its first byte.

Two attempts at one promise send the same parts in the same order; only the boundary differs.
"""

import os
from collections.abc import Sequence

import msgspec

from pixivflow.providers.bodies import Body, Piece
from pixivflow.providers.files import Files
from pixivflow.providers.multipart_fields import Field


class FilePart(msgspec.Struct, frozen=True):
    """One file under a field's name. `size` in bytes, as measured before the request; `checksum`: as promised."""

    name: str
    path: str
    size: int
    checksum: str | None = None


def multipart(boundary: str, parts: Sequence[FilePart], fields: Sequence[Field], files: Files) -> Body:
    """The whole submission; its files are read while it is sent."""
    pieces: list[Piece] = []
    length = 0
    for part in parts:
        head = file_head(boundary, part)
        pieces += [head, *files.pieces(part.path, part.size, part.checksum), b"\r\n"]
        length += len(head) + part.size + 2
    tail = b"".join(field_part(boundary, name, text) for name, text in fields) + f"--{boundary}--\r\n".encode()
    return Body([*pieces, tail], length + len(tail))


def file_head(boundary: str, part: FilePart) -> bytes:
    """What stands before a file. Of its path only the last name is told, and no type: receivers look for themselves."""
    name, file_name = escaped(part.name), escaped(os.path.basename(part.path))
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"\r\n'
    return f"{head}Content-Type: application/octet-stream\r\n\r\n".encode("utf-8", "replace")


def field_part(boundary: str, name: str, text: str) -> bytes:
    """One field, whole."""
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{escaped(name)}"\r\n\r\n'
    return f"{head}{text}\r\n".encode("utf-8", "replace")


def escaped(name: str) -> str:
    """A name that can end neither its quotes nor its line."""
    return name.replace("\r", " ").replace("\n", " ").replace('"', "%22")
