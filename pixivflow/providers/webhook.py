"""A generic gateway: one signed JSON document a promise."""

import hashlib
import hmac
from typing import Final

from pixivflow.config.model import Webhook
from pixivflow.delivery.payload import Payload
from pixivflow.providers.bodies import Body
from pixivflow.providers.exchange import Call
from pixivflow.providers.files import Files
from pixivflow.providers.headers import Headers, configured, header_value, merged
from pixivflow.providers.reveal import Reveal
from pixivflow.providers.webhook_document import body_of

_SIGNATURE: Final = frozenset({"x-webhook-timestamp", "x-webhook-signature"})
"""Ours alone, also on a route that signs nothing."""


async def webhook_call(payload: Payload, route: Webhook, reveal: Reveal, files: Files, now: int) -> Call:
    """The request of one attempt.

    Errors: `ConfigError`; `LocalFault`; `Unsendable`.
    """
    url, headers = reveal.address(route.url), configured(route.headers, reveal)
    token, secret = reveal.secret(route.token), reveal.secret(route.signing_secret)
    body = await files.do(body_of, payload, route)
    ours = [
        ("Content-Type", b"application/json"),
        ("X-PixivFlow-Delivery", header_value("X-PixivFlow-Delivery", payload.context.delivery_target or "unknown")),
        ("X-Idempotency-Key", header_value("X-Idempotency-Key", payload.context.idempotency_key)),
        *([("Authorization", header_value("Authorization", f"Bearer {token.strip()}"))] if token.strip() else []),
        *(signature(secret.strip(), now, body) if secret.strip() else []),
    ]
    theirs = [(name, value) for name, value in headers if name.lower() not in _SIGNATURE]
    return Call(method="POST", url=url, headers=merged(theirs, ours), body=Body.of(body), timeout_ms=route.timeout_ms)


def signature(secret: str, now: int, body: bytes) -> Headers:
    """Timestamp and signature over exactly the bytes that are sent.

    Shape: Unix seconds; `sha256=` and the lower-case hex of HMAC-SHA256 over timestamp, a dot and the body.
    """
    stamp = str(now // 1_000)
    signed = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return [("X-Webhook-Timestamp", stamp.encode()), ("X-Webhook-Signature", f"sha256={signed}".encode())]
