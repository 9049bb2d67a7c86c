"""From a work that was brought home to what each route of its target is promised.

The walk of a run knows a work as Pixiv told of it and files as they were fetched; a promise knows neither. Here the one
becomes the other, once, before the transaction that records both.
"""

import os
from collections.abc import Callable

import msgspec

from pixivflow.config.model import Target
from pixivflow.delivery.artifact import Artifact, Deliverable, MediaAsset, Variant, artifact_id, asset_id
from pixivflow.delivery.intents import Order, Promise, promises
from pixivflow.delivery.payload import Occasion, frozen
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.target import day_of
from pixivflow.slots.model import Slot
from pixivflow.slots.ports import Entry, FetchedFile
from pixivflow.times import iso


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What one run promises under: its occurrence, when it began (epoch ms), and the settings that it began with."""

    slot: Slot
    started_at: int
    delete_after_delivery: bool = True
    asset_namespace: str = "pixiv"


def pledges(
    entry: Entry[WorkDetail], terms: Terms, size_of: Callable[[str], int | None], new_id: Callable[[], str]
) -> tuple[Promise, ...]:
    """One promise a route of the entry's target, complete with its frozen payload.

    `size_of`: bytes of a local file, None when it is not there. `new_id`: a fresh UUID.
    Errors: `Rejected` when no file of the work is of a kind that is sent; `Unavailable` when one is gone; `ValueError`
    for a target without routes.
    """
    payload = frozen(
        _deliverable(entry, terms.asset_namespace),
        _occasion(entry, terms),
        size_of,
        fields=entry.target.delivery.fields,
        delete_after_delivery=terms.delete_after_delivery,
    )
    order = Order(
        work_type=entry.work.work_type,
        work_id=entry.work.work_id,
        slot_id=terms.slot.id,
        target_id=entry.target_id,
    )
    return promises(order, entry.target.routes, payload, new_id)


def _deliverable(entry: Entry[WorkDetail], namespace: str) -> Deliverable:
    told = entry.detail
    files = tuple(_artifact(entry, file) for file in entry.files)
    return Deliverable(
        work_id=entry.work.work_id,
        work_type=entry.work.work_type,
        title=told.title,
        artifacts=files,
        media_assets=_assets(entry, files, namespace),
        author=told.user_name or None,
        tags=tuple(tag.name for tag in told.tags),
        x_restrict=told.x_restrict,
        published_at=None if told.created_at is None else iso(told.created_at),
        bookmark_count=told.bookmarks,
        view_count=told.views,
    )


def _artifact(entry: Entry[WorkDetail], file: FetchedFile) -> Artifact:
    return Artifact(
        id=artifact_id(entry.work.work_id, Variant.ORIGINAL, os.path.basename(file.path)),
        work_id=entry.work.work_id,
        variant=Variant.ORIGINAL,
        path=file.path,
        mime_type=file.mime or None,
        size=file.size,
        checksum=file.sha256,
    )


def _assets(entry: Entry[WorkDetail], artifacts: tuple[Artifact, ...], namespace: str) -> tuple[MediaAsset, ...]:
    """The picture behind each file; an animation's frames are pictures of their own and belong to no file."""
    made = {file.page: (file, artifact) for file, artifact in zip(entry.files, artifacts, strict=True)}
    assets = []
    for page in entry.detail.pages:
        file, artifact = made.get(page.index, (None, None))
        smaller = page.fallback_url if file is not None and file.degraded else None
        assets.append(
            MediaAsset(
                id=asset_id(entry.work.work_id, "illust", f"page-{page.index}", namespace),
                source_url=smaller or page.original_url,
                page=page.index,
                artifact_id=artifact.id if artifact is not None else None,
            )
        )
    return tuple(assets)


def _occasion(entry: Entry[WorkDetail], terms: Terms) -> Occasion:
    slot, target = terms.slot, entry.target
    return Occasion(
        target_id=entry.target_id,
        tag=target.label,
        topic=target.topic or "",
        slot_id=slot.id,
        slot_name=slot.slot_name,
        slot_date=slot.slot_date,
        schedule_id=slot.schedule_id,
        execution_id=slot.id,  # an occurrence is its own execution, as far as anybody outside is told
        occurrence_at="" if slot.occurrence_at is None else iso(slot.occurrence_at),
        trigger_source=slot.trigger_source or "",
        ranking_date=_ranking_date(target, terms.started_at),
        refetch_request_id=slot.manual_request_id or "",
    )


def _ranking_date(target: Target, started_at: int) -> str:
    """The day that a ranking was asked for; empty where none was named."""
    is_named = target.mode == "ranking" and target.ranking_date
    return day_of(target.ranking_date or "", started_at).isoformat() if is_named else ""
