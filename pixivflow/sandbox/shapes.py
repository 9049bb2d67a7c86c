"""How the sink answers an arrival: the ways in which real receivers say yes, no, again and something else."""

from collections.abc import Callable
from typing import Any, Final

from pixivflow.sandbox.message import Reply, json_reply
from pixivflow.sandbox.receipts import Receipt
from pixivflow.sandbox.switches import Shape

Answer = Callable[[Receipt, Shape], Reply]
SOMEBODY: Final = "somebody-elses-key"
NOTHING: Final = Reply(status=204)


def answer(receipt: Receipt, shape: Shape) -> Reply:
    """The answer to the arrival that was counted last. A shape that a route does not have is its default."""
    shapes = SHAPES[receipt.kind]
    return shapes.get(shape.shape, shapes["default"])(receipt, shape)


def _hooked(receipt: Receipt, _shape: Shape) -> Reply:
    return json_reply({"status": "duplicate" if receipt.is_known else "accepted", "id": receipt.effect_id})


def _queued(receipt: Receipt, shape: Shape) -> Reply:
    if receipt.arrivals <= shape.n:
        return json_reply({"status": "queued"}, 202)
    return json_reply({"status": "published", "id": receipt.effect_id})


def _review(receipt: Receipt, code: int, /, **more: Any) -> Reply:
    known = {"status": "pending_review", "review_id": receipt.number, "reused": False}
    return json_reply({"data": {**known, **more}}, code)


def _submitted(receipt: Receipt, _shape: Shape) -> Reply:
    if not receipt.is_known:
        return _review(receipt, 201)
    return _review(receipt, 200, reused=True, reuse_reason="idempotent_replay", matched_idempotency_key=receipt.key)


def _said(status: int, told: dict[str, Any]) -> Answer:
    return lambda _receipt, _shape: json_reply(told, status)


def _silent(_receipt: Receipt, _shape: Shape) -> Reply:
    return NOTHING


def _text(_receipt: Receipt, _shape: Shape) -> Reply:
    return Reply(headers=(("Content-Type", "text/plain; charset=UTF-8"),), body=b"thank you")


SHAPES: Final[dict[str, dict[str, Answer]]] = {
    "webhook": {
        "default": _hooked,
        "queued": _queued,
        "weird": _said(200, {"status": "weird"}),
        "failed_200": _said(200, {"status": "rejected", "reason": "refused by the sandbox"}),
        "duplicate": _said(200, {"status": "duplicate_existing"}),
        "duplicate_other": _said(200, {"status": "duplicate_existing", "matched_idempotency_key": SOMEBODY}),
        "conflict": _said(409, {"error": "conflict"}),
        "empty": _silent,
    },
    "submissions": {
        "default": _submitted,
        "weird": _text,
        "failed_200": lambda receipt, _: _review(receipt, 200, status="FAILED", reused=True),
        "duplicate": lambda receipt, _: _review(receipt, 200, reused=True, reuse_reason="duplicate_existing"),
        "duplicate_other": lambda receipt, _: _review(
            receipt, 200, reused=True, reuse_reason="duplicate_existing", matched_idempotency_key=SOMEBODY
        ),
        "conflict": _said(409, {"error": "conflict"}),
        "empty": _silent,
        "fallback": lambda receipt, _: _review(
            receipt, 201, media_fallback=True, media_fallback_reason="the picture was too large"
        ),
    },
    "notifications": {"default": _said(200, {"status": "ok"})},
    "events": {"default": lambda receipt, _: json_reply({"error": "known"}, 409) if receipt.is_known else NOTHING},
}
