"""What the end of a run makes of its slot, for each origin: the table of `design`, row by row.

came back, crashed, timeout   added up: what was to be run has failed, deliveries keep their own life; counted
shutdown, from above          untouched, the lease given back, one neutral row
consumer                      nothing but one neutral row
lease lost                    nothing
"""

from collections.abc import Iterator, Sequence

from actors.kit import CancelOrigin, Crashed, End, Ended, Finished
from tests.simulation.laws import holds
from tests.simulation.look import CELLS, EVENTS, EXECUTIONS, IN_DELIVERY, INTENTS, ROWS, SLOTS, TO_BE_RUN, cells_of
from tests.simulation.steps import Step


def runs_end_by_their_fate(step: Step) -> Iterator[str]:
    """A timeout ends a slot, a shutdown never does, and an end is counted once or not at all."""
    if step.by.end is None or not holds(step):
        return
    counted = [row["status"] for row in step.added(EXECUTIONS)]
    if counted != counted_as(step.by.end):
        yield f"{step.by.end} was counted as {counted}"
    match step.by.end:
        case Ended(origin=CancelOrigin.CONSUMER | CancelOrigin.LEASE_LOST):
            yield from _untouched(step, SLOTS, CELLS, INTENTS, ROWS, EVENTS)
        case Ended(origin=CancelOrigin.SHUTDOWN | None):
            yield from _untouched(step, CELLS, INTENTS, ROWS, EVENTS)
            yield from _given_back(step)
        case _:
            yield from _added_up(step)


def counted_as(end: End) -> list[str]:
    """The rows of executions that an end leaves."""
    match end:
        case Finished():
            return ["success"]
        case Crashed():
            return ["failed"]
        case Ended(origin=CancelOrigin.TIMEOUT):
            return ["timeout"]
        case Ended(origin=CancelOrigin.LEASE_LOST):
            return []
        case _:
            return ["skipped"]


def sum_of(states: Sequence[str], *, forced: bool = False) -> str:
    """What the states of a slot's cells add up to."""
    if any(state in TO_BE_RUN or state in IN_DELIVERY for state in states):
        return "failed" if forced else "running"
    submitted = sum(state == "submitted" for state in states)
    if submitted == 0:
        return "failed"
    return "success" if submitted == len(states) else "partial"


def _untouched(step: Step, *tables: str) -> Iterator[str]:
    yield from (f"{step.by.end} changed {table}" for table in tables if step.before[table] != step.after[table])


def _given_back(step: Step) -> Iterator[str]:
    for name, old, new in step.changed(SLOTS):
        freed = old | {"lease_owner": None, "lease_until": None}
        if name != step.by.slot or new != freed:
            yield f"{step.by.end} did more to {name} than give it back"
    if step.after[SLOTS][step.by.slot or ""]["lease_owner"] is not None:
        yield f"{step.by.end} kept the lease of {step.by.slot}"


def _added_up(step: Step) -> Iterator[str]:
    assert step.by.slot is not None
    slot, cells = step.after[SLOTS][step.by.slot], cells_of(step.after, step.by.slot)
    states = [cell["status"] for cell in cells]
    if any(state in TO_BE_RUN for state in states):
        yield f"{step.by.end} left {step.by.slot} with cells that nobody decided: {states}"
    if slot["status"] != sum_of(states, forced=step.by.forced):
        yield f"{step.by.end} made {step.by.slot} {slot['status']} over {states}"
    if slot["lease_owner"] is not None:
        yield f"{step.by.end} kept the lease of {step.by.slot}"
    if step.before[INTENTS] != step.after[INTENTS] or step.before[ROWS] != step.after[ROWS]:
        yield f"{step.by.end} touched deliveries"
    for cell in cells:
        was = step.before[CELLS][f"{step.by.slot}/{cell['target_id']}"]["status"]
        if step.by.forced and was in IN_DELIVERY and cell["status"] != was:
            yield f"{step.by.end} by decree ended a delivery of {step.by.slot}"
