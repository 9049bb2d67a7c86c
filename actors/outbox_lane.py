"""One route at work: ask its receiver, claim a batch, one attempt a row in its order, record what was answered.

    ready? ──no──> its rows stay as they are, and are told of
       └─yes─> claim ─> look once more ─> attempt ─> record ─> next row

What if it dies here: claimed rows stay leased until their lease ends and are then attempted again, under the same key;
an answer that was not recorded is asked for once more and comes back as a replay.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import trio

from actors.kit import Context
from actors.ports import OutboxStore, Row

R = TypeVar("R", bound=Row)
A = TypeVar("A")
W = TypeVar("W")


@dataclass(eq=False, slots=True)
class Lane:
    """A route at work. `rows`: how many it has ended so far, or put off with a reason."""

    over: trio.Event = field(default_factory=trio.Event)
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Parts(Generic[R, A, W]):
    """What the pump and its lanes work with."""

    outbox: OutboxStore[R, A, W]
    attempt: Callable[[R], Awaitable[A]]
    """One network attempt. Whatever happens to it is an answer; it raises only for a bug."""
    ready: Callable[[str], Awaitable[W | None]]
    """Why a route's receiver takes nothing now; None when it does, or cannot be asked."""
    owner: str
    poll_ms: int
    renewal_ms: int
    batch: int = 4
    lanes: dict[str, Lane] = field(default_factory=dict)
    """The routes at work; a route has one lane at a time, so that its rows keep their order."""


async def send_batch(ctx: Context, parts: Parts[R, A, W], route: str, lane: Lane) -> None:
    """Attempt the route's next rows, unless its receiver takes nothing: then they wait, at no cost to their budget."""
    if (why := await parts.ready(route)) is not None:
        await parts.outbox.defer(route, parts.batch, why, ctx.clock.now_ms())
        return
    rows = list(await parts.outbox.claim(route, parts.batch, parts.owner, ctx.clock.now_ms()))
    unsent, in_hand = [row.id for row in rows], list[str]()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_renew, ctx, parts, unsent, in_hand)
            nursery.start_soon(_release_at_stop, ctx, parts, unsent)
            while unsent and not ctx.stopping:
                in_hand[:] = [unsent.pop(0)]
                await _attempt(ctx, parts, route, rows.pop(0))
                lane.rows += 1
            nursery.cancel_scope.cancel()
    finally:
        await _release(ctx, parts, unsent)


async def _release_at_stop(ctx: Context, parts: Parts[R, A, W], unsent: list[str]) -> None:
    """At once, not behind the attempt in flight: whoever kills us during the grace shall find them free."""
    await ctx.wait_stopping()
    await _release(ctx, parts, unsent)


async def _release(ctx: Context, parts: Parts[R, A, W], unsent: list[str]) -> None:
    ids = unsent.copy()
    unsent.clear()
    if ids:
        with ctx.settling():
            await parts.outbox.release(ids, parts.owner, ctx.clock.now_ms())


async def _attempt(ctx: Context, parts: Parts[R, A, W], route: str, row: R) -> None:
    if not await parts.outbox.cleared(row, parts.owner, ctx.clock.now_ms()):
        return
    ctx.point("outbox.claimed")
    ack = await parts.attempt(row)
    ctx.point("outbox.sent")
    waits = 0
    while not await _recorded(ctx, parts, row, ack):
        if not waits or ctx.stopping:
            ctx.note("outbox.not_recorded", route=route, outbox_id=row.id, is_kept=not ctx.stopping)
        if ctx.stopping:
            return
        waits += 1
        with ctx.waiting(parts.poll_ms):
            await trio.sleep_forever()
    ctx.point("outbox.recorded")


async def _recorded(ctx: Context, parts: Parts[R, A, W], row: R, ack: A) -> bool:
    """Whether the answer is written. It stays in hand until then: what a receiver has said is not asked for twice."""
    try:
        with ctx.settling():
            return await parts.outbox.record(row, ack, parts.owner, ctx.clock.now_ms())
    except trio.TooSlowError:
        return False


async def _renew(ctx: Context, parts: Parts[R, A, W], unsent: Sequence[str], in_hand: Sequence[str]) -> None:
    while True:
        await trio.sleep(parts.renewal_ms / 1000)
        await parts.outbox.renew([*in_hand, *unsent], parts.owner, ctx.clock.now_ms())
