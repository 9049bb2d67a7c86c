"""Nothing is lost: what was accepted ends, and what the ledger says of a delivery is what the receiver says.

For lives that were given all the restarts they needed; judged by the file as it was left and the whole wire.
"""

import json
from collections.abc import Iterator, Mapping

from tests.promises.evidence import Arrival, Evidence, Row, Snapshot
from tests.promises.once import by_key

ENDED = ("success", "partial", "failed", "expired")
CELL_END = ("submitted", "no_candidate", "duplicate", "failed")
OWED = ("pending", "processing", "retry_wait")
FOR_GOOD = "refused"


def judge(evidence: Evidence) -> list[str]:
    """Slots that never ended, rows that are still owed, and answers that the ledger tells otherwise than the wire."""
    if not evidence.snapshots:
        return []
    final = evidence.snapshots[-1]
    arrivals = by_key(evidence.arrivals)
    return [
        *_unfinished(evidence, final),
        *_untold(final),
        *_owed(final),
        *_told_otherwise(final, arrivals),
        *_published(final),
    ]


def _unfinished(evidence: Evidence, final: Snapshot) -> Iterator[str]:
    for acceptance in evidence.acceptances:
        row = final["schedule_slots"].get(acceptance.slot)
        if row is not None and row["status"] not in ENDED:
            yield f"slot {acceptance.slot} was accepted and never ended: it is still `{row['status']}`"


def _untold(final: Snapshot) -> Iterator[str]:
    """Every end has one outcome in the end; one that was forced over an open delivery waits for that."""
    told = [event["slot_id"] for event in final["delivery_events"].values() if event["event"] == "execution.summary"]
    waiting = {cell["slot_id"] for cell in final["schedule_slot_items"].values() if cell["status"] not in CELL_END}
    for slot, row in final["schedule_slots"].items():
        if row["status"] in ENDED and slot not in waiting and told.count(slot) != 1:
            yield f"slot {slot} ended as `{row['status']}` and has {told.count(slot)} outcomes"


def _owed(final: Snapshot) -> Iterator[str]:
    for row in final["outbox"].values():
        if row["status"] in OWED:
            yield f"outbox row {row['id']} of {row['delivery_target']} is still owed: `{row['status']}`"


def _told_otherwise(final: Snapshot, arrivals: Mapping[str, list[Arrival]]) -> Iterator[str]:
    row_of = {row["delivery_id"]: row for row in final["outbox"].values() if row["delivery_id"]}
    for intent in final["deliveries"].values():
        key, seen = intent["idempotency_key"], arrivals.get(intent["idempotency_key"], [])
        taken = any(arrival.taken for arrival in seen)
        refused = any(arrival.answer == FOR_GOOD for arrival in seen)
        match intent["status"]:
            case "delivered" if not taken:
                yield f"intent {key} is `delivered` and the receiver never took it"
            case "duplicate" if taken:
                yield f"intent {key} is filed as somebody else's `duplicate` and the receiver took it from us"
            case "failed" | "pending" if taken:
                yield f"intent {key} is `{intent['status']}` and the receiver took it"
            case "failed" if not refused and not _spent(row_of.get(intent["id"])):
                yield f"intent {key} is `failed` though nobody refused it and its attempts were not spent"


def _spent(row: Row | None) -> bool:
    return row is not None and (row["status"] == "cancelled" or row["attempts"] >= row["max_attempts"])


def _published(final: Snapshot) -> Iterator[str]:
    """A cell counts as published by the answers of its routes alone; one that only stores, by what it has stored."""
    intents: dict[str, list[Row]] = {}
    for intent in final["deliveries"].values():
        intents.setdefault(f"{intent['slot_id']}/{intent['target_id']}", []).append(intent)
    for name, cell in final["schedule_slot_items"].items():
        found = {intent["status"] for intent in intents.get(name, [])}
        is_kept = not found and cell["stored_count"] > 0
        if (
            cell["status"] == "submitted"
            and not is_kept
            and ("delivered" not in found or found & {"failed", "pending"})
        ):
            yield f"cell {name} is `submitted` over intents {json.dumps(sorted(found))}"
        if cell["status"] in ("pending", "selected", "artifact_ready") and found:
            yield f"cell {name} is `{cell['status']}` though work of it was promised to a route"
