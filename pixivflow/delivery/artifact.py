"""What a download hands over to be delivered: the work, its files and the pictures that they came from."""

from enum import StrEnum
from typing import Literal

import msgspec

from pixivflow.ids import WorkId
from pixivflow.slots.model import WorkType


class Variant(StrEnum):
    """What a file of a work is. Only some of them are ever sent; see `content.files_of`."""

    ORIGINAL = "original"
    TEXT = "text"
    MARKDOWN = "markdown"
    ZIP = "zip"
    EPUB = "epub"
    METADATA = "metadata"
    DELIVERY = "delivery"


class Artifact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One local file of a work. Its id tells the work and the file, and nothing about any delivery.

    Shape: `path` is absolute; `size` in bytes, where it is known; `checksum` is a SHA-256 in hex.
    """

    id: str
    work_id: WorkId
    variant: Variant
    path: str
    source_asset_id: str | None = None
    mime_type: str | None = None
    size: int | None = None
    checksum: str | None = None


class MediaAsset(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A picture as it is known at Pixiv: a fact about the far side, never a local file, so no deletion ends it.

    Shape: `page` counts from 0.
    """

    id: str
    source_url: str
    kind: Literal["image"] = "image"
    mime_type: str | None = None
    width: int | None = None
    height: int | None = None
    page: int | None = None
    artifact_id: str | None = None


class Deliverable(msgspec.Struct, frozen=True, kw_only=True):
    """A work with its files, complete enough to be sent to any route.

    Shape: `artifacts` in the order of the pages; `preview_files` are as many as the files that are sent, or are not
    used; `cleanup_files` are local by-products that go when the work's files go. `published_at` begins with a day,
    `2026-01-15`. Counts and language are None where nobody told them; an author is never invented.
    """

    work_id: WorkId
    work_type: WorkType
    title: str
    artifacts: tuple[Artifact, ...]
    media_assets: tuple[MediaAsset, ...] = ()
    preview_files: tuple[str, ...] = ()
    cleanup_files: tuple[str, ...] = ()
    author: str | None = None
    series_title: str | None = None
    tags: tuple[str, ...] = ()
    x_restrict: int | None = None
    published_at: str | None = None
    bookmark_count: int | None = None
    view_count: int | None = None
    language: str | None = None

    @property
    def is_spoiler(self) -> bool:
        """Whether a receiver should show the work only to who asks for it."""
        return (self.x_restrict or 0) > 0


def artifact_id(work_id: WorkId, variant: Variant, label: str = "") -> str:
    """`pixiv:<work>:<variant>`, followed by the label where a work has several files of the kind."""
    return ":".join(("pixiv", work_id, variant.value, *([label] if label else ())))


def asset_id(work_id: WorkId, kind: str, source_id: str = "", namespace: str = "pixiv") -> str:
    """`<namespace>:<work>:<kind>`, followed by the picture's own id where the kind has several."""
    return ":".join((namespace, work_id, kind, *([source_id] if source_id else ())))
