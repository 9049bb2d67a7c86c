"""Whether the bytes of a file are a whole picture, and of which format: by what is in it, never by its name.

beginning ──▶ the mark of a format ──▶ the end that this format must have ──▶ its header, as Pillow reads it

Blocking: call it in a thread. Pixels are never decoded, so no picture can be a bomb.
"""

import struct
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

HEAD_BYTES: Final = 16
TAIL_BYTES: Final = 1_024
MIMES: Final = {"jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"}
EXTENSIONS: Final = {"jpeg": (".jpg", ".jpeg"), "png": (".png",), "gif": (".gif",), "webp": (".webp",)}
"""The extensions of a format; the first is given to files of another one."""


class Spoiled(Exception):
    """The bytes are no whole picture; they may be another time. `reason`: `empty`, `bad_content` or `truncated`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A whole picture. `format` as Pillow names it, in small letters; `size` in bytes."""

    format: str
    size: int

    @property
    def mime(self) -> str:
        return MIMES[self.format]

    def extension(self, wished: str) -> str:
        """`wished`, unless the format has another one."""
        return wished if wished in EXTENSIONS[self.format] else EXTENSIONS[self.format][0]


def picture(path: Path) -> Picture:
    """The picture in a file. Errors: `Spoiled`; `OSError`."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size == 0:
            raise Spoiled("empty")
        file.seek(0)
        head = file.read(HEAD_BYTES)
        found = format_of(head)
        if found is None:
            raise Spoiled("bad_content")
        file.seek(max(0, size - TAIL_BYTES))
        if not is_ended(found, head, file.read(), size):
            raise Spoiled("truncated")
        file.seek(0)
        _look(file, found)
    return Picture(format=found, size=size)


def format_of(head: bytes) -> str | None:
    """The format that a file's first bytes are a mark of."""
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    return "webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def is_ended(found: str, head: bytes, tail: bytes, size: int) -> bool:
    """Whether the last bytes are those that the format ends with. `tail`: up to 1 KiB; `size`: of the whole file."""
    match found:
        case "jpeg":
            return b"\xff\xd9" in tail
        case "png":
            return tail.endswith(b"\0\0\0\0IEND\xaeB`\x82")
        case "gif":
            return tail.endswith(b"\x3b")
        case _:
            return len(head) >= 8 and int(struct.unpack("<I", head[4:8])[0]) + 8 == size


def _look(file: BinaryIO, found: str) -> None:
    """Let Pillow read the header, and the checksums of a format that has some."""
    from PIL import Image  # 60 ms that a daemon without a work to fetch never pays

    Image.MAX_IMAGE_PIXELS = None  # nothing is decoded here, and Pixiv has large pictures
    try:
        with Image.open(file, formats=(found,)) as image:
            image.verify()
    except Exception as error:  # Pillow raises what its parsers raise
        raise Spoiled("bad_content") from error
