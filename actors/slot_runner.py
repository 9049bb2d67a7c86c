"""The one door of admission, and one leased, bounded, heart-beating run per slot.

    Offer ──admit──> waiting for its lane ──begin──> running ──finish──> gone
                          │                            │ its scope is over and it does not unwind
                          └── told to stop: gone       └──drain window──> abandoned: lane, plan and entry are free

What if it dies here: the actor's next life finds its runs in the registry; a run that dies unsettled leaves its lease
to run out, and recovery offers the slot again.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import trio

from actors.kit import BoundedScope, CancelOrigin, Context, End, Ended, Mailbox, run_bounded
from actors.ports import Admitted, Busy, Cancel, Lost, Offer, Refused, Run, Settled, SlotStore, Verdict
from actors.runs import LiveRun, Runs, told

W = TypeVar("W")

BRIEF_S = 0.1  # what a run that unwinds gets to settle itself before its watcher does it


@dataclass(frozen=True, slots=True)
class Parts(Generic[W]):
    """What the runner works with."""

    slots: SlotStore[W]
    execute: Callable[[W, LiveRun], Awaitable[object]]
    runs: Runs
    new_owner: Callable[[], str]
    drain: Callable[[], object]
    """Called by the loser of a claim: the winner's deliveries may be due."""
    heartbeat_ms: int
    drain_window_ms: int


async def slot_runner(ctx: Context, mailbox: Mailbox[Offer | Cancel], parts: Parts[Any]) -> None:
    """Admit what is offered and cancel what is to be cancelled, one letter after the other."""
    ctx.started()
    while letter := await ctx.next_letter(mailbox):
        with letter.answering():
            match letter.message:
                case Offer(slot):
                    letter.answer(await _admit(ctx, parts, slot))
                case Cancel(slot, origin, reason):
                    live = parts.runs.live.get(slot)
                    letter.answer(live is not None and live.scope.end(origin, reason) and live.run is not None)


async def _admit(ctx: Context, parts: Parts[W], slot: str) -> Admitted | Refused:
    busy = tuple(live.busy for live in parts.runs.live.values())
    answer = await parts.slots.admit(slot, busy, ctx.clock.now_ms())
    if not parts.runs.taking:
        return Refused("stopping")
    if isinstance(answer, Admitted):
        live = LiveRun(Busy(slot, answer.plan, answer.lane))
        parts.runs.spawn(live, partial(_run, parts=parts, live=live, admitted=answer))
    return answer


async def _run(ctx: Context, parts: Parts[W], live: LiveRun, admitted: Admitted) -> None:
    settled = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_work, ctx, parts, live, admitted, settled)
        await _watch(ctx, parts, live, settled)


async def _work(ctx: Context, parts: Parts[W], live: LiveRun, admitted: Admitted, settled: trio.Event) -> None:
    async def settle(end: End) -> None:
        if live.run is None or live.revoked:
            ctx.note("run.late" if live.revoked else "run.not_begun", slot=live.busy.slot, **told(end))
            return
        live.settling = True
        ctx.point("run.settling")
        with ctx.settling():
            verdict = await parts.slots.finish(live.run, end, ctx.clock.now_ms())
        ctx.point("run.settled")
        word = verdict.status if isinstance(verdict, Verdict) else "lost"
        ctx.note("run.finished", slot=live.busy.slot, verdict=word, **told(end))

    try:
        with ctx.bounded(live.scope):
            await run_bounded(live.scope, partial(_body, ctx, parts, live, admitted), settle)
    finally:
        settled.set()


async def _body(ctx: Context, parts: Parts[W], live: LiveRun, admitted: Admitted) -> object:
    await trio.sleep(admitted.delay_ms / 1000)
    await parts.runs.permit(live, admitted.capacity)
    await trio.lowlevel.checkpoint_if_cancelled()  # its turn may have come in the instant of its end
    run = Run(live.busy.slot, parts.new_owner(), ctx.clock.now_ms())
    with ctx.settling():
        begun = await parts.slots.begin(run.slot, run.owner, run.started_at)
    if isinstance(begun, Lost):
        parts.drain()
    if isinstance(begun, Lost | Settled):
        return begun
    live.run = run
    live.scope.limit(admitted.timeout_ms)
    ctx.point("run.claimed")
    await trio.lowlevel.checkpoint_if_cancelled()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_beat, ctx, parts, live.scope, run)
        result = await parts.execute(begun, live)
        nursery.cancel_scope.shield = True  # what came back stays, though the scope may end while the heart stops
        nursery.cancel_scope.cancel()
    return result


async def _beat(ctx: Context, parts: Parts[W], scope: BoundedScope, run: Run) -> None:
    while True:
        await trio.sleep(parts.heartbeat_ms / 1000)
        if not await parts.slots.beat(run.slot, run.owner, ctx.clock.now_ms()):
            scope.end(CancelOrigin.LEASE_LOST, "another owner has the slot")


async def _watch(ctx: Context, parts: Parts[W], live: LiveRun, settled: trio.Event) -> None:
    try:
        await live.scope.wait_over()
        with trio.move_on_after(parts.drain_window_ms / 1000):
            await settled.wait()
    finally:
        with trio.move_on_after(BRIEF_S, shield=True):
            await settled.wait()
        if not settled.is_set():
            await _give_up(ctx, parts, live)


async def _give_up(ctx: Context, parts: Parts[W], live: LiveRun) -> None:
    parts.runs.give_up(live)
    if live.run is None or live.settling:
        return  # it has nothing to settle yet, or is at it; the ledger has the word
    live.revoked = True
    ended = live.scope.ended or Ended(None, "from above")
    ctx.note("run.abandoned", slot=live.busy.slot, **told(ended))
    try:
        with ctx.settling():
            await parts.slots.abandon(live.run, ended, ctx.clock.now_ms())
    except Exception as error:  # noted here: the nursery above would keep it until the run returns
        ctx.note("run.failed", slot=live.busy.slot, error=error)
