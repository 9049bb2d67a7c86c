"""`POST /internal/schedules/{id}/run`: the one way in for clocks outside.

    received (log) ─> auth ─> body ─> leaving? ─> known plan ─> occurrence ─> ONE write: slot, cells, journal row
                                                                                 │
                               answer <─ journal row gets its end <─ slot_runner is asked

Between the look at `leaving` and the write nothing waits. So the last look before an idle exit stands in the ledger's
queue either behind this write, and sees its slot, or before it, and then this look has found the door closed.
"""

from collections.abc import Callable

import trio

from actors.ports import Admitted, Refused
from pixivflow.control.auth import CHALLENGE, DISABLED, UNAUTHORIZED, judge, refusal
from pixivflow.control.ports import Asked, Failed, Parts, Reply
from pixivflow.control.refusals import Refusals
from pixivflow.control.replies import errored, replied
from pixivflow.control.visit import GONE, Outcome, Visit
from pixivflow.control.wire import RunBody, decode
from pixivflow.errors import ConfigError, StorageFull, Unavailable
from pixivflow.ledger import triggers
from pixivflow.ledger.db import Db
from pixivflow.ledger.triggers import Accepted, Arrival, End, Found
from pixivflow.scheduling.disposition import COMPLETED, Disposition, dispose
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.occurrence import membership, misfit, occurrence_for
from pixivflow.slots.model import Slot, SlotStatus
from pixivflow.slots.opening import slot_for

Note = Callable[[Db, Arrival, End], str | None]

BROKE = "schedule run failed; the occurrence will resume on the next trigger"


async def run(parts: Parts, refusals: Refusals, asked: Asked, schedule_id: str) -> Reply:
    """Take the trigger, or say why not. Whatever happens there is exactly one event of its end."""
    visit = Visit.of(parts, asked, schedule_id)
    visit.tell_received()
    outcome = GONE
    try:
        outcome = await _outcome(visit, refusals, asked)
    except Exception as error:
        visit.tell("schedule.trigger_failed", error=error)
        outcome = errored(Disposition.ERROR, BROKE, type(error).__name__)
        await _keep(visit, outcome)
    except trio.Cancelled:
        await _keep(visit, GONE, triggers.depart)
        raise
    finally:
        visit.tell_outcome(outcome)
    return outcome.reply


async def _outcome(visit: Visit, refusals: Refusals, asked: Asked) -> Outcome:
    match refusal(judge(visit.parts.runtime().trigger.token, asked.header("authorization"))):
        case None:
            pass
        case Disposition.DISABLED as refused:
            refusals.count("run", refused, visit.provider, visit.received_at)
            return errored(refused, DISABLED, "no_token")
        case refused:
            refusals.count("run", refused, visit.provider, visit.received_at)
            return errored(refused, UNAUTHORIZED, "bad_token", headers=CHALLENGE)
    try:
        label = decode(await asked.body(), RunBody).label
        judged = _judged(visit, visit.discreet(label) if isinstance(label, str) else None)
    except Failed as failed:
        judged = errored(Disposition.BAD_REQUEST, failed.text, "bad_body", http_status=failed.http_status)
    if isinstance(judged, Outcome):
        await _keep(visit, judged)
        return judged
    return await _taken(visit, judged)


def _judged(visit: Visit, label: str | None) -> Outcome | Slot:
    """The slot that the trigger names, not yet open, or why it opens none. Nothing here may wait."""
    parts = visit.parts
    if parts.leaving():
        return replied(Disposition.STOPPING, None, reason="stopping")
    plan = parts.plans().get(visit.schedule_id)
    if plan is None:
        return errored(Disposition.NOT_FOUND, f"unknown schedule: {visit.schedule_id}", "unknown_schedule")
    if (misfitting := _resolved(visit, plan)) is not None:
        return misfitting
    if not plan.enabled:
        return replied(Disposition.REJECTED, visit.occurrence, SlotStatus.FAILED, reason="disabled")
    targets = membership(plan, parts.targets())
    if visit.occurrence is None or not targets:
        return replied(Disposition.REJECTED, visit.occurrence, SlotStatus.PENDING, reason="no_targets")
    return slot_for(visit.occurrence, targets, "http", label)


def _resolved(visit: Visit, plan: Plan) -> Outcome | None:
    """Let the visit know its occurrence; why it may not name it, or None."""
    try:
        visit.occurrence = occurrence_for(plan, visit.received_at)
    except ConfigError as error:
        return errored(Disposition.BAD_REQUEST, f"{error.key}: {error.hint}", "no_occurrence")
    grace_ms = visit.parts.runtime().trigger.grace_minutes * 60_000
    unfit = misfit(visit.occurrence, visit.received_at, grace_ms)
    if unfit is None:
        return None
    early = Disposition.TOO_EARLY if unfit.opens_at is not None else Disposition.TOO_LATE
    return errored(early, f"{unfit}", early.value)


async def _taken(visit: Visit, slot: Slot) -> Outcome:
    """Open the slot on the disk, ask slot_runner, write down what became of it."""
    ledger, clock = visit.parts.ledger, visit.parts.clock
    if (obstacle := ledger.obstacle(clock.now_ms())) == "ledger_damaged":
        return replied(Disposition.REJECTED, None, reason=obstacle)  # a write might be the one that ends the process
    try:
        accepted = await ledger.write(triggers.accept, visit.arrival, slot, ledger.lease_now(clock.now_ms()))
    except Unavailable as error:  # nothing was kept, and whoever asks again will find room, or the ledger free
        visit.tell("schedule.trigger_failed", error=error)
        reason = "storage_full" if isinstance(error, StorageFull) else "ledger_busy"
        return replied(Disposition.REJECTED, None, reason=reason)
    visit.journal = accepted.journal
    visit.tell_fault(accepted.fault)
    visit.parts.point("trigger.opened")
    admission = Refused(COMPLETED) if accepted.is_over else await visit.parts.offer(slot.id)
    found = await _found(visit, slot, accepted, admission)
    visit.parts.point("trigger.concluded")
    return replied(found.disposition, visit.occurrence, found.status, found.cells, reason=found.reason)


async def _found(visit: Visit, slot: Slot, accepted: Accepted, admission: Admitted | Refused) -> Found:
    """What became of the trigger. The slot is on the disk: a ledger that cannot be asked again takes nothing back."""
    ledger, now = visit.parts.ledger, visit.parts.clock.now_ms()
    at = ledger.lease_now(now)
    try:
        found = await ledger.write(triggers.conclude, visit.journal, slot.id, admission, visit.elapsed_ms, at)
    except Exception as error:
        visit.tell_fault(error)
        disposition, reason = dispose(admission, is_over=accepted.is_over, is_leased=False)
        return Found(disposition=disposition, reason=reason, status=SlotStatus.PENDING, cells=())
    visit.tell_fault(found.fault)
    return found


async def _keep(visit: Visit, outcome: Outcome, unknown: Note = triggers.keep) -> None:
    """Write down an end that no other write carries, also of a caller who has gone: a fault changes no answer."""
    ledger, end = visit.parts.ledger, visit.end(outcome)
    fault: str | Exception | None
    try:
        if visit.journal is None:
            fault = await ledger.settle(unknown, visit.arrival, end)
        else:
            fault = await ledger.settle(triggers.answered, visit.journal, end)
    except Exception as error:
        fault = error
    visit.tell_fault(fault)
