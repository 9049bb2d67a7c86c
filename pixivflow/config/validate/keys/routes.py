"""`delivery` and its routes."""

from typing import Final

from pixivflow.config.model.routes import ArrayFormat, IdempotencyMechanism, MediaTransport, Method, TruncatePolicy
from pixivflow.config.validate.addresses import url
from pixivflow.config.validate.judges import any_text, choice, flag, text, whole
from pixivflow.config.validate.keys.fields import FIELDS, HEADERS
from pixivflow.config.validate.keys.receipts import ACK, SUCCESS
from pixivflow.config.validate.shape import Group, Leaf, Named, Variants
from pixivflow.config.validate.words import bot_token

_CAPABILITY: Final = "DELIVERY_CAPABILITY_INVALID"
_REQUIRED: Final = "DELIVERY_FIELD_REQUIRED"
_TELEGRAM_TEXTS: Final = ("botId", "chatId", "publishChatId", "controlPlaneToken")
_FLAGS: Final = ("text", "image", "file", "album", "video", "requiresTwoPhaseUpload")
_SIZES: Final = ("maxTextLength", "maxCaptionLength", "maxUploadBytes", "maxAttachmentsPerMessage")
_LIMITS: Final = (*_SIZES, "minSendIntervalMs")

CAPABILITIES: Final = Group(
    {
        **{name: Leaf(flag(_CAPABILITY)) for name in _FLAGS},
        **{name: Leaf(whole(0, code=_CAPABILITY)) for name in _LIMITS},
        "albumMin": Leaf(whole(1, code=_CAPABILITY)),
        "albumMax": Leaf(whole(1, code=_CAPABILITY)),
        "truncatePolicy": Leaf(choice(TruncatePolicy, _CAPABILITY)),
        "idempotencyMechanism": Leaf(choice(IdempotencyMechanism, _CAPABILITY)),
    },
    code=_CAPABILITY,
)

HTTP_MULTIPART: Final = Group(
    {
        "url": Leaf(url("DELIVERY_URL_INVALID")),
        "readinessUrl": Leaf(url("DELIVERY_READINESS_URL_INVALID")),
        "notificationUrl": Leaf(url("DELIVERY_NOTIFICATION_URL_INVALID")),
        "refetchOutcomeUrl": Leaf(url("DELIVERY_REFETCH_OUTCOME_URL_INVALID")),
        "scheduleOutcomeUrl": Leaf(url("DELIVERY_SCHEDULE_OUTCOME_URL_INVALID")),
        "method": Leaf(choice(Method, "DELIVERY_METHOD_INVALID")),
        "headers": HEADERS,
        "fileField": Leaf(text()),
        "previewFileField": Leaf(text()),
        "fields": FIELDS,
        "arrayFormat": Leaf(choice(ArrayFormat)),
        "autoIdempotencyKey": Leaf(flag()),
        "maxAttempts": Leaf(whole(1, code="DELIVERY_ATTEMPTS_INVALID")),
        "retryDelayMs": Leaf(whole(0)),
        "ack": ACK,
        "success": SUCCESS,
        "capabilities": CAPABILITIES,
    },
    required={"url": "DELIVERY_URL_INVALID"},
)

WEBHOOK: Final = Group(
    {
        "url": Leaf(url("DELIVERY_URL_INVALID")),
        "token": Leaf(any_text()),
        "signingSecret": Leaf(any_text()),
        "headers": HEADERS,
        "timeoutMs": Leaf(whole(1)),
        "mediaTransport": Leaf(choice(MediaTransport)),
        "maxInlineBytes": Leaf(whole(0)),
        "pairingUrl": Leaf(url("FIELD_INVALID")),
        "pairingAllowRedirects": Leaf(flag()),
        "capabilities": CAPABILITIES,
    },
    required={"url": "DELIVERY_URL_INVALID"},
)

TELEGRAM: Final = Group(
    {
        **{name: Leaf(text(_REQUIRED)) for name in _TELEGRAM_TEXTS},
        "botToken": Leaf(bot_token("DELIVERY_BOT_TOKEN_INVALID")),
        "controlPlaneUrl": Leaf(url("DELIVERY_CONTROL_PLANE_URL_INVALID")),
        "publishThreadId": Leaf(whole(0, code="DELIVERY_PUBLISH_THREAD_INVALID")),
        "caption": Leaf(any_text()),
        "album": Leaf(flag()),
        "reviewIdPrefix": Leaf(text()),
        "capabilities": CAPABILITIES,
    },
    required=dict.fromkeys((*_TELEGRAM_TEXTS, "botToken", "controlPlaneUrl"), _REQUIRED),
)

ROUTE: Final = Variants(
    "type",
    {"httpMultipart": HTTP_MULTIPART, "webhook": WEBHOOK, "telegram": TELEGRAM},
    code="DELIVERY_TYPE_UNSUPPORTED",
)

DELIVERY: Final = Group(
    {
        "targets": Named(ROUTE),
        "deleteAfterDelivery": Leaf(flag()),
        "outboxRetryBaseMs": Leaf(whole(0, code="OUTBOX_RETRY_BASE_INVALID")),
        "outboxRetryMaxMs": Leaf(whole(0, code="OUTBOX_RETRY_MAX_INVALID")),
    }
)
