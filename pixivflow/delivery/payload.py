"""What is frozen with a promise: everything that an attempt sends, but for what only the route's settings say.

`intents.frozen_payload` writes it with its version and the ledger's own key; `read` takes it apart again, whichever
program froze it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from pixivflow.config.model import FieldValue
from pixivflow.delivery.artifact import Deliverable, MediaAsset
from pixivflow.delivery.content import Content, composed, content_of, files_of, measured
from pixivflow.delivery.media import Media, mime_of
from pixivflow.ids import WorkId
from pixivflow.slots.model import WorkType

VERSIONS: Final = frozenset({1})


class Unreadable(ValueError):
    """A payload that this program cannot send from."""


class Occasion(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Why the work is sent: the cell that asked for it and the run that found it, as far as there are any.

    Shape: `tag` is the target's label; `topic` what it was about; `occurrence_at` ISO text; `refetch_request_id` as the
    requester spelt it.
    """

    target_id: str = ""
    tag: str = ""
    topic: str = ""
    slot_id: str = ""
    slot_name: str = ""
    slot_date: str = ""
    schedule_id: str = ""
    execution_id: str = ""
    occurrence_at: str = ""
    trigger_source: str = ""
    ranking_date: str = ""
    refetch_request_id: str = ""


class Context(Occasion, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What templates are filled from. Read from any program's payload, so nothing in it is required."""

    delivery_target: str = ""
    idempotency_key: str = ""
    title: str = ""
    series_title: str = ""
    pixiv_id: str = ""
    type: str = WorkType.ILLUSTRATION.value
    work_tags: tuple[str, ...] = ()
    author: str = ""
    spoiler: bool = False
    x_restrict: int | None = None
    published_at: str = ""
    language: str = ""
    bookmark_count: int | None = None
    view_count: int | None = None


class Payload(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A frozen promise. `fields`: the target's own, which replace those of the route.

    Shape: paths are absolute. `content` None was frozen by a program that did not know it. `checksums`: the SHA-256 in
    hex of a file by its path, for those that were known when the promise was made; a program that did not freeze them
    promised whatever would be there.
    """

    version: int = 1
    files: tuple[str, ...] = ()
    preview_files: tuple[str, ...] = ()
    media_assets: tuple[MediaAsset, ...] = ()
    cleanup_files: tuple[str, ...] = ()
    checksums: Mapping[str, str] = {}
    fields: Mapping[str, FieldValue] | None = None
    content: Content | None = None
    context: Context = Context()
    delete_after_delivery: bool | None = None

    @property
    def shown(self) -> Content:
        """What is shown: the frozen content, or, where there is none, what follows from the files."""
        if self.content is not None:
            return self.content
        previews = self.preview_files if len(self.preview_files) == len(self.files) else ("",) * len(self.files)
        media = [
            Media(path=path, mime=mime_of(path), preview_path=preview or None)
            for path, preview in zip(self.files, previews, strict=True)
        ]
        told = self.context
        kind = WorkType.NOVEL if told.type == WorkType.NOVEL else WorkType.ILLUSTRATION
        return composed(kind, WorkId(told.pixiv_id), told.title, media, spoiler=told.spoiler)


def frozen(
    work: Deliverable,
    occasion: Occasion,
    size_of: Callable[[str], int | None],
    *,
    fields: Mapping[str, FieldValue] | None = None,
    delete_after_delivery: bool = True,
) -> Mapping[str, object]:
    """What is promised of the work, the same for every route; `intents.promises` makes one promise a route of it.

    `size_of`: bytes of a local file, None when it is not there. `fields`: those of the download target.
    Errors: `Rejected` for a work without a file that is sent; `Unavailable` when a file is gone.
    """
    files = measured(files_of(work), size_of)
    whole = Payload(
        files=tuple(each.path for each in files),
        preview_files=work.preview_files,
        media_assets=work.media_assets,
        cleanup_files=work.cleanup_files,
        checksums={each.path: each.checksum for each in files if each.checksum},
        fields=fields or None,
        content=content_of(work, files),
        context=_context(work, occasion),
        delete_after_delivery=delete_after_delivery,
    )
    told: Mapping[str, object] = msgspec.to_builtins(whole)
    return {"files": [], "previewFiles": [], "cleanupFiles": [], **told}


def read(payload_json: str) -> Payload:
    """The payload in a row. Errors: `Unreadable`."""
    try:
        found = msgspec.convert(_without_nulls(msgspec.json.decode(payload_json)), Payload, strict=False)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"this payload cannot be read: {error}") from error
    if found.version not in VERSIONS:
        raise Unreadable(f"this program reads no payload of version {found.version}")
    return found


def _without_nulls(told: object) -> object:
    """Other programs write null for what they do not know; here that is what is not there."""
    if not isinstance(told, dict):
        return told
    given = {key: value for key, value in told.items() if value is not None}
    if isinstance(context := given.get("context"), dict):
        given["context"] = {key: value for key, value in context.items() if value is not None}
    return given


def _context(work: Deliverable, occasion: Occasion) -> Context:
    told: dict[str, Any] = msgspec.structs.asdict(occasion)
    return Context(
        **told,
        title=work.title,
        series_title=work.series_title or "",
        pixiv_id=work.work_id,
        type=work.work_type.value,
        work_tags=work.tags,
        author=work.author or "",
        spoiler=work.is_spoiler,
        x_restrict=work.x_restrict,
        published_at=work.published_at or "",
        language=work.language or "",
        bookmark_count=work.bookmark_count,
        view_count=work.view_count,
    )
