"""Nothing is doubled: a work goes to a route under one key with one body, and again only for a cause the wire shows.

The snapshot's instant is taken inside the reading transaction, so what it shows `done` was done before `at`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from tests.promises.evidence import Arrival, Evidence, Stop

ASKED_TO_COME_BACK = "unavailable"


def judge(evidence: Evidence) -> list[str]:
    """Second keys, second bodies, second works, and arrivals that nothing excuses."""
    return [
        *_two_of(evidence.arrivals, ("route", "work"), "key"),
        *_two_of(evidence.arrivals, ("key",), "digest"),
        *_two_of(evidence.arrivals, ("key",), "route"),
        *_two_of(evidence.arrivals, ("slot", "target"), "work"),
        *_without_cause(evidence.arrivals, evidence.stops),
        *_after_the_end(evidence),
        *_unannounced(evidence),
    ]


def _two_of(arrivals: Iterable[Arrival], one: tuple[str, ...], thing: str) -> list[str]:
    seen: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for arrival in arrivals:
        seen[tuple(getattr(arrival, name) for name in one)].add(getattr(arrival, thing))
    return [
        f"{' '.join(one)} {' '.join(values)} arrived with {len(found)} values of {thing}: {', '.join(sorted(found))}"
        for values, found in sorted(seen.items())
        if len(found) > 1
    ]


def by_key(arrivals: Iterable[Arrival]) -> dict[str, list[Arrival]]:
    """The arrivals of each key, in the receiver's order."""
    found: dict[str, list[Arrival]] = defaultdict(list)
    for arrival in sorted(arrivals, key=lambda arrival: arrival.n):
        found[arrival.key].append(arrival)
    return found


def _without_cause(arrivals: Iterable[Arrival], stops: Sequence[Stop]) -> list[str]:
    return [
        f"key {key} arrived again as number {second.n} though arrival {first.n} was answered `{first.answer}`, "
        f"the answer was read, and its sender {first.sender} was not stopped in between"
        for key, several in by_key(arrivals).items()
        for first, second in pairwise(several)
        if not _excused(first, second, stops)
    ]


def _excused(first: Arrival, second: Arrival, stops: Iterable[Stop]) -> bool:
    if not first.delivered or first.answer == ASKED_TO_COME_BACK:
        return True
    return any(
        stop.pid in (first.sender, second.sender) and stop.at <= second.at and stop.until >= first.at
        for stop in stops
        if stop.signal in ("KILL", "FREEZE")
    )


def _after_the_end(evidence: Evidence) -> list[str]:
    """A row that stood `done` is never sent again, but by a process that was frozen on its way to the send."""
    done_at: dict[str, int] = {}
    for look in evidence.snapshots:
        for row in look["outbox"].values():
            if row["status"] == "done" and row["kind"] == "delivery":
                key = look["deliveries"][row["delivery_id"]]["idempotency_key"]
                done_at[key] = min(look.at, done_at.get(key, look.at))
    return [
        f"key {arrival.key} arrived as number {arrival.n} after its outbox row stood `done`"
        for arrival in evidence.arrivals
        if arrival.at > done_at.get(arrival.key, arrival.at)
        and not _slept_through(done_at[arrival.key], arrival, evidence.stops)
    ]


def _slept_through(instant: int, arrival: Arrival, stops: Iterable[Stop]) -> bool:
    return any(
        stop.signal == "FREEZE" and stop.pid == arrival.sender and stop.at <= instant and stop.until <= arrival.at
        for stop in stops
    )


def _unannounced(evidence: Evidence) -> list[str]:
    """Each attempt is in the ledger before its bytes leave, so a key never arrives more often than it was claimed."""
    if not evidence.snapshots:
        return []
    final = evidence.snapshots[-1]
    keys = {row["delivery_id"]: row["id"] for row in final["outbox"].values()}
    row_of = {intent["idempotency_key"]: keys.get(intent["id"]) for intent in final["deliveries"].values()}
    claims: dict[str, int] = defaultdict(int)
    for event in final["delivery_events"].values():
        if event["event"] == "outbox.claimed":
            claims[event["outbox_id"]] += 1
    faults = []
    for key, several in by_key(evidence.arrivals).items():
        row = row_of.get(key)
        if row is None:
            faults.append(f"key {key} arrived and no outbox row carries it")
        elif len(several) > claims[row]:
            faults.append(f"key {key} arrived {len(several)} times, row {row} was claimed {claims[row]} times")
    return faults
