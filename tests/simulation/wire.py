"""What the receiver saw, held against what the ledger says at the end of a story."""

from collections.abc import Iterator
from itertools import pairwise

from tests.simulation.chronicle import Chronicle
from tests.simulation.look import INTENTS, ROWS, SLOTS, Look, rows_of
from tests.simulation.receiver import PATIENCE_S, Arrival

COME_BACK = ("", "RetryableFailure")


def judge(chronicle: Chronicle, rows: Look) -> list[str]:
    """Works published twice, arrivals without a cause, publications that the ledger does not know, slots that are not
    there."""
    return [
        *_one_key_one_body(chronicle),
        *_arrivals_have_causes(chronicle, rows),
        *_told_as_it_was(chronicle, rows),
        *(f"slot {slot} was accepted and is not there" for slot in sorted(chronicle.accepted - set(rows[SLOTS]))),
    ]


def _one_key_one_body(chronicle: Chronicle) -> Iterator[str]:
    """A work is taken by a route under one key; a key has one body, route, cell and work.

    Where no word of the receiver was ever written down, nobody could know that it has the work, once the row had been
    given up: such a key does not count.
    """
    of_work: dict[tuple[str, str], set[str]] = {}
    of_key: dict[str, set[tuple[object, ...]]] = {}
    for seen in _heard(chronicle):
        of_work.setdefault((seen.route, seen.work), set()).add(seen.key)
    for seen in chronicle.receiver.arrivals:
        of_key.setdefault(seen.key, set()).add((seen.digest, seen.route, seen.slot, seen.target, seen.work))
    yield from (f"{work} was taken under {sorted(keys)}" for work, keys in of_work.items() if len(keys) > 1)
    yield from (f"{key} came with {len(bodies)} bodies" for key, bodies in of_key.items() if len(bodies) > 1)


def _arrivals_have_causes(chronicle: Chronicle, rows: Look) -> Iterator[str]:
    """A key arrives again only if its answer asked for it, or was not read: one that was read waits for its row."""
    armed = {row["delivery_id"] for name, row in rows[ROWS].items() if name in chronicle.rearmed}
    keys = {rows[INTENTS][intent]["idempotency_key"] for intent in armed}
    by_key: dict[str, list[Arrival]] = {}
    for seen in chronicle.receiver.arrivals:
        by_key.setdefault(seen.key, []).append(seen)
    for key, several in by_key.items():
        for first, second in pairwise(several):
            if first.said not in COME_BACK and key not in keys and not _lost_sight(chronicle, first, second.at_s):
                yield f"{key} was answered {first.said} at {first.at_s:.3f} and came again at {second.at_s:.3f}"


def _lost_sight(chronicle: Chronicle, sent: Arrival, until_s: float) -> bool:
    """Whether the sender ended or stood still before `until_s`, or lost its lease to a clock that was set."""
    was_set = any(sent.at_s <= at <= until_s for at in chronicle.clock_set_s)
    return was_set or chronicle.was_absent(sent.life, sent.at_s, until_s)


def _heard(chronicle: Chronicle) -> list[Arrival]:
    """Arrivals that were taken, and whose answer surely was read and written down."""
    return [
        seen
        for seen in chronicle.receiver.arrivals
        if seen.taken and seen.said and not _lost_sight(chronicle, seen, seen.at_s + PATIENCE_S)
    ]


def _told_as_it_was(chronicle: Chronicle, rows: Look) -> Iterator[str]:
    """`delivered` is what the receiver took from us, and all that it took, unless it never got a word through."""
    sent = {seen.key for seen in chronicle.receiver.arrivals if seen.taken}
    heard = {seen.key for seen in _heard(chronicle)}
    for intent in rows[INTENTS].values():
        key, status = intent["idempotency_key"], intent["status"]
        if status == "delivered" and key not in sent:
            yield f"{key} is delivered and was never taken"
        if status != "delivered" and key in sent:
            [row] = rows_of(rows, intent)
            if key in heard or row["status"] not in ("dead", "cancelled"):
                yield f"{key} was taken, is {status}, and its row is {row['status']}"
    known = {intent["idempotency_key"] for intent in rows[INTENTS].values()}
    yield from (f"{key} arrived and nobody promised it" for key in sorted(sent - known))
