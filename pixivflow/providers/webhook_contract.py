"""The words of the contract with gateways, version 1. Keys stand in this order; what is not known is left out."""

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from pixivflow.delivery.plan import Dropped

SCHEMA_VERSION: Final = 1


class Work(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    type: str
    title: str
    source_url: str
    spoiler: bool
    tags: tuple[str, ...] = ()  # reserved by the contract, and empty in this version


class Medium(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One file. `source_url` says where it came from; it cannot be fetched from there without a referer."""

    kind: str
    path: str | UnsetType = UNSET
    data_base64: str | UnsetType = UNSET
    mime: str
    size: int | UnsetType = UNSET
    source_url: str | UnsetType = UNSET
    asset_id: str | UnsetType = UNSET


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    media: Medium | UnsetType = UNSET


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    text: str
    media_transport: str
    parts: tuple[Entry, ...]
    media: tuple[Medium, ...]
    dropped: tuple[Dropped, ...] = ()


class Provenance(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    idempotency_key: str
    slot_id: str | UnsetType = UNSET
    target_id: str | UnsetType = UNSET
    execution_id: str | UnsetType = UNSET
    trigger_source: str | UnsetType = UNSET


class Document(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    schema_version: int = SCHEMA_VERSION
    idempotency_key: str
    delivery_target: str | None
    work: Work
    message: Message
    delivery: Provenance
