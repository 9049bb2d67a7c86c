"""A live run is never taken away from its owner, a dead one always is taken up.

A run is live from its beginning until it came back, or its process was killed or frozen. A frozen one may be followed
by another once its lease is over; a killed one too, and not before.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from tests.promises.evidence import Evidence, Run, Snapshot, Stop

SWEPT = ("stalled_no_heartbeat", "queued_too_long")
ENDED = ("success", "partial", "failed", "expired")


def judge(evidence: Evidence) -> list[str]:
    """Two runs of one slot at once, leases broken before their time, live slots swept, dead ones left behind."""
    by_slot: dict[str, list[Run]] = defaultdict(list)
    for run in evidence.runs:
        by_slot[run.slot].append(run)
    return [
        fault
        for slot, runs in sorted(by_slot.items())
        for fault in (
            *_at_once(runs, evidence.stops),
            *_too_early(runs, evidence),
            *_swept(slot, runs, evidence),
            *_left_behind(slot, runs, evidence),
        )
    ]


def _over_at(run: Run, stops: Iterable[Stop]) -> int | None:
    """The earliest instant from which another may run; None while there is none."""
    ends = [stop.at for stop in stops if stop.pid == run.pid and stop.until >= run.at]
    if run.ended_at is not None:
        ends.append(run.ended_at)
    return min(ends, default=None)


def _at_once(runs: list[Run], stops: tuple[Stop, ...]) -> Iterator[str]:
    for first, second in pairwise(runs):
        over = _over_at(first, stops)
        if over is None or over > second.at:
            yield f"slot {first.slot} was run by {second.run} while {first.run} was alive and at it"


def _too_early(runs: list[Run], evidence: Evidence) -> Iterator[str]:
    """A killed run's lease stands until its end: seen in a look after the kill, kept by whoever comes next."""
    killed = {stop.pid: stop for stop in evidence.stops if stop.signal == "KILL"}
    for first, second in pairwise(runs):
        stop = killed.get(first.pid)
        if stop is None or first.how:
            continue
        for look in _looks_between(evidence.snapshots, stop.until, second.at):
            slot = look["schedule_slots"].get(first.slot, {})
            if slot.get("lease_owner") == first.run and second.wall_ms < slot["lease_until"]:
                yield f"slot {first.slot} was run by {second.run} before the lease of the dead {first.run} was over"


def _looks_between(looks: Iterable[Snapshot], start: int, end: int) -> list[Snapshot]:
    return [look for look in looks if start <= look.at <= end]


def _swept(slot: str, runs: list[Run], evidence: Evidence) -> Iterator[str]:
    """Swept cells of a slot whose last run came back to a process that never stood still: the run was alive."""
    last = runs[-1]
    frozen = any(stop.pid == last.pid and stop.signal == "FREEZE" for stop in evidence.stops)
    if not evidence.snapshots or last.how != "returned" or frozen:
        return
    for name, cell in evidence.snapshots[-1]["schedule_slot_items"].items():
        if cell["slot_id"] == slot and cell["terminal_reason_code"] in SWEPT:
            yield f"cell {name} was swept as `{cell['terminal_reason_code']}` while {last.run} was alive and at it"


def _left_behind(slot: str, runs: list[Run], evidence: Evidence) -> Iterator[str]:
    if not evidence.snapshots:
        return
    status = evidence.snapshots[-1]["schedule_slots"].get(slot, {}).get("status")
    if not runs[-1].how and status not in ENDED:
        yield f"slot {slot}: run {runs[-1].run} died and nobody took it up, it is still `{status}`"
