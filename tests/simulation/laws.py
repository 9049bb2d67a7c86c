"""What no step may do, whoever takes it and whenever: read from the rows before and after, never from the program.

Each law is a generator of sentences, one for each row that broke it; `broken` asks all of them.
"""

from collections.abc import Callable, Iterator
from typing import Final

from actors.kit import CancelOrigin, Ended
from tests.simulation.look import (
    CELLS,
    CONFIRMED,
    EVENTS,
    EXECUTIONS,
    INTENTS,
    OPEN_CELL,
    ROWS,
    SLOTS,
    TABLES,
    Row,
    intents_of,
    is_leased,
)
from tests.simulation.steps import Step
from tests.simulation.ways import WAYS, Who, is_way

Law = Callable[[Step], Iterator[str]]

WRITTEN_ONCE: Final = {
    SLOTS: ("schedule_id", "occurrence_at", "timezone", "target_ids", "manual_request_id", "created_at"),
    CELLS: ("slot_id", "target_id", "created_at"),
    INTENTS: ("delivery_target", "work_type", "pixiv_id", "slot_id", "target_id", "idempotency_key"),
    ROWS: ("kind", "idempotency_key", "delivery_id", "delivery_target", "max_attempts", "created_at"),
}


def nothing_vanishes(step: Step) -> Iterator[str]:
    """Rows stay, what was written once stays as it is, and what happened is never told differently."""
    for table in TABLES:
        yield from (f"{table} {name} is gone" for name in step.before[table] if name not in step.after[table])
        for name, old, new in step.changed(table):
            fixed = WRITTEN_ONCE.get(table, tuple(old))
            yield from (f"{table} {name}: {each} was rewritten" for each in fixed if old[each] != new[each])


def states_go_their_ways(step: Step) -> Iterator[str]:
    """No state goes where the tables do not lead this actor."""
    for table in WAYS:
        for name, old, new in step.changed(table):
            if not is_way(table, step.by.who, old["status"], new["status"]):
                yield f"{table} {name} went from {old['status']} to {new['status']}"


def what_is_over_stays(step: Step) -> Iterator[str]:
    """An ended cell, a confirmed promise and a finished row are not written to again; a completed slot never moves."""
    over = [
        *(("cell", name) for name, old, _ in step.changed(CELLS) if old["status"] not in OPEN_CELL),
        *(("intent", name) for name, old, _ in step.changed(INTENTS) if old["status"] in CONFIRMED),
        *(("row", name) for name, old, new in step.rewritten(ROWS, but=("updated_at",)) if _was_done(step, old, new)),
        *(
            ("slot", name)
            for name, old, _ in step.rewritten(SLOTS, but=("reported_at", "events_closed_at"))
            if old["status"] in ("success", "partial")
        ),
    ]
    yield from (f"{what} {name} was over and was written to" for what, name in over)


def _was_done(step: Step, old: Row, new: Row) -> bool:
    """An operator alone may send once more what a receiver has ended badly."""
    return old["status"] == "done" and not (step.by.who is Who.OPERATOR and new["status"] == "retry_wait")


def live_slots_are_left_alone(step: Step) -> Iterator[str]:
    """While somebody's lease lives nobody else writes to the slot or its unfinished search, but the consumer."""
    if step.by.who is Who.CONSUMER:
        return
    foreign = {
        name
        for name, slot in step.before[SLOTS].items()
        if is_leased(slot, step.at) and slot["lease_owner"] != step.by.owner
    }
    yield from (f"slot {name} was leased and was written to" for name, _, _ in step.changed(SLOTS) if name in foreign)
    for name, old, _ in step.changed(CELLS):
        if old["slot_id"] in foreign and not (step.by.who in (Who.PUMP, Who.OPERATOR) and intents_of(step.before, old)):
            yield f"cell {name} of a leased slot was written to"


def live_rows_are_left_alone(step: Step) -> Iterator[str]:
    """While a worker's lease lives nobody else changes its row."""
    for name, old, _ in step.rewritten(ROWS, but=("updated_at",)):
        if old["status"] == "processing" and is_leased(old, step.at) and old["lease_owner"] != step.by.owner:
            yield f"row {name} was leased to {old['lease_owner']} and was changed"


def leases_are_taken_in_ones_own_name(step: Step) -> Iterator[str]:
    """Nobody takes or extends a lease for somebody else."""
    for table in (SLOTS, ROWS):
        for name, old, new in step.changed(table):
            lease, before = [(row["lease_owner"], row["lease_until"]) for row in (new, old)]
            if lease not in ((None, None), before) and new["lease_owner"] != step.by.owner:
                yield f"{table} {name} is leased to {new['lease_owner']}, who did nothing"


def rows_are_claimed_when_due(step: Step) -> Iterator[str]:
    """A row is taken up when it is due or its lease is over, by a claim and by nothing else."""
    for name, old, new in step.changed(ROWS):
        if step.what != "claim":
            if new["status"] == "processing" and old["status"] != "processing":
                yield f"row {name} was taken up by {step.what}"
            continue
        due = old["lease_until"] if old["status"] == "processing" else old["next_attempt_at"]
        if due > step.at:
            yield f"row {name} was claimed {due - step.at} ms before it was due"
        if old["status"] == "processing" and not new["answer_unknown"]:
            yield f"row {name} was taken over from a lost attempt and forgot it"


def the_stale_write_nothing(step: Step) -> Iterator[str]:
    """A run that does not hold its slot, and a pump that does not hold its row, change nothing; facts excepted."""
    touched = [table for table in TABLES if step.before[table] != step.after[table]]
    by, allowed = step.by, list[str]()
    if by.who is Who.RUN and by.slot is not None and not holds(step):
        if isinstance(by.end, Ended) and by.end.origin is CancelOrigin.CONSUMER:
            allowed = [EXECUTIONS]  # the neutral row of a run whose work nobody wants any more
    elif by.who is Who.PUMP and by.rows and not any(_has(step, row) for row in by.rows):
        allowed = [INTENTS, CELLS, EVENTS] if by.fact else []
    else:
        return
    yield from (f"{by.owner} holds nothing and wrote {table}" for table in touched if table not in allowed)


def holds(step: Step) -> bool:
    """Whether the run of the step held its slot before it."""
    slot = step.before[SLOTS].get(step.by.slot or "")
    return slot is not None and slot["lease_owner"] == step.by.owner and slot["status"] == "running"


def _has(step: Step, row: str) -> bool:
    found = step.before[ROWS].get(row)
    return found is not None and found["status"] == "processing" and found["lease_owner"] == step.by.owner


def a_work_is_never_swapped(step: Step) -> Iterator[str]:
    """A cell that has more than a choice keeps its work for good."""
    for name, old, new in step.changed(CELLS):
        given_back = old["status"] == "selected" and new["work_id"] is None
        if old["work_id"] not in (None, new["work_id"]) and not given_back:
            yield f"cell {name} held {old['work_id']} as {old['status']} and holds {new['work_id']}"


def attempts_only_grow(step: Step) -> Iterator[str]:
    """A budget comes back only to a row that was armed again, and an answer once lost stays lost."""
    for name, old, new in step.changed(ROWS):
        armed = old["status"] in ("dead", "cancelled", "done") and new["status"] in ("pending", "retry_wait")
        if new["attempts"] < old["attempts"] and not armed:
            yield f"row {name} went back from {old['attempts']} attempts to {new['attempts']}"
        if old["answer_unknown"] > new["answer_unknown"]:
            yield f"row {name} forgot that an answer was lost"
        if old["payload_json"] != new["payload_json"] and not armed:
            yield f"row {name} got another payload while it was owed"


LAWS: Final[tuple[Law, ...]] = (
    nothing_vanishes,
    states_go_their_ways,
    what_is_over_stays,
    live_slots_are_left_alone,
    live_rows_are_left_alone,
    leases_are_taken_in_ones_own_name,
    rows_are_claimed_when_due,
    the_stale_write_nothing,
    a_work_is_never_swapped,
    attempts_only_grow,
)
