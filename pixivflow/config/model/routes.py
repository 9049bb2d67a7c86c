"""Where works are delivered to. URLs and credentials may hold `${NAME}`, filled in when a request is made."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pixivflow.config.mask import Secret
from pixivflow.config.model.targets import FieldValue
from pixivflow.ids import RouteName

ArrayFormat = Literal["comma", "repeat", "json"]
Method = Literal["POST", "PUT"]
MediaTransport = Literal["reference", "base64"]
TruncatePolicy = Literal["split", "truncate", "error"]
IdempotencyMechanism = Literal["none", "platform_key", "upstream_ledger"]


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a receiver can take, where it is less than its type says; None leaves the type's own word.

    Units: characters, bytes, milliseconds.
    """

    text: bool | None = None
    image: bool | None = None
    file: bool | None = None
    album: bool | None = None
    video: bool | None = None
    requires_two_phase_upload: bool | None = None
    max_text_length: int | None = None
    max_caption_length: int | None = None
    max_upload_bytes: int | None = None
    max_attachments_per_message: int | None = None
    album_min: int | None = None
    album_max: int | None = None
    min_send_interval_ms: int | None = None
    truncate_policy: TruncatePolicy | None = None
    idempotency_mechanism: IdempotencyMechanism | None = None


class AckFields(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where an answer of `httpMultipart` says what; `data_path` is dotted."""

    data_path: str = "data"
    id_field: str = "review_id"
    status_field: str = "status"
    reused_field: str = "reused"
    reason_field: str = "reuse_reason"
    key_field: str = "matched_idempotency_key"


class HttpMultipart(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="httpMultipart"):
    """A receiver of multipart submissions, and the places it has for notices. A URL that is None is not offered."""

    url: str
    readiness_url: str | None = None
    notification_url: str | None = None
    refetch_outcome_url: str | None = None
    schedule_outcome_url: str | None = None
    method: Method = "POST"
    headers: Mapping[str, Secret] = {}
    file_field: str = "files"
    preview_file_field: str = "previews"
    fields: Mapping[str, FieldValue] = {}
    array_format: ArrayFormat = "comma"
    auto_idempotency_key: bool = True
    ack: AckFields = AckFields()
    capabilities: Capabilities | None = None


class Webhook(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="webhook"):
    """A gateway that takes JSON documents. `max_inline_bytes`: of base64 text; 0 is no limit."""

    url: str
    token: Secret = Secret()
    signing_secret: Secret = Secret()
    headers: Mapping[str, Secret] = {}
    timeout_ms: int = 30_000
    media_transport: MediaTransport = "reference"
    max_inline_bytes: int = 10_485_760
    pairing_url: str | None = None
    pairing_allow_redirects: bool = False
    capabilities: Capabilities | None = None


class Telegram(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="telegram"):
    """A review chat of an older set-up; no longer advised. Nothing delivers to it."""

    bot_id: str
    bot_token: Secret
    chat_id: str
    publish_chat_id: str
    control_plane_url: str
    control_plane_token: Secret
    publish_thread_id: int | None = None
    caption: str | None = None
    album: bool = True
    review_id_prefix: str = "rv"
    capabilities: Capabilities | None = None


Route = HttpMultipart | Webhook | Telegram


class Delivery(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every route by its name, and how failed attempts are spaced. Units: milliseconds."""

    targets: Mapping[RouteName, Route] = {}
    delete_after_delivery: bool = True
    outbox_retry_base_ms: int = 30_000
    outbox_retry_max_ms: int = 21_600_000
