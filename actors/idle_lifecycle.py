"""Watches what is owed; leaves when nothing is, or when the lifetime is spent.

    something owed ──> awake ──nothing owed──> window open ──for the whole grace──> door closed ──still nothing──> gone
                         ^                          │ new work                          │ something after all
                         └──────────────────────────┴───────────────────────────────────┘

A hint that something has ended is followed by a look, but before the first poll only work that was seen here can end:
what a start brings to its end by itself says nothing about whoever woke the process. The door is closed before the last
look, and the last look queues behind every write that was accepted: otherwise a 202 could be followed by an exit. A
look that fails is no evidence of anything. If it dies here, its next life starts a new window, and the daemon stays a
little longer than it had to.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import trio

from actors.kit import Context, Mailbox
from actors.ports import LookAgain, Owed


@dataclass(frozen=True, slots=True)
class Parts:
    """What the lifecycle works with. Durations in ms.

    `owed`: counted in a ledger write. `door`: True lets new work in, False answers it "stopping". `leave`: begins the
    orderly stop, with the reason for people.
    """

    owed: Callable[[], Awaitable[Owed]]
    door: Callable[[bool], object]
    leave: Callable[[str], object]
    poll_ms: int
    idle_grace_ms: int
    max_lifetime_ms: int


async def idle_lifecycle(ctx: Context, mailbox: Mailbox[LookAgain], parts: Parts) -> None:
    """Look once a poll, and whenever something has ended, until it is time to leave."""
    armed_s, opened_s, worked = trio.current_time(), None, False
    parts.door(True)  # a life that ended behind the closed door left it so
    ctx.note("idle.armed", poll_ms=parts.poll_ms, grace_ms=parts.idle_grace_ms, lifetime_ms=parts.max_lifetime_ms)
    ctx.started()
    while not ctx.stopping:
        await ctx.next_letter(mailbox, _wait_ms(parts, armed_s, opened_s))
        if ctx.stopping:
            break
        if _spent(armed_s, parts.max_lifetime_ms):
            _leave(ctx, parts, "max-lifetime")
            break
        owed = await _look(ctx, parts)
        worked = worked or bool(owed)
        if not worked and not _spent(armed_s, parts.poll_ms):
            continue  # what has ended was begun before us; whoever woke us gets one poll to say why
        opened_s = _window(ctx, opened_s, owed)
        if opened_s is not None and _spent(opened_s, parts.idle_grace_ms):
            opened_s = _window(ctx, opened_s, owed := await _last_look(ctx, parts))
            if owed is not None and opened_s is not None:
                _leave(ctx, parts, "idle")
                break
    await ctx.wait_stopping()


async def _look(ctx: Context, parts: Parts) -> Owed | None:
    try:
        return await parts.owed()
    except Exception as error:
        ctx.note("idle.look_failed", error=error)
        return None


def _window(ctx: Context, opened_s: float | None, owed: Owed | None) -> float | None:
    """Since when nothing has been owed, on trio's clock; None while something is."""
    if owed is None:
        return opened_s
    if owed:
        if opened_s is not None:
            ctx.note("idle.window_cancelled", **owed.counters())
        return None
    if opened_s is None:
        ctx.note("idle.window_opened", **owed.counters())
        return trio.current_time()
    return opened_s


async def _last_look(ctx: Context, parts: Parts) -> Owed | None:
    """The look behind the closed door. Unless nothing is owed the door is open again, also when the look failed."""
    parts.door(False)
    owed = await _look(ctx, parts)
    if owed is None or owed:
        parts.door(True)
    return owed


def _leave(ctx: Context, parts: Parts, reason: str) -> None:
    parts.door(False)
    ctx.note("idle.leaving", reason=reason)
    parts.leave(reason)


def _spent(since_s: float, ms: int) -> bool:
    return trio.current_time() >= since_s + ms / 1000


def _wait_ms(parts: Parts, armed_s: float, opened_s: float | None) -> float:
    """Until the next look: a poll, or sooner when the lifetime or the window ends before. A window that ended waits."""
    now_s = trio.current_time()
    ends_s = [armed_s + parts.max_lifetime_ms / 1000, now_s + parts.poll_ms / 1000]
    if opened_s is not None and not _spent(opened_s, parts.idle_grace_ms):
        ends_s.append(opened_s + parts.idle_grace_ms / 1000)
    return max(0.0, min(ends_s) - now_s) * 1000
