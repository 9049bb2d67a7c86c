"""One lane a route: claim a batch, one attempt a row in its order, record what was answered.

    Wake, or the next row due ──> pass: before(), due() ──> a lane for each due route that has none yet
                                                            claim ─> look once more ─> attempt ─> record ─> next row

What if it dies here: claimed rows stay leased until their lease ends and are then attempted again, under the same key;
an answer that was not recorded is asked for once more and comes back as a replay. Nothing is remembered between passes.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import trio

from actors.kit import Context, Letter, Mailbox, unwrapped
from actors.ports import Drain, Drained, OutboxStore, Row, Wake

R = TypeVar("R", bound=Row)
A = TypeVar("A")


@dataclass(eq=False, slots=True)
class Lane:
    """A route at work. `rows`: how many it has ended so far, or put off with a reason."""

    over: trio.Event = field(default_factory=trio.Event)
    rows: int = 0


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
    lanes: dict[str, Lane] = field(default_factory=dict)
    """The routes at work; a route has one lane at a time, so that its rows keep their order."""


async def outbox_pump(ctx: Context, mailbox: Mailbox[Wake | Drain], parts: Parts[Any, Any]) -> None:
    """Start lanes for what is due, on a hint, when a row becomes due, and once a poll in any case."""
    async with trio.open_nursery() as nursery:
        start = partial(_start_lanes, ctx, parts, nursery, lambda: mailbox.tell(Wake()))
        ctx.started()
        while not ctx.stopping:
            letter = await ctx.next_letter(mailbox, await start())
            if letter is not None and isinstance(letter.message, Drain):
                nursery.start_soon(_drain, ctx, parts, start, letter, letter.message.rounds)


async def _drain(
    ctx: Context, parts: Parts[R, A], start: Callable[[], Awaitable[float]], letter: Letter[Any], rounds: int
) -> None:
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


async def _start_lanes(ctx: Context, parts: Parts[R, A], nursery: trio.Nursery, wake: Callable[[], object]) -> float:
    """One pass; a lane that ended rows calls `wake`, as more may be due. How long nothing else becomes due, ms."""
    try:
        await parts.outbox.before(ctx.clock.now_ms())
    except Exception as error:
        ctx.note("pump.before_failed", error=error)
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


async def _lane(ctx: Context, parts: Parts[R, A], route: str, lane: Lane, wake: Callable[[], object]) -> None:
    try:
        await _batch(ctx, parts, route, lane)
    except Exception as error:
        ctx.note("lane.failed", route=route, error=unwrapped(error))
    finally:
        del parts.lanes[route]
        lane.over.set()
    if lane.rows:
        wake()


async def _batch(ctx: Context, parts: Parts[R, A], route: str, lane: Lane) -> None:
    rows = list(await parts.outbox.claim(route, parts.batch, parts.owner, ctx.clock.now_ms()))
    unsent, in_hand = [row.id for row in rows], list[str]()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_renew, ctx, parts, unsent, in_hand)
            nursery.start_soon(_release_at_stop, ctx, parts, unsent)
            while unsent and not ctx.stopping:
                in_hand[:] = [unsent.pop(0)]
                await _attempt(ctx, parts, rows.pop(0))
                lane.rows += 1
            nursery.cancel_scope.cancel()
    finally:
        await _release(ctx, parts, unsent)


async def _release_at_stop(ctx: Context, parts: Parts[R, A], unsent: list[str]) -> None:
    """At once, not behind the attempt in flight: whoever kills us during the grace shall find them free."""
    await ctx.wait_stopping()
    await _release(ctx, parts, unsent)


async def _release(ctx: Context, parts: Parts[R, A], unsent: list[str]) -> None:
    ids = unsent.copy()
    unsent.clear()
    if ids:
        with ctx.settling():
            await parts.outbox.release(ids, parts.owner, ctx.clock.now_ms())


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
