"""The document that a gateway receives, made from a frozen promise: the same bytes for every attempt.

No credential stands in it, and no local path but that of a medium that the gateway is to read itself.
"""

import base64
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import UNSET

from pixivflow.config.model import Webhook
from pixivflow.delivery.media import AlbumPart, Media, Part, TextPart, kind_of
from pixivflow.delivery.payload import Context, Payload
from pixivflow.delivery.plan import planned
from pixivflow.providers import files
from pixivflow.providers.bodies import LocalFault
from pixivflow.providers.webhook_contract import Document, Entry, Medium, Message, Provenance, Work


def body_of(payload: Payload, route: Webhook) -> bytes:
    """The bytes that are sent, and signed. Reads the files where they travel inside; call it in a thread.

    Errors: `LocalFault` for a file that cannot be read, and when they are too long together; `Unsendable`.
    """
    return msgspec.json.encode(document(payload, route, _inline(payload, route)))


def document(payload: Payload, route: Webhook, inline: Mapping[str, str]) -> Document:
    """The document. `inline`: base64 of each file by its path, empty where the gateway reads the files itself.

    Errors: `Unsendable` when the gateway declares that it can take nothing of it.
    """
    shown = payload.shown
    text, parts, dropped = planned(shown, route.capabilities)
    entries = tuple(_entries(parts, inline))
    return Document(
        idempotency_key=payload.context.idempotency_key,
        delivery_target=payload.context.delivery_target or None,
        work=Work(
            id=shown.work_id,
            type=shown.work_type.value,
            title=shown.title,
            source_url=shown.source_url,
            spoiler=shown.spoiler,
        ),
        message=Message(
            text=text,
            media_transport=route.media_transport,
            parts=entries,
            media=tuple(entry.media for entry in entries if entry.media is not UNSET),
            dropped=dropped,
        ),
        delivery=_provenance(payload.context),
    )


def _entries(parts: tuple[Part, ...], inline: Mapping[str, str]) -> Iterator[Entry]:
    for part in parts:
        match part:
            case TextPart():
                yield Entry(kind="text")
            case AlbumPart(items=items):
                yield from (Entry(kind="album", media=_medium(item, inline)) for item in items)
            case _:
                yield Entry(kind=kind_of(part.media.path), media=_medium(part.media, inline))


def _medium(media: Media, inline: Mapping[str, str]) -> Medium:
    data = inline.get(media.path)
    return Medium(
        kind=kind_of(media.path),
        path=media.path if data is None else UNSET,
        data_base64=UNSET if data is None else data,
        mime=media.mime,
        size=UNSET if media.size is None else media.size,
        source_url=media.source_url or UNSET,
        asset_id=media.asset_id or UNSET,
    )


def _provenance(context: Context) -> Provenance:
    return Provenance(
        idempotency_key=context.idempotency_key,
        slot_id=context.slot_id or UNSET,
        target_id=context.target_id or UNSET,
        execution_id=context.execution_id or UNSET,
        trigger_source=context.trigger_source or UNSET,
    )


def _inline(payload: Payload, route: Webhook) -> Mapping[str, str]:
    """The files as text, one read at a time; judged by their sizes before any is read."""
    _, parts, _ = planned(payload.shown, route.capabilities)
    paths = list(dict.fromkeys(media.path for media in _media_of(parts)))
    lengths = {path: files.size(path) for path in paths}  # also for files that the gateway reads: one that is gone now
    if route.media_transport == "reference":
        for path in paths:
            files.prove(path, payload.checksums.get(path))
        return {}
    whole = sum(4 * -(-length // 3) for length in lengths.values())
    if 0 < route.max_inline_bytes < whole:
        text = f"the files are {whole} bytes of base64, more than maxInlineBytes {route.max_inline_bytes}"
        raise LocalFault(text, lasting=True)
    checksums = payload.checksums
    return {path: base64.b64encode(files.whole(path, checksums.get(path))).decode("ascii") for path in paths}


def _media_of(parts: tuple[Part, ...]) -> Iterator[Media]:
    for part in parts:
        match part:
            case TextPart():
                pass
            case AlbumPart(items=items):
                yield from items
            case _:
                yield part.media
