"""What is shown of a work: a text, then its files, then its pictures, decided once and frozen with the promise.

A retry days later must send what the first attempt sent, so nothing here is derived a second time; only promises that
an older program froze without a content get theirs from their files.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from pixivflow.delivery.artifact import Artifact, Deliverable, Variant
from pixivflow.delivery.media import AlbumPart, Media, Part, TextPart, kind_of, mime_of, single
from pixivflow.errors import Cause, Rejected, Unavailable
from pixivflow.ids import WorkId
from pixivflow.slots.model import WorkType

_ALWAYS_SENT: Final = frozenset({Variant.TEXT, Variant.ZIP})


class Content(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is shown of one work. `source_url`: the work's page at Pixiv."""

    text: str
    parts: tuple[Part, ...]
    work_id: WorkId
    work_type: WorkType
    source_url: str
    title: str
    spoiler: bool = False


def link(work_type: WorkType, work_id: str) -> str:
    """The work's page at Pixiv."""
    if work_type is WorkType.NOVEL:
        return f"https://www.pixiv.net/novel/show.php?id={work_id}"
    return f"https://www.pixiv.net/artworks/{work_id}"


def files_of(work: Deliverable) -> tuple[Artifact, ...]:
    """The files that are sent, in their order, each path once.

    Errors: `Rejected` when the work has none.
    """
    chosen = [each for each in work.artifacts if _is_sent(each, work.work_type)] or _shown_by_assets(work)
    found = {each.path.strip(): each for each in reversed(chosen) if each.path.strip()}
    if not found:
        raise Rejected(work.work_id, "delivery", "none of its files is of a kind that is sent")
    return tuple(msgspec.structs.replace(each, path=path) for path, each in reversed(found.items()))


def measured(files: Sequence[Artifact], size_of: Callable[[str], int | None]) -> tuple[Artifact, ...]:
    """The files with their sizes. `size_of`: bytes of a local file, None when it is not there.

    Errors: `Unavailable` naming the first that is gone: a promise that cannot be kept is not made, and a later run
    fetches the same work again.
    """
    sizes = {each.path: size_of(each.path) for each in files}
    for path, size in sizes.items():
        if size is None:
            raise Unavailable(f"{path} is not there to be delivered", cause=Cause.STORAGE)
    return tuple(msgspec.structs.replace(each, size=each.size or sizes[each.path]) for each in files)


def content_of(work: Deliverable, files: Sequence[Artifact], caption: str = "") -> Content:
    """What is shown of the work. `files`: those that are sent, as `files_of` and `measured` tell them."""
    sources = {asset.artifact_id: asset for asset in work.media_assets}
    previews = work.preview_files if len(work.preview_files) == len(files) else ("",) * len(files)
    shown = []
    for file, preview in zip(files, previews, strict=True):
        asset = sources.get(file.id)
        shown.append(
            Media(
                path=file.path,
                mime=file.mime_type or mime_of(file.path),
                size=file.size,
                preview_path=preview or None,
                source_url=asset.source_url if asset else None,
                asset_id=asset.id if asset else None,
            )
        )
    return composed(work.work_type, work.work_id, work.title, shown, caption=caption, spoiler=work.is_spoiler)


def composed(
    work_type: WorkType,
    work_id: WorkId,
    title: str,
    shown: Sequence[Media],
    *,
    caption: str = "",
    spoiler: bool = False,
) -> Content:
    """The text, then every file, then what can be looked at: pictures as one album, videos one by one beside them."""
    page = link(work_type, work_id)
    text = caption.strip() or "\n".join(filter(None, (title.strip(), page)))
    return Content(
        text=text,
        parts=(TextPart(text), *_arranged(shown)),
        work_id=work_id,
        work_type=work_type,
        source_url=page,
        title=title,
        spoiler=spoiler,
    )


def _arranged(shown: Sequence[Media]) -> tuple[Part, ...]:
    files = [each for each in shown if kind_of(each.path) == "file"]
    images = [each for each in shown if kind_of(each.path) == "image"]
    videos = [each for each in shown if kind_of(each.path) == "video"]
    beside = _together(videos) if not images else tuple(map(single, videos))
    return (*map(single, files), *_together(images), *beside)


def _together(shown: Sequence[Media]) -> tuple[Part, ...]:
    return (AlbumPart(tuple(shown)),) if len(shown) > 1 else tuple(map(single, shown))


def _is_sent(file: Artifact, work_type: WorkType) -> bool:
    is_picture = file.variant is Variant.ORIGINAL and work_type is WorkType.ILLUSTRATION
    return file.variant in _ALWAYS_SENT or is_picture


def _shown_by_assets(work: Deliverable) -> list[Artifact]:
    """Files that were found on the disk again are known only by the pictures that they came from."""
    named = {each.id: each for each in work.artifacts}
    return [named[each.artifact_id] for each in work.media_assets if each.artifact_id in named]
