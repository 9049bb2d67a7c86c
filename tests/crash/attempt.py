"""One attempt at an outbox row: its frozen payload over the wire, and the receiver's words as an ACK."""

import json
from typing import Any

from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    OutboxRow,
    PermanentFailure,
    RetryableFailure,
)
from pixivflow.delivery.ports import Attempt
from tests.crash.sender import send


def attempt_to(host: str, port: int, timeout_ms: int) -> Attempt:
    """The attempts of a daemon whose routes all lead to one receiver."""

    async def attempt(row: OutboxRow) -> Ack:
        context = json.loads(row.payload_json)["context"]
        head = {
            "route": row.route,
            "key": context["idempotencyKey"],
            "slot": context["slotId"],
            "target": context["targetId"],
            "work": context["pixivId"],
        }
        heard = await send(host, port, head, row.payload_json.encode(), timeout_ms)
        if heard.words is None:
            return RetryableFailure(error=heard.error, answer_unknown=heard.sent)
        return _ack(heard.words)

    return attempt


def _ack(words: dict[str, Any]) -> Ack:
    match words["answer"]:
        case "accepted":
            return Accepted(remote_id=words["remote_id"], http_status=201)
        case "idempotent_replay":
            return IdempotentReplay(remote_id=words["remote_id"], http_status=200)
        case "duplicate_existing":
            return DuplicateExisting(remote_id=words["remote_id"], matched_key=words["matched_key"], http_status=200)
        case "conflict":
            return PermanentFailure(error=words["error"], matched_key=words["matched_key"], http_status=409)
        case "unavailable":
            return RetryableFailure(error=words["error"], http_status=503)
        case "refused":
            return PermanentFailure(error=words["error"], http_status=400)
        case other:
            raise ValueError(f"the receiver said {other!r}")
