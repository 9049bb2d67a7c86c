"""What the receiver holds, as arrivals that the judges know, and how often a key may have come.

arrivals of a key  ≤  1 + kills between a claim of its row and the record of the answer
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tests.promises.evidence import Arrival, Row, Snapshot, Stop
from tests.whole.settings import ROUTES


def arrivals(receipts: Iterable[dict[str, Any]], final: Snapshot) -> list[Arrival]:
    """One arrival for each body of each key: the receiver counts its arrivals, and does not order them."""
    intents = {row["idempotency_key"]: row for row in final["deliveries"].values()}
    routes = {kind: route for route, kind in ROUTES.items()}
    bodies = [(each, body["sha256"]) for each in receipts for body in each["bodies"]]
    return [
        _arrival(n, receipt["key"], routes[receipt["kind"]], digest, intents.get(receipt["key"], {}))
        for n, (receipt, digest) in enumerate(bodies)
    ]


def _arrival(n: int, key: str, route: str, digest: str, intent: Row) -> Arrival:
    return Arrival(
        n=n, at=0, route=route, key=key, digest=digest, sender=0, begun=0, slot=intent.get("slot_id") or "",
        target=intent.get("target_id") or "", work=intent.get("pixiv_id") or "", taken=True, answer="accepted",
        delivered=True,
    )  # fmt: skip


def repeats(receipts: Iterable[dict[str, Any]], final: Snapshot, stops: Sequence[Stop]) -> list[str]:
    """Keys that came more often than the kills of their senders excuse."""
    rows = {row["delivery_id"]: row["id"] for row in final["outbox"].values()}
    row_of = {intent["idempotency_key"]: rows.get(intent["id"]) for intent in final["deliveries"].values()}
    faults = []
    for receipt in receipts:
        told = [event for event in final["delivery_events"].values() if event["outbox_id"] == row_of[receipt["key"]]]
        excused = _kills_in_flight(told, stops)
        if receipt["arrivals"] > 1 + excused:
            faults.append(f"key {receipt['key']} arrived {receipt['arrivals']} times, and {excused} kills excuse that")
    return faults


def _kills_in_flight(events: Sequence[Row], stops: Sequence[Stop]) -> int:
    """Kills at which an attempt had been announced and its answer was not written down."""
    claims = sorted(event["ts"] for event in events if event["event"] == "outbox.claimed")
    ends = [event["ts"] for event in events if event["event"] == "outbox.delivered"]
    end = min(ends, default=None)
    return sum(
        stop.signal == "KILL" and any(at <= stop.wall_ms for at in claims) and (end is None or stop.wall_ms <= end)
        for stop in stops
    )
