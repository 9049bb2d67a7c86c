"""A timeout ends a slot, a shutdown never does; and an end is never counted twice.

The acts of the executions that the harness plays: `overrun` outlives its plan's timeout by design, `stubborn` does so
and ignores its cancellation, `raise` fails on its own, every other comes back or waits to be told. One slot a plan, so
that a plan's executions are its slot's.
"""

from collections import Counter
from collections.abc import Iterator

from tests.promises.evidence import Evidence, Run, Snapshot, Stop

OVERDUE = ("overrun", "stubborn")
UNFINISHED = ("pending", "running")


def judge(evidence: Evidence) -> list[str]:
    """Slots that an orderly stop ended or counted, and slots that ran again after their time was over."""
    if not evidence.snapshots:
        return []
    final = evidence.snapshots[-1]
    return [*_ended_by_a_stop(evidence), *_timeouts(evidence, final), *_crashes(evidence, final)]


def _ended_by_a_stop(evidence: Evidence) -> Iterator[str]:
    for stop in evidence.stops:
        look = next((look for look in evidence.snapshots if look.at >= stop.until), None)
        if stop.signal == "EXIT":
            yield f"process {stop.pid} ended by itself with {stop.code}"
        if stop.signal == "TERM" and stop.code != 0:
            yield f"process {stop.pid} was asked to stop and ended with {stop.code}"
        if stop.signal != "TERM" or stop.code != 0 or look is None:
            continue
        for run in evidence.runs:
            if _in_flight(run, stop) and run.act not in OVERDUE and not _taken_up(run, evidence.runs, look):
                yield from _left(run, look)


def _in_flight(run: Run, stop: Stop) -> bool:
    cut = run.ended_at is None or (run.how == "cancelled" and run.ended_at >= stop.at)
    return run.pid == stop.pid and run.at < stop.until and cut


def _taken_up(run: Run, runs: tuple[Run, ...], look: Snapshot) -> bool:
    """Another process may have gone on with the slot before anyone looked."""
    return any(other.slot == run.slot and run.at < other.at < look.at for other in runs)


def _left(run: Run, look: Snapshot) -> Iterator[str]:
    slot = look["schedule_slots"][run.slot]
    if slot["status"] not in UNFINISHED:
        yield f"slot {run.slot} was running when its process was stopped in order and was ended as `{slot['status']}`"
    if slot["lease_owner"] == run.run:
        yield f"slot {run.slot} was not given back by run {run.run} when its process was stopped in order"
    counted = [row for row in look["scheduler_executions"].values() if row["schedule_id"] == run.plan]
    if not counted or counted[-1]["status"] != "skipped":
        told = counted[-1]["status"] if counted else "nothing"
        yield f"slot {run.slot}: a stop was counted as `{told}` for plan {run.plan}, not as `skipped`"


def _ends(final: Snapshot) -> Counter[tuple[str, str]]:
    return Counter((row["schedule_id"], row["status"]) for row in final["scheduler_executions"].values())


def _timeouts(evidence: Evidence, final: Snapshot) -> Iterator[str]:
    ends = _ends(final)
    overrun = {run.slot: run.plan for run in evidence.runs if run.act in OVERDUE}
    for slot, plan in overrun.items():
        status = final["schedule_slots"][slot]["status"]
        if status != "failed":
            yield f"slot {slot} ran over its time and is `{status}`"
        if ends[plan, "timeout"] != 1:
            yield f"slot {slot} ran over its time and was counted so {ends[plan, 'timeout']} times"
    for plan, status in ends:
        if status == "timeout" and plan not in overrun.values():
            yield f"plan {plan} has a `timeout` though its run had time left"


def _crashes(evidence: Evidence, final: Snapshot) -> Iterator[str]:
    ends = _ends(final)
    for slot, plan in {run.slot: run.plan for run in evidence.runs if run.act == "raise"}.items():
        if ends[plan, "failed"] != 1:
            yield f"slot {slot} failed by a fault of its run and was counted so {ends[plan, 'failed']} times"
