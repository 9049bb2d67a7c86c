"""A pure clock: wakes for the next fire of any plan, opens its slot, offers it.

    wall time ──> fires since the last look ──> open (a row) ──> offer (slot_runner) ──> sleep until the next fire

Each wake asks the wall clock anew, and no sleep is longer than `sleep_ms`, so a clock that was set, or a host that
slept, is noticed and named. A fire that could not be opened, for want of room or of time, is tried again at the next
wake, until a later one of its plan takes its place. If it dies here, the rows that were opened are found by recovery,
and a fire that was not is opened by catch-up at the next start; opening one twice opens it once.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import trio

from actors.kit import Context, Mailbox
from actors.ports import Admitted, Fire, Fires, Refused, Reload, Ticks


@dataclass(frozen=True, slots=True)
class Parts:
    """What the scheduler works with. `offer` asks slot_runner. `sleep_ms`: the longest sleep.

    `jump_ms`: wall and monotonic clock further apart than this between two wakes: somebody set the clock, or the host
    slept.
    """

    ticks: Ticks
    fires: Fires
    offer: Callable[[str], Awaitable[Admitted | Refused]]
    sleep_ms: int
    jump_ms: int


async def scheduler(ctx: Context, mailbox: Mailbox[Reload], parts: Parts) -> None:
    """Catch up on what was missed, which is part of the start; then open and offer each fire at its time."""
    seen_at, seen_s = ctx.clock.now_ms(), trio.current_time()
    left = await _open(ctx, parts, await parts.fires.missed(seen_at))
    ctx.started()
    while not ctx.stopping:
        since, now, now_s = seen_at, ctx.clock.now_ms(), trio.current_time()
        _note_jump(ctx, parts, now - seen_at, now_s - seen_s)
        seen_at, seen_s = now, now_s
        due = {fire.plan: fire for fire in (*left, *parts.ticks.between(since, now))}
        left = await _open(ctx, parts, due.values())
        await ctx.next_letter(mailbox, _sleep_ms(parts, parts.ticks.next_at(now), ctx.clock.now_ms()))


async def _open(ctx: Context, parts: Parts, fires: Iterable[Fire]) -> list[Fire]:
    """Open the slot of each fire and offer it; those that failed, to be tried again: doing it twice is once."""
    left = []
    for fire in fires:
        try:
            slot = await parts.fires.open(fire, ctx.clock.now_ms())
            answer = slot if isinstance(slot, Refused) else await parts.offer(slot)
        except Exception as error:
            ctx.note("schedule.open_failed", plan=fire.plan, at=fire.at, error=error)
            left.append(fire)
            continue
        if isinstance(answer, Refused):
            ctx.note("schedule.refused", plan=fire.plan, at=fire.at, reason=answer.reason)
    return left


def _note_jump(ctx: Context, parts: Parts, wall_ms: int, monotonic_s: float) -> None:
    by_ms = wall_ms - round(monotonic_s * 1000)
    if abs(by_ms) > parts.jump_ms:
        ctx.note("clock.jump", by_ms=by_ms)


def _sleep_ms(parts: Parts, next_at: int | None, now: int) -> int:
    """How long to sleep before the fire at `next_at` (epoch ms): not at all once it is due."""
    return parts.sleep_ms if next_at is None else min(parts.sleep_ms, max(0, next_at - now))
