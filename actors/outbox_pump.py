"""One lane a route: claim a batch, one attempt a row in its order, record what was answered.

    Wake, or the next row due ──> pass: before(), due() ──> a lane for each due route that has none yet
                                                            claim ─> look once more ─> attempt ─> record ─> next row

What if it dies here: claimed rows stay leased until their lease ends and are then attempted again, under the same key;
an answer that was not recorded is asked for once more and comes back as a replay. Nothing is remembered between passes.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import trio

from actors.kit import Context, Letter, Mailbox, unwrapped
from actors.ports import Drain, Drained, OutboxStore, Row, Wake

R = TypeVar("R", bound=Row)
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Parts(Generic[R, A]):
    """What the pump works with."""

    outbox: OutboxStore[R, A]
    attempt: Callable[[R], Awaitable[A]]
    """One network attempt. Whatever happens to it is an answer; it raises only for a bug."""
    owner: str
    poll_ms: int
    renewal_ms: int
    batch: int = 4
    lanes: set[str] = field(default_factory=set)
    """The routes at work; a route has one lane at a time, so that its rows keep their order."""


async def outbox_pump(ctx: Context, mailbox: Mailbox[Wake | Drain], parts: Parts[Any, Any]) -> None:
    """Start lanes for what is due, on a hint, when a row becomes due, and once a poll in any case."""
    async with trio.open_nursery() as nursery:
        ctx.started()
        while not ctx.stopping:
            wait_ms = await _start_lanes(ctx, parts, nursery, lambda rows: mailbox.tell(Wake()))
            letter = await ctx.next_letter(mailbox, wait_ms)
            if letter is not None and isinstance(letter.message, Drain):
                nursery.start_soon(_drain, ctx, parts, letter, letter.message.rounds)


async def _drain(ctx: Context, parts: Parts[R, A], letter: Letter[Any], rounds: int) -> None:
    ended: list[int] = []
    with letter.answering():
        for _ in range(rounds):
            before = len(ended)
            async with trio.open_nursery() as nursery:
                await _start_lanes(ctx, parts, nursery, ended.append)
            if len(ended) == before or ctx.stopping:
                break
        letter.answer(Drained(sum(ended)))


async def _start_lanes(ctx: Context, parts: Parts[R, A], nursery: trio.Nursery, done: Callable[[int], object]) -> float:
    """One pass; each lane that ended rows calls `done` with their number. How long nothing more will be due, ms."""
    try:
        await parts.outbox.before(ctx.clock.now_ms())
    except Exception as error:
        ctx.note("pump.before_failed", error=repr(error))
    now = ctx.clock.now_ms()
    try:
        due = await parts.outbox.due(now)
    except Exception as error:
        ctx.note("pump.pass_failed", error=repr(error))
        return parts.poll_ms
    for route in due.routes:
        if route not in parts.lanes:
            parts.lanes.add(route)
            nursery.start_soon(_lane, ctx, parts, route, done)
    return parts.poll_ms if due.next_at is None else min(parts.poll_ms, max(1, due.next_at - now))


async def _lane(ctx: Context, parts: Parts[R, A], route: str, done: Callable[[int], object]) -> None:
    ended = 0
    try:
        ended = await _batch(ctx, parts, route)
    except Exception as error:
        ctx.note("lane.failed", route=route, error=repr(unwrapped(error)))
    finally:
        parts.lanes.discard(route)
    if ended:
        done(ended)


async def _batch(ctx: Context, parts: Parts[R, A], route: str) -> int:
    rows = list(await parts.outbox.claim(route, parts.batch, parts.owner, ctx.clock.now_ms()))
    count, unsent = len(rows), [row.id for row in rows]
    try:
        async with trio.open_nursery() as nursery:
            in_hand: list[str] = []
            nursery.start_soon(_renew, ctx, parts, unsent, in_hand)
            while unsent and not ctx.stopping:
                in_hand[:] = [unsent.pop(0)]
                await _attempt(ctx, parts, rows.pop(0))
            nursery.cancel_scope.cancel()
    finally:
        if unsent:
            with ctx.settling():
                await parts.outbox.release(unsent, parts.owner, ctx.clock.now_ms())
    return count - len(unsent)


async def _attempt(ctx: Context, parts: Parts[R, A], row: R) -> None:
    if not await parts.outbox.cleared(row, parts.owner, ctx.clock.now_ms()):
        return
    ctx.point("outbox.claimed")
    ack = await parts.attempt(row)
    ctx.point("outbox.sent")
    with ctx.settling():
        await parts.outbox.record(row, ack, parts.owner, ctx.clock.now_ms())
    ctx.point("outbox.recorded")


async def _renew(ctx: Context, parts: Parts[R, A], unsent: Sequence[str], in_hand: Sequence[str]) -> None:
    while True:
        await trio.sleep(parts.renewal_ms / 1000)
        await parts.outbox.renew([*in_hand, *unsent], parts.owner, ctx.clock.now_ms())
