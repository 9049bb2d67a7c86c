"""One lane a route: what is due is given to the lane of its route, and no route waits for another.

    Wake, or the next row due ──> pass: roll up what was missed ─> due() ─> a lane for each route that has none yet

Nothing is remembered between passes: if it dies here, its next life finds every row in the outbox.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio

from actors.kit import Context, Letter, Mailbox, unwrapped
from actors.outbox_lane import Lane, Parts, send_batch
from actors.ports import Drain, Drained, Wake

Start = Callable[[], Awaitable[float]]


async def outbox_pump(ctx: Context, mailbox: Mailbox[Wake | Drain], parts: Parts[Any, Any, Any]) -> None:
    """Start lanes for what is due, on a hint, when a row becomes due, and once a poll in any case."""
    async with trio.open_nursery() as nursery:
        start = partial(_start_lanes, ctx, parts, nursery, lambda: mailbox.tell(Wake()))
        ctx.started()
        while not ctx.stopping:
            letter = await ctx.next_letter(mailbox, await start())
            if letter is not None and isinstance(letter.message, Drain):
                nursery.start_soon(_drain, ctx, parts, start, letter, letter.message.rounds)


async def _drain(ctx: Context, parts: Parts[Any, Any, Any], start: Start, letter: Letter[Any], rounds: int) -> None:
    rows = 0
    with letter.answering():
        for _ in range(rounds):
            await start()
            lanes = list(parts.lanes.values())  # also those that were at work before: their rows were due
            for lane in lanes:
                await lane.over.wait()
            rows += (ended := sum(lane.rows for lane in lanes))
            if not ended or ctx.stopping:
                break
        letter.answer(Drained(rows))


async def _start_lanes(
    ctx: Context, parts: Parts[Any, Any, Any], nursery: trio.Nursery, wake: Callable[[], object]
) -> float:
    """One pass; a lane that ended rows calls `wake`, as more may be due. How long nothing else becomes due, ms."""
    await _roll_up_missed(ctx, parts)
    now = ctx.clock.now_ms()
    try:
        due = await parts.outbox.due(now)
    except Exception as error:
        ctx.note("pump.pass_failed", error=error)
        return parts.poll_ms
    for route in due.routes:
        if route not in parts.lanes:
            parts.lanes[route] = lane = Lane()
            nursery.start_soon(_lane, ctx, parts, route, lane, wake)
    return parts.poll_ms if due.next_at is None else min(parts.poll_ms, max(1, due.next_at - now))


async def _roll_up_missed(ctx: Context, parts: Parts[Any, Any, Any]) -> None:
    """Finished slots that nobody has rolled up or reported yet. Whatever fails here keeps no row from being sent."""
    try:
        missed = await parts.outbox.missed(ctx.clock.now_ms())
    except Exception as error:
        ctx.note("pump.missed_failed", error=error)
        return
    for slot in missed:
        try:
            await parts.outbox.roll_up(slot, ctx.clock.now_ms())
        except Exception as error:
            ctx.note("pump.roll_up_failed", slot=slot, error=error)


async def _lane(ctx: Context, parts: Parts[Any, Any, Any], route: str, lane: Lane, wake: Callable[[], object]) -> None:
    try:
        await send_batch(ctx, parts, route, lane)
    except Exception as error:
        ctx.note("lane.failed", route=route, error=unwrapped(error))
    finally:
        del parts.lanes[route]
        lane.over.set()
    if lane.rows:
        wake()
