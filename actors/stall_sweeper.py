"""Each tick: recover first, then end what nobody can rescue.

    unfinished ──> a run is offered │ settled in passing │ left to its deliveries
    stalled, none of the above ──> ended with its reason

The slots of the live registry are spared whatever their rows say: after a clock jump our own live run looks dead. If it
dies here, the next tick finds the same rows; it holds nothing that could be lost.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from actors.kit import Context, Mailbox
from actors.ports import Admitted, Course, Refused, SweepStore, Tick, Unfinished
from actors.runs import Runs


@dataclass(frozen=True, slots=True)
class Parts:
    """What the sweeper works with. `offer` asks slot_runner."""

    slots: SweepStore
    offer: Callable[[str], Awaitable[Admitted | Refused]]
    runs: Runs
    tick_ms: int


async def stall_sweeper(ctx: Context, mailbox: Mailbox[Tick], parts: Parts) -> None:
    """Sweep at once, which is part of the start, and then once a tick or when told."""
    await _sweep(ctx, parts)
    ctx.started()
    while not ctx.stopping:
        await ctx.next_letter(mailbox, parts.tick_ms)
        if not ctx.stopping:
            await _sweep(ctx, parts)


async def _sweep(ctx: Context, parts: Parts) -> None:
    try:
        cared_for = await _recover(ctx, parts, frozenset(parts.runs.live))
        await _end_stalled(ctx, parts, cared_for | frozenset(parts.runs.live))
    except Exception as error:
        ctx.note("sweep.failed", error=error)


async def _recover(ctx: Context, parts: Parts, spared: frozenset[str]) -> frozenset[str]:
    """Give every slot that nobody owns what it needs; those that got it are spared by the rest of this tick."""
    cared_for: set[str] = set()
    stale = reclaimed = 0
    for found in await parts.slots.unfinished(ctx.clock.now_ms(), spared):
        stale += found.course is not Course.WAIT
        try:
            if await _care(ctx, parts, found):
                cared_for.add(found.slot)
                reclaimed += found.course is not Course.WAIT
        except Exception as error:
            ctx.note("recovery.failed", slot=found.slot, error=error, **found.about)
    if stale:
        ctx.note("recovery.swept", stale_slots_found=stale, reclaimed=reclaimed, skipped=stale - reclaimed)
    return frozenset(cared_for)


async def _care(ctx: Context, parts: Parts, found: Unfinished) -> bool:
    match found.course:
        case Course.WAIT:
            return True
        case Course.SETTLE:
            await parts.slots.settle_only(found.slot, ctx.clock.now_ms())
            return True
        case Course.DISPATCH:
            answer = await parts.offer(found.slot)
            if isinstance(answer, Refused):
                ctx.note("recovery.refused", slot=found.slot, reason=answer.reason, **found.about)
            else:
                ctx.note("recovery.offered", slot=found.slot, **found.about)
            return isinstance(answer, Admitted)


async def _end_stalled(ctx: Context, parts: Parts, spared: frozenset[str]) -> None:
    scanned = await parts.slots.stalled(ctx.clock.now_ms(), spared)
    reasons: Counter[str] = Counter()
    for slot in scanned:
        try:
            swept = await parts.slots.end_stalled(slot, ctx.clock.now_ms())
        except Exception as error:
            ctx.note("stall.failed", slot=slot, error=error)
            continue
        if swept is not None:
            reasons[swept.reason] += 1
            ctx.note("stall.ended", slot=slot, reason_code=swept.reason, **swept.about)
    if scanned:
        ctx.note("stall.swept", scanned=len(scanned), **reasons)
