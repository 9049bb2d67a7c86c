"""The life of one run in the ledger: admitted, begun, beating, ended. Each function is one transaction.

    admit ──▶ begin ──▶ beat … ──▶ finish       its end is written by its fate
                                └──▶ abandon    it did not come back: its slot is ended by decree

An end is written only while the run still holds its slot; one that lost it, or was given up before, writes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from actors.kit.cancel import CancelOrigin, Crashed, End, Ended, Finished
from actors.ports import Admitted, Busy, Lost, Refused, Run, Settled, Verdict
from pixivflow.errors import Conflict
from pixivflow.ids import Owner, ScheduleId, SlotId
from pixivflow.ledger import cells, executions, leases, rollups, slots
from pixivflow.ledger.connection import Db
from pixivflow.ledger.slots import Fence
from pixivflow.scheduling.admission import PlanFacts, SlotFacts, decide
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.slots.lease import is_live
from pixivflow.slots.machine import Fate, Role, counted, fate, is_over
from pixivflow.slots.model import ReasonCode, Slot, SlotStatus, Work
from pixivflow.slots.rollup import force, roll_up
from pixivflow.times import PRODUCTION

Plans = Mapping[ScheduleId, Plan]

GIVEN_UP: Final = "abandoned after scheduler timeout; no delivery ({})"
NO_REASON: Final = "abandoned after timeout"


def admit(
    db: Db, slot_id: SlotId, plans: Plans, busy: Sequence[Busy], governance: Governance, now: int
) -> Admitted | Refused:
    """Whether a run of the slot may start now: its row, its plan's rows and who is busy, judged together."""
    slot = slots.read(db, slot_id)
    plan = plans.get(slot.schedule_id) if slot else None
    facts = executions.facts(db, plan) if plan else PlanFacts()
    return decide(_slot_facts(db, slot, now), plan, facts, busy, governance, now)


def _slot_facts(db: Db, slot: Slot | None, now: int) -> SlotFacts | None:
    if slot is None:
        return None
    return SlotFacts(
        id=slot.id,
        is_over=_is_over(db, slot),
        is_leased=is_live(slot, now),
        has_occurrence=slot.occurrence_at is not None,
    )


def _is_over(db: Db, slot: Slot) -> bool:
    return is_over(slot.status, has_open_cell=any(cell.is_open for cell in cells.read_all(db, slot.id)))


def begin(
    db: Db, slot_id: SlotId, owner: Owner, plans: Plans, now: int, ttl_ms: int = PRODUCTION.slot_lease_ms
) -> Work | Settled | Lost:
    """Claim the slot, let the delivery ledger decide what it can, and say what is left to run.

    `Lost`: somebody else has the slot, it is over, or its plan is gone; nothing was written. `Settled`: nothing is left
    for a run; the slot was rolled up and released at once.
    """
    slot = slots.read(db, slot_id)
    plan = plans.get(slot.schedule_id) if slot else None
    if slot is None or plan is None or not plan.enabled or _is_over(db, slot):
        return Lost()
    if not leases.claim(db, slot_id, owner, now, ttl_ms):
        return Lost()
    slots.start(db, slot_id, owner, now)
    left = rollups.settle(db, slot_id, now)
    if not left:
        return Settled(settled(db, slot_id, owner, now))
    started = slots.read(db, slot_id) or slot
    return Work(slot=started, cells=left, schedule_id=slot.schedule_id, timeout_ms=plan.timeout_ms)


def settled(db: Db, slot_id: SlotId, owner: Owner, now: int) -> SlotStatus:
    """Roll up and release a slot of `owner`'s in which nothing is left to run; what it is then."""
    slot = slots.held(db, slot_id, owner)
    if slot is None:
        raise Conflict(f"{slot_id} held by {owner}", None)
    status = _roll_up(db, slot, owner, ReasonCode.INTERNAL_ERROR, now)
    leases.release(db, slot_id, owner)
    return status


def finish(db: Db, run: Run, end: End, now: int) -> Verdict | Lost:
    """Write the end of a run: its slot by its fate, its execution row, the outcome; the lease is released last."""
    match fate(end):
        case Fate.ROLL_UP:
            return _finish_rolled_up(db, run, end, now)
        case Fate.LEAVE_RESUMABLE:
            return _leave_resumable(db, run, end, now)
        case Fate.WRITE_NOTHING:
            return _write_nothing(db, run, end, now)
        case never:
            assert_never(never)


def abandon(db: Db, run: Run, end: End, now: int) -> Verdict | Lost:
    """Write the end of a run that did not come back in time.

    Where its fate is a roll-up the slot is ended by decree: what it should have done has failed, what is being
    delivered keeps its own life. Otherwise it is as if it had come back.
    """
    if fate(end) is not Fate.ROLL_UP:
        return finish(db, run, end, now)
    slot = slots.held(db, SlotId(run.slot), Owner(run.owner))
    if slot is None:
        return Lost()
    note = GIVEN_UP.format(failure_text(end) or NO_REASON)
    plan = force(cells.read_all(db, slot.id), ReasonCode.EXECUTION_TIMEOUT, note)
    owner = Owner(run.owner)
    status = rollups.write(db, slot, plan, Role.ABANDON, now, fence=Fence.HOLDER, owner=owner, error=note)
    rollups.conclude(db, slot.id, now)
    _count(db, slot, run, end, now)
    leases.release(db, slot.id, owner)
    return Verdict(status)


def _finish_rolled_up(db: Db, run: Run, end: End, now: int) -> Verdict | Lost:
    slot = slots.held(db, SlotId(run.slot), Owner(run.owner))
    if slot is None:
        return Lost()
    timed_out = isinstance(end, Ended) and end.origin is CancelOrigin.TIMEOUT
    unfinished = ReasonCode.EXECUTION_TIMEOUT if timed_out else ReasonCode.INTERNAL_ERROR
    status = _roll_up(db, slot, Owner(run.owner), unfinished, now, failure_text(end))
    _count(db, slot, run, end, now)
    leases.release(db, slot.id, Owner(run.owner))
    return Verdict(status)


def _roll_up(
    db: Db, slot: Slot, owner: Owner, unfinished: ReasonCode, now: int, error: str | None = None
) -> SlotStatus:
    plan = roll_up(cells.read_all(db, slot.id), rollups.abandoned(db, slot.id), unfinished)
    status = rollups.write(db, slot, plan, Role.RUN, now, fence=Fence.HOLDER, owner=owner, error=error)
    if plan.is_terminal:
        rollups.conclude(db, slot.id, now)
    return status


def _leave_resumable(db: Db, run: Run, end: End, now: int) -> Verdict | Lost:
    slot = slots.held(db, SlotId(run.slot), Owner(run.owner))
    if slot is None:
        return Lost()
    _count(db, slot, run, end, now)
    leases.release(db, slot.id, Owner(run.owner))
    return Verdict(slot.status)


def _write_nothing(db: Db, run: Run, end: End, now: int) -> Verdict | Lost:
    slot = slots.read(db, SlotId(run.slot))
    if slot is None or counted(end) is None:
        return Lost()
    _count(db, slot, run, end, now)
    return Verdict(slot.status)


def _count(db: Db, slot: Slot, run: Run, end: End, now: int) -> None:
    if (status := counted(end)) is not None:
        executions.record(db, slot.schedule_id, status, run.started_at, now, error=failure_text(end))


def failure_text(end: End) -> str | None:
    """What went wrong, in the run's own words; None where nothing did or nothing was said."""
    match end:
        case Finished():
            return None
        case Crashed():
            return f"{type(end.error).__name__}: {end.error}"
        case Ended():
            return end.reason or None
        case _:
            assert_never(end)
