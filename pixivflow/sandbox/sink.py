"""The receiver: strict about what is promised to it, honest about what arrived.

A request is read first: then it is either refused, and is no arrival, or it is an arrival with a kind, a key and a
digest. Only then is it written down and answered.
"""

import hashlib
import hmac
from collections.abc import Callable
from typing import Any, Final

import msgspec

from pixivflow.sandbox.message import Refused, Request, json_of, json_reply
from pixivflow.sandbox.multipart import Malformed, digest, parts_of
from pixivflow.sandbox.receipts import Receipts

SKEW_S: Final = 300


class Arrival(msgspec.Struct, frozen=True):
    """A request that the sink takes. `sha256`: of the body, or of the parts of one that has parts."""

    kind: str
    key: str
    sha256: str


def read(request: Request, path: str, receipts: Receipts, secret: str | None, now: int) -> Arrival:
    """What the request is. Errors: `Refused` with the answer, after the reason was counted."""
    kind = path.removeprefix("/")
    reader = READERS.get(kind)
    if reader is None:
        raise refusal(404, "no such route")
    if request.method != "POST":
        raise Refused(json_reply({"error": "POST only"}, 405, [("Allow", "POST")]))
    if request.is_oversized:
        raise refusal(413, "more than 64 MiB")
    if kind == "webhook" and secret is not None:
        check_signature(request, receipts, secret, now)
    if kind == "submissions" and "content-length" not in request.headers:
        raise refusal(411, "Content-Length is required")
    if not request.is_whole:
        raise refusal(400, "fewer bytes came than were announced")
    key, sha256 = reader(request)
    if not key:
        receipts.keyless += 1
        raise refusal(400, "no idempotency key")
    return Arrival(kind, key, sha256)


def key_of(request: Request, path: str) -> str | None:
    """The key of a request, if it is one that can be read; whether it is taken does not matter."""
    reader = READERS.get(path.removeprefix("/"))
    try:
        return reader(request)[0] if reader else None
    except Refused:
        return None


def refusal(status: int, why: str) -> Refused:
    return Refused(json_reply({"error": why}, status))


def check_signature(request: Request, receipts: Receipts, secret: str, now: int) -> None:
    """The signature is over the timestamp and the very bytes that came. Errors: `Refused`."""
    stamp = request.headers.get("x-webhook-timestamp", "")
    signed = stamp.encode() + b"." + request.body
    right = "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(right.encode(), request.headers.get("x-webhook-signature", "").encode()):
        receipts.bad_signature += 1
        raise refusal(401, "wrong signature")
    if not (stamp.isascii() and stamp.isdecimal()) or abs(now - int(stamp) * 1_000) > SKEW_S * 1_000:
        receipts.stale += 1
        raise refusal(401, "the timestamp is more than 300 s away")


def _webhook(request: Request) -> tuple[str, str]:
    told = _object(request)
    if told.get("schemaVersion") != 1 or told["schemaVersion"] is True:
        raise refusal(400, "schemaVersion must be 1")
    key = request.headers.get("x-idempotency-key", "")
    if key and told.get("idempotencyKey") != key:
        raise refusal(400, "idempotencyKey differs from X-Idempotency-Key")
    return key, _sha256(request)


def _submission(request: Request) -> tuple[str, str]:
    try:
        parts = parts_of(request.headers.get("content-type", ""), request.body)
    except Malformed as malformed:
        raise refusal(400, str(malformed)) from malformed
    if not any(part.file_name for part in parts):
        raise refusal(400, "no file")
    keys = [part.body.decode("utf-8", "replace") for part in parts if part.name == "idempotency_key"]
    return keys[-1] if keys else "", digest(parts)


def _notification(request: Request) -> tuple[str, str]:
    told = _object(request)
    keys = (told.get(name) for name in ("idempotency_key", "request_id", "slot_id"))
    return next((key for key in keys if isinstance(key, str) and key), ""), _sha256(request)


def _event(request: Request) -> tuple[str, str]:
    event_id = _object(request).get("event_id")
    key = request.headers.get("x-idempotency-key", "")
    if key and not (isinstance(event_id, str) and event_id and key.endswith(event_id)):
        raise refusal(400, "X-Idempotency-Key does not end in event_id")
    return key, _sha256(request)


READERS: Final[dict[str, Callable[[Request], tuple[str, str]]]] = {
    "webhook": _webhook,
    "submissions": _submission,
    "notifications": _notification,
    "events": _event,
}


def _object(request: Request) -> dict[str, Any]:
    try:
        told = json_of(request.body)
    except ValueError as error:
        raise refusal(400, str(error)) from error
    if not isinstance(told, dict):
        raise refusal(400, "not a JSON object")
    return told


def _sha256(request: Request) -> str:
    return hashlib.sha256(request.body).hexdigest()
