"""What the walk of a run asks and writes about works, each in one transaction: what is new, and a work brought home.

Files, promises and the cell belong together: rows without a promise would hide the work from every later search, a
promise without rows would send what nobody can find, and a cell that stayed behind would do it all again.
"""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from pixivflow.delivery.intents import Order, Promise
from pixivflow.delivery.settle import settlement
from pixivflow.ids import Owner, RouteName, SlotId, TargetId, WorkId
from pixivflow.ledger import artifacts, bindings, cells, enqueue, intents, slots
from pixivflow.ledger.artifacts import Filing
from pixivflow.ledger.connection import Db
from pixivflow.slots.machine import Role
from pixivflow.slots.model import BoundWork, Cell, WorkType
from pixivflow.slots.ports import Binding, NotOurs, Recorded, Seen
from pixivflow.slots.target import Duplicate, Enqueued, Stored, TargetOutcome, verdict

HELD_BY_SIBLINGS: Final = """
SELECT work_id FROM schedule_slot_items
WHERE slot_id = ? AND target_id <> ? AND work_type = ? AND work_id IS NOT NULL
"""

COUNT: Final = """
UPDATE schedule_slot_items SET stored_count = stored_count + 1 WHERE slot_id = ? AND target_id = ?
"""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The cell that a run speaks for, and the run."""

    slot_id: SlotId
    target_id: TargetId
    owner: Owner


class Bringing(msgspec.Struct, frozen=True, kw_only=True):
    """One work brought home. `promises`: one a route, none where the target delivers nowhere.

    `binds`: the cell is the work's. `resumed`: it was before this run. `report`: kept with the cell's verdict.
    """

    filing: Filing
    promises: tuple[Promise, ...] = ()
    binds: bool = True
    resumed: bool = False
    report: str | None = None


def seen(
    db: Db, slot_id: SlotId, target_id: TargetId, routes: Collection[RouteName], works: Sequence[BoundWork]
) -> Seen:
    """Those of `works` that are not new to the target of that cell."""
    stored: set[WorkId] = set()
    served: set[WorkId] = set()
    for work_type in sorted({work.work_type for work in works}):
        ids = [work.work_id for work in works if work.work_type is work_type]
        stored |= artifacts.stored(db, work_type, ids)
        served |= intents.excluded(db, routes, work_type, ids) if routes else set()
        served |= _held_by_siblings(db, slot_id, target_id, work_type) & set(ids)
    return Seen(stored=frozenset(stored), served=frozenset(served))


def delivered(db: Db, routes: Collection[RouteName], work: BoundWork) -> bool:
    """Whether every route has the work already, as publications tell; one without any route never has."""
    return bool(routes) and work.work_id in intents.excluded(db, routes, work.work_type, [work.work_id], own=True)


def bind(db: Db, place: Place, work: BoundWork, now: int) -> Binding:
    """`bindings.bind`, for a run that still holds its slot. Errors: `NotOurs`."""
    _ours(db, place)
    return bindings.bind(db, place.slot_id, place.owner, place.target_id, work, now)


def release(db: Db, place: Place, work: BoundWork, now: int) -> bool:
    """`bindings.release_binding`, for a run that still holds its slot. Errors: `NotOurs`."""
    _ours(db, place)
    return bindings.release_binding(db, place.slot_id, place.owner, place.target_id, work, now)


def apply(db: Db, place: Place, outcome: TargetOutcome, stages: int, now: int) -> Cell | None:
    """Make an outcome a state of its cell; the cell as it stands then. Errors: `NotOurs`.

    A cell of many works is settled in passing: its last ACK may have come before it said that no more would follow.
    """
    _ours(db, place)
    bindings.apply_outcome(db, place.slot_id, place.owner, place.target_id, outcome, stages, now)
    cell = cells.read(db, place.slot_id, place.target_id)
    if cell is not None and isinstance(outcome, Enqueued):
        settled = settlement(cell, intents.facts(db, place.slot_id, place.target_id))
        if settled is not None and cells.change(db, place.slot_id, settled, Role.RUN, now, owner=place.owner):
            cell = cells.read(db, place.slot_id, place.target_id)
    return cell


def bring(db: Db, place: Place, bringing: Bringing, now: int) -> Recorded:
    """Record a work with its files, promise it to its routes and move its cell.

    Errors: `NotOurs` when the run does not hold the slot, or the cell is another work's or has ended; `Conflict` for a
    key that names something else. Nothing of it is kept then.
    """
    cell, work = _ours(db, place), bringing.filing.work
    if bringing.binds and (cell is None or cell.work_id != work.work_id or not cell.is_open):
        found = None if cell is None else f"{cell.status} with {cell.work_id}"
        raise NotOurs(f"cell {place.target_id} of {place.slot_id} open with {work.work_id}", found)
    is_new = artifacts.file(db, bringing.filing, now)
    order = Order(work_type=work.work_type, work_id=work.work_id, slot_id=place.slot_id, target_id=place.target_id)
    promised = enqueue.fan_out(db, order, bringing.promises, now)
    is_known = promised.duplicate if bringing.promises else not (is_new or bringing.binds)
    if cell is not None:
        _move(db, place, cell, bringing, is_known=is_known, now=now)
    if is_known:
        return Recorded.DUPLICATE
    return Recorded.ENQUEUED if bringing.promises else Recorded.STORED


def _move(db: Db, place: Place, cell: Cell, bringing: Bringing, *, is_known: bool, now: int) -> None:
    work = bringing.filing.work
    if not bringing.binds:
        if not is_known:
            db.execute(COUNT, (place.slot_id, place.target_id))
    elif is_known and not bringing.resumed:
        bindings.release_binding(db, place.slot_id, place.owner, place.target_id, work, now)
    elif (change := verdict(cell, _outcome(bringing, is_known=is_known))) is not None:
        cells.change(db, place.slot_id, change, Role.RUN, now, owner=place.owner)


def _outcome(bringing: Bringing, *, is_known: bool) -> TargetOutcome:
    work, report = bringing.filing.work, bringing.report
    if is_known:
        return Duplicate(work=work, text="every route has this work already", report=report)
    return Enqueued(work=work, report=report) if bringing.promises else Stored(work=work, report=report)


def _ours(db: Db, place: Place) -> Cell | None:
    if slots.held(db, place.slot_id, place.owner) is None:
        raise NotOurs(f"slot {place.slot_id} run by {place.owner}", None)
    return cells.read(db, place.slot_id, place.target_id)


def _held_by_siblings(db: Db, slot_id: SlotId, target_id: TargetId, work_type: WorkType) -> set[WorkId]:
    return {WorkId(held) for (held,) in db.execute(HELD_BY_SIBLINGS, (slot_id, target_id, work_type)).fetchall()}
