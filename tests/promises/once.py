"""Nothing is doubled: a work goes to a route under one key with one body, and again only for a cause the wire shows.

The snapshot's instant is taken inside the reading transaction, so what it shows `done` was done before `at`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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
        *_without_cause(evidence),
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


def _without_cause(evidence: Evidence) -> list[str]:
    claims = _claims(evidence)
    return [
        f"key {key} arrived again as number {second.n} though arrival {first.n} was answered `{first.answer}`, "
        f"the answer was read, and its sender {first.sender} was not stopped in between"
        for key, several in by_key(evidence.arrivals).items()
        for first, second in pairwise(several)
        if not (
            not first.delivered
            or first.answer == ASKED_TO_COME_BACK
            or _stopped_in_between(first, second, evidence.stops)
            or _slept_through(first.at, second, several, claims.get(key, []), evidence.stops)
        )
    ]


def _stopped_in_between(first: Arrival, second: Arrival, stops: Iterable[Stop]) -> bool:
    return any(
        stop.pid == first.sender and stop.at <= second.at and stop.until >= first.at
        for stop in stops
        if stop.signal in ("KILL", "FREEZE")
    )


def _slept_through(
    instant: int, arrival: Arrival, of_its_key: Sequence[Arrival], claims: Sequence[int], stops: Iterable[Stop]
) -> bool:
    """Whether its sender was frozen before `instant` with this attempt in its hands: cleared to go, perhaps on its way.

    The last look at the row comes before the send, and between the two a process may sleep for any time.
    """
    for stop in stops:
        if stop.signal != "FREEZE" or stop.pid != arrival.sender or stop.at > instant:
            continue
        cleared = sum(ts <= stop.wall_ms for ts in claims)
        gone = sum(other.begun <= stop.at for other in of_its_key)
        if arrival.begun <= stop.at or cleared > gone:
            return True
    return False


def _after_the_end(evidence: Evidence) -> list[str]:
    """A row that stood `done` is never sent again, but by a process that was frozen on its way to the send."""
    keys, claims = by_key(evidence.arrivals), _claims(evidence)
    done_at: dict[str, int] = {}
    for look in evidence.snapshots:
        for row in look["outbox"].values():
            if row["status"] == "done" and row["kind"] == "delivery":
                key = look["deliveries"][row["delivery_id"]]["idempotency_key"]
                done_at.setdefault(key, look.at)
    return [
        f"key {key} arrived as number {arrival.n} after its outbox row stood `done`"
        for key, instant in done_at.items()
        for arrival in keys.get(key, [])
        if arrival.at > instant and not _slept_through(instant, arrival, keys[key], claims.get(key, []), evidence.stops)
    ]


def _claims(evidence: Evidence) -> dict[str, list[int]]:
    """When each key was cleared to be sent, epoch ms."""
    if not evidence.snapshots:
        return {}
    final = evidence.snapshots[-1]
    key_of = {
        row["id"]: final["deliveries"][row["delivery_id"]]["idempotency_key"]
        for row in final["outbox"].values()
        if row["delivery_id"] in final["deliveries"]
    }
    claims: dict[str, list[int]] = {key: [] for key in key_of.values()}
    for event in final["delivery_events"].values():
        if event["event"] == "outbox.claimed" and event["outbox_id"] in key_of:
            claims[key_of[event["outbox_id"]]].append(event["ts"])
    return claims


def _unannounced(evidence: Evidence) -> Iterator[str]:
    """Each attempt is in the ledger before its bytes leave, so a key never arrives more often than it was cleared."""
    claims = _claims(evidence)
    for key, several in by_key(evidence.arrivals).items():
        if key not in claims:
            yield f"key {key} arrived and no outbox row carries it"
        elif len(several) > len(claims[key]):
            yield f"key {key} arrived {len(several)} times and was cleared to be sent {len(claims[key])} times"
