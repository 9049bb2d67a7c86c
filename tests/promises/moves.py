"""Between two looks every state went a way that the tables know, and nothing that was written once was rewritten.

The moves are the specification's (slots: scheduling 6.1; cells 6.2; intents and rows: delivery 8.1 and 8.2), without
what only an operator may do. Two looks may be several moves apart, so a way may be longer than one step.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from tests.promises.evidence import Evidence, Row, Snapshot

Moves = Mapping[str, frozenset[str]]

CELL_END = ("submitted", "no_candidate", "duplicate", "failed")


def _moves(**ways: str) -> Moves:
    return {state: frozenset(to.split()) for state, to in ways.items()}


STATES: Mapping[str, Moves] = {
    "schedule_slots": _moves(
        pending="running success partial failed",
        running="success partial failed",
        failed="running success partial",
        success="",
        partial="",
        expired="",
    ),
    "schedule_slot_items": _moves(
        pending="selected artifact_ready delivery_pending submitted no_candidate duplicate failed",
        selected="pending artifact_ready delivery_pending submitted no_candidate duplicate failed",
        artifact_ready="delivery_pending submitted duplicate failed",
        delivery_pending="submitted duplicate failed",
        **dict.fromkeys(CELL_END, ""),
    ),
    "deliveries": _moves(
        pending="delivered duplicate failed", failed="delivered duplicate", delivered="", duplicate=""
    ),
    "outbox": _moves(
        pending="processing cancelled",
        processing="pending retry_wait done dead",
        retry_wait="processing cancelled",
        done="",
        dead="",
        cancelled="",
    ),
    "scheduler_executions": _moves(success="", failed="", timeout="", skipped=""),
}

WRITTEN_ONCE: Mapping[str, tuple[str, ...]] = {
    "schedule_slots": ("schedule_id", "occurrence_at", "timezone", "target_ids", "manual_request_id", "created_at"),
    "schedule_slot_items": ("slot_id", "target_id"),
    "scheduler_executions": ("execution_number", "schedule_id", "start_time", "end_time", "error_message"),
    "deliveries": ("delivery_target", "work_type", "pixiv_id", "slot_id", "target_id", "idempotency_key"),
    "outbox": ("kind", "idempotency_key", "delivery_id", "delivery_target", "payload_json", "max_attempts"),
    "delivery_events": ("ts", "delivery_id", "outbox_id", "slot_id", "event", "detail"),
}
STAMPED_ONCE = ("started_at", "completed_at", "delivered_at", "reported_at", "terminal_reason_code")
OVER = {"schedule_slot_items": CELL_END, "outbox": ("done", "dead", "cancelled")}
"""States in which nobody has anything to write any more, whatever he slept through."""
NEVER_FEWER = ("attempts", "attempt_count", "fallback_stage", "answer_unknown")


def judge(evidence: Evidence) -> list[str]:
    """Rows that vanished, states that moved where no table leads, facts that were changed after they were written."""
    return [
        fault
        for before, after in pairwise(evidence.snapshots)
        for table in WRITTEN_ONCE
        for identity, old in before[table].items()
        for fault in _changes(table, identity, old, after)
    ]


def _changes(table: str, identity: str, old: Row, after: Snapshot) -> Iterator[str]:
    new = after[table].get(identity)
    if new is None:
        yield f"{table} {identity} was there and is gone"
        return
    if table in STATES and new["status"] not in reachable(STATES[table], old["status"]):
        yield f"{table} {identity} went from `{old['status']}` to `{new['status']}`"
    for column in WRITTEN_ONCE[table]:
        if old[column] != new[column]:
            yield f"{table} {identity} had {column} {old[column]!r} and has {new[column]!r}"
    for column in STAMPED_ONCE:
        if old.get(column) is not None and old[column] != new[column] and not _opened_again(table, old, column):
            yield f"{table} {identity} had its {column} stamped {old[column]!r} and then {new[column]!r}"
    for column in NEVER_FEWER:
        if column in old and new[column] < old[column]:
            yield f"{table} {identity} went back in {column} from {old[column]} to {new[column]}"
    if old.get("status") in OVER.get(table, ()):
        yield from (
            f"{table} {identity} was over and {column} became {new[column]!r}" for column in _differing(old, new)
        )
    if table == "schedule_slot_items" and _swapped(old, new):
        yield f"cell {identity} held work {old['work_id']} as `{old['status']}` and holds {new['work_id']}"


def _differing(old: Row, new: Row) -> list[str]:
    return [column for column in old if old[column] != new[column]]


def _opened_again(table: str, old: Row, column: str) -> bool:
    """A failed slot may be taken up again for its open delivery, and then has no end yet."""
    return table == "schedule_slots" and old["status"] == "failed" and column == "completed_at"


def _swapped(old: Row, new: Row) -> bool:
    """A binding may be given back only before there is an artifact."""
    return old["status"] not in ("pending", "selected") and bool(old["work_id"]) and old["work_id"] != new["work_id"]


def reachable(moves: Moves, state: str) -> frozenset[str]:
    """`state` and everything that lies behind it."""
    found = {state}
    while more := {to for at in found for to in moves[at]} - found:
        found |= more
    return frozenset(found)
