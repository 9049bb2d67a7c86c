"""The fields of a submission: the route's, replaced by the target's, filled from the frozen context."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from pixivflow.config.model import FieldValue, HttpMultipart
from pixivflow.delivery.artifact import MediaAsset
from pixivflow.delivery.payload import Payload
from pixivflow.delivery.plan import Unsendable
from pixivflow.delivery.templates import PLACEHOLDER, filled, values_of

KEY_FIELD: Final = "idempotency_key"
KEY_FIELDS: Final = frozenset({KEY_FIELD, "idempotencyKey"})
ASSETS_FIELD: Final = "media_assets"
REFETCH_FIELD: Final = "refetch_request_id"

Field = tuple[str, str]


def fields_of(payload: Payload, route: HttpMultipart) -> list[Field]:
    """Name and text of each field, in the order in which they are sent.

    Errors: `Unsendable` for a provenance that would arrive as an unfilled placeholder, since a receiver refuses the
    whole submission for it.
    """
    given = {**route.fields, **(payload.fields or {})}
    values = values_of(payload.context)
    if payload.media_assets:
        given.pop(ASSETS_FIELD, None)
    fields = [
        (name, text) for name, value in given.items() for text in _texts(_filled(value, values), route.array_format)
    ]
    for name, text in fields:
        if name == REFETCH_FIELD and PLACEHOLDER.search(text):
            raise Unsendable(f"{REFETCH_FIELD} still holds a placeholder")
    if route.auto_idempotency_key and not KEY_FIELDS & given.keys():
        fields.append((KEY_FIELD, payload.context.idempotency_key))
    if payload.media_assets:
        fields.append((ASSETS_FIELD, _assets(payload.media_assets)))
    return fields


def _filled(value: FieldValue, values: dict[str, str]) -> str | list[str]:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return filled(value, values)
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case _:
            return [filled(item, values) for item in value]


def _texts(value: str | list[str], array_format: str) -> Iterator[str]:
    items = [value] if isinstance(value, str) else value
    match array_format:
        case "json":
            yield _json(items)
        case "repeat":
            yield from items
        case _:
            yield ",".join(items)


class _Asset(msgspec.Struct, omit_defaults=True):
    asset_id: str
    kind: str
    source_url: str
    mime_type: str | None = None


def _assets(assets: Sequence[MediaAsset]) -> str:
    """The pictures as a strict receiver knows them; what else we know of them is ours."""
    return _json([_Asset(each.id, each.kind, each.source_url, each.mime_type) for each in assets])


def _json(items: Sequence[object]) -> str:
    return msgspec.json.encode(items).decode()
