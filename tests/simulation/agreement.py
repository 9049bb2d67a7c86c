"""What holds between any two steps, whatever came before: rows that agree, and for all that is open an end in sight.

An open thing has an end in sight when its row says until when somebody holds it or when it is looked at again, and when
that instant is not further away than the longest lease or wait. That somebody then comes is shown by `rest`.
"""

from collections.abc import Callable, Iterator
from typing import Final

from tests.simulation.fates import sum_of
from tests.simulation.look import (
    CELLS,
    CONFIRMED,
    EVENTS,
    EXECUTIONS,
    IN_DELIVERY,
    INTENTS,
    OPEN_CELL,
    OWED,
    ROWS,
    SLOTS,
    TO_BE_RUN,
    Look,
    cells_of,
    intents_of,
    is_leased,
    rows_of,
)

SLOT_LEASE_MS: Final = 180_000
ROW_LEASE_MS: Final = 120_000
LONGEST_WAIT_MS: Final = 21_600_000

Law = Callable[[Look, int], Iterator[str]]


def slots_are_the_sum_of_their_cells(rows: Look, newest: int) -> Iterator[str]:
    """A completed slot is what its cells add up to; a failed one may wait for a delivery, and never for a search."""
    for name, slot in rows[SLOTS].items():
        states = [cell["status"] for cell in cells_of(rows, name)]
        if slot["status"] in ("success", "partial") and slot["status"] != sum_of(states):
            yield f"slot {name} is {slot['status']} over {states}"
        if slot["status"] == "failed" and any(state in TO_BE_RUN for state in states):
            yield f"slot {name} has failed over {states}"
        if slot["status"] not in ("pending", "running") and is_leased(slot, newest):
            yield f"slot {name} has ended and is leased"


def open_slots_are_held_or_free(rows: Look, newest: int) -> Iterator[str]:
    """No lease of a slot reaches further than one lease from the newest instant; then somebody may take over."""
    for name, slot in rows[SLOTS].items():
        if slot["lease_owner"] is not None and slot["lease_until"] > newest + SLOT_LEASE_MS:
            yield f"slot {name} is leased until {slot['lease_until']}"
        if slot["status"] == "running" and slot["started_at"] is None:
            yield f"slot {name} is running and was never started"


def promises_are_owed_by_their_row(rows: Look, newest: int) -> Iterator[str]:
    """A promise is open exactly while its one row is, and they bear the same key."""
    for name, intent in rows[INTENTS].items():
        carriers = rows_of(rows, intent)
        if len(carriers) != 1:
            yield f"intent {name} has {len(carriers)} rows"
            continue
        [row] = carriers
        is_open = intent["status"] == "pending"
        if is_open != (row["status"] in OWED) and intent["status"] not in CONFIRMED:
            yield f"intent {name} is {intent['status']} and its row is {row['status']}"
        if row["idempotency_key"] != f"outbox:{intent['idempotency_key']}":
            yield f"intent {name} and its row bear different keys"
        if intent["delivery_target"] != row["delivery_target"]:
            yield f"intent {name} and its row go to different routes"
        if f'"idempotencyKey": "{intent["idempotency_key"]}"' not in row["payload_json"]:
            yield f"row {row['id']} would send another key than its promise has"


def owed_rows_come_up_again(rows: Look, newest: int) -> Iterator[str]:
    """An owed row is due, waits no longer than the longest wait, or is leased no longer than a lease."""
    for name, row in rows[ROWS].items():
        if row["status"] == "processing" and row["lease_until"] > newest + ROW_LEASE_MS:
            yield f"row {name} is leased until {row['lease_until']}"
        if row["status"] in ("pending", "retry_wait"):
            if row["next_attempt_at"] > newest + LONGEST_WAIT_MS:
                yield f"row {name} waits until {row['next_attempt_at']}"
            if row["attempts"] >= row["max_attempts"]:
                yield f"row {name} is owed after {row['attempts']} of {row['max_attempts']} attempts"


def delivered_cells_wait_for_somebody(rows: Look, newest: int) -> Iterator[str]:
    """A cell that waits for its deliveries has one that is owed: the last answer settles it in its own transaction."""
    for name, cell in rows[CELLS].items():
        intents = intents_of(rows, cell)
        if cell["status"] in IN_DELIVERY and intents and not any(each["status"] == "pending" for each in intents):
            yield f"cell {name} waits and its promises are {[each['status'] for each in intents]}"
        if cell["status"] in OPEN_CELL and cell["completed_at"] is not None:
            yield f"cell {name} is open and bears the instant of its end"
        if cell["status"] not in OPEN_CELL and cell["completed_at"] is None:
            yield f"cell {name} has ended without an instant"


def one_work_a_cell(rows: Look, newest: int) -> Iterator[str]:
    """A cell promises one work only, its own; no two cells of a slot hold the same."""
    for name, cell in rows[CELLS].items():
        promised = {each["pixiv_id"] for each in intents_of(rows, cell)}
        if len(promised) > 1 or promised - {cell["work_id"]}:
            yield f"cell {name} holds {cell['work_id']} and promised {sorted(promised)}"
    for slot in rows[SLOTS]:
        works = [(cell["work_type"], cell["work_id"]) for cell in cells_of(rows, slot) if cell["work_id"]]
        if len(set(works)) < len(works):
            yield f"two cells of {slot} hold the same work"


def one_promise_a_work_and_route(rows: Look, newest: int) -> Iterator[str]:
    """No two promises of one work to one route are open at once: no receiver could tell their keys for one."""
    keys: dict[tuple[str, str, str], list[str]] = {}
    for intent in rows[INTENTS].values():
        if intent["status"] == "pending":
            what = (intent["delivery_target"], intent["work_type"], intent["pixiv_id"])
            keys.setdefault(what, []).append(intent["idempotency_key"])
    for promised, found in keys.items():
        if len(found) > 1:
            yield f"{promised} is promised under {found}"


def one_outcome_a_slot(rows: Look, newest: int) -> Iterator[str]:
    """How an occurrence ended is told once, and not before it has ended; executions are numbered without a gap."""
    told: dict[str, int] = {}
    for event in rows[EVENTS].values():
        if event["event"] == "execution.summary":
            told[event["slot_id"]] = told.get(event["slot_id"], 0) + 1
    for name, times in told.items():
        if times > 1 or rows[SLOTS][name]["status"] in ("pending", "running"):
            yield f"slot {name} is {rows[SLOTS][name]['status']} and was told {times} times"
    numbers: dict[str, list[int]] = {}
    for run in rows[EXECUTIONS].values():
        numbers.setdefault(run["schedule_id"], []).append(run["execution_number"])
    for plan, found in numbers.items():
        if found != list(range(1, len(found) + 1)):
            yield f"the executions of {plan} are numbered {found}"


LAWS: Final[tuple[Law, ...]] = (
    slots_are_the_sum_of_their_cells,
    open_slots_are_held_or_free,
    promises_are_owed_by_their_row,
    owed_rows_come_up_again,
    delivered_cells_wait_for_somebody,
    one_work_a_cell,
    one_promise_a_work_and_route,
    one_outcome_a_slot,
)


def unfinished(rows: Look) -> list[str]:
    """What has not come to its end; after a rest there must be none of it."""
    told = {event["slot_id"] for event in rows[EVENTS].values() if event["event"] == "execution.summary"}
    return [
        *(f"slot {n} is {s['status']}" for n, s in rows[SLOTS].items() if s["status"] in ("pending", "running")),
        *(f"cell {n} is {c['status']}" for n, c in rows[CELLS].items() if c["status"] in OPEN_CELL),
        *(f"intent {n} is pending" for n, i in rows[INTENTS].items() if i["status"] == "pending"),
        *(f"row {n} is {r['status']}" for n, r in rows[ROWS].items() if r["status"] in OWED),
        *(f"slot {n} was not reported" for n, s in rows[SLOTS].items() if s["reported_at"] is None),
        *(f"slot {n} has no outcome" for n in rows[SLOTS] if n not in told),
    ]
