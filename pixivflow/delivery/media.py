"""How a file is shown: what kind it is, by its name alone, and the parts that a message is made of."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Final, Literal

import msgspec

MediaKind = Literal["image", "video", "file"]

MIME: Final[Mapping[str, str]] = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".mp4": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
    ".avi": "video/x-msvideo",
    ".m4v": "video/x-m4v",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".zip": "application/zip",
    ".json": "application/json",
}
"""By the extension in lower case; the first word decides whether a file is shown as a picture or as a video."""

UNKNOWN_MIME: Final = "application/octet-stream"


class Media(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One local file as it is shown. `size` in bytes; `source_url` is where it came from, not where to fetch it."""

    path: str
    mime: str
    size: int | None = None
    preview_path: str | None = None
    source_url: str | None = None
    asset_id: str | None = None


class TextPart(msgspec.Struct, frozen=True, tag_field="kind", tag="text"):
    """Words of their own."""

    text: str


class ImagePart(msgspec.Struct, frozen=True, tag_field="kind", tag="image"):
    """One picture."""

    media: Media


class VideoPart(msgspec.Struct, frozen=True, tag_field="kind", tag="video"):
    """One video."""

    media: Media


class FilePart(msgspec.Struct, frozen=True, tag_field="kind", tag="file"):
    """One file that is neither."""

    media: Media


class AlbumPart(msgspec.Struct, frozen=True, tag_field="kind", tag="album"):
    """At least two pictures, or at least two videos, shown as one."""

    items: tuple[Media, ...]


SinglePart = ImagePart | VideoPart | FilePart
Part = TextPart | SinglePart | AlbumPart


def mime_of(path: str) -> str:
    """The kind of the file, by its extension alone."""
    return MIME.get(PurePath(path).suffix.lower(), UNKNOWN_MIME)


def kind_of(path: str) -> MediaKind:
    """How the file is shown, by its extension alone."""
    match mime_of(path).partition("/")[0]:
        case "image":
            return "image"
        case "video":
            return "video"
        case _:
            return "file"


def single(media: Media) -> SinglePart:
    """The part that shows this file alone."""
    match kind_of(media.path):
        case "image":
            return ImagePart(media)
        case "video":
            return VideoPart(media)
        case "file":
            return FilePart(media)
