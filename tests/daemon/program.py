"""`python -m tests.daemon.program --ledger FILE MODE…`: a whole daemon in which something does not go as it should.

Slots named on the command line are opened and offered in their order, `<plan>:<deed>` each, all on one lane with one
permit. Deeds:

    work      come back at once
    shield    sleep for ever inside a shielded scope
    thread    sleep for ever in a thread that cannot be abandoned
    leaves    sleep for ever in a thread that may be abandoned
    wait      sleep, and come back when cancelled

Faults of the tree, as further children:

    --broken     an actor that raises on every start
    --deaf       an actor that ignores its stop
    --blocked    an actor that blocks the event loop once everything is up

Every note is one JSON line on standard output; `tree.up` when every child has started.
"""

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path

import trio

from actors.kit import Budget, Child, Context, Hooks, Supervisor, SystemClock
from actors.runs import LiveRun
from pixivflow import failpoints
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.lifecycle import leave_wedged, live
from pixivflow.daemon.tree import children
from pixivflow.delivery.model import Accepted, Ack, OutboxRow
from pixivflow.ids import ScheduleId, SlotId, TargetId
from pixivflow.ledger.ledger import Ledger, open_ledger
from pixivflow.ledger.slots import open_slot
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.slots.model import Slot, Work

CLOCK = SystemClock()
FOR_EVER = threading.Event()


def note(event: str, **fields: object) -> None:
    print(json.dumps({"event": event, **fields}, default=repr), flush=True)


async def execute(work: Work, live_run: LiveRun, ledger: Ledger) -> None:
    """Do what the plan's name says, and say when that begins."""
    note("execution.began", slot=work.slot.id)
    match work.slot.schedule_id.partition("-")[2]:
        case "shield":
            with trio.CancelScope(shield=True):
                await trio.sleep_forever()
        case "thread":
            await trio.to_thread.run_sync(FOR_EVER.wait, limiter=live_run.threads)
        case "leaves":
            await trio.to_thread.run_sync(FOR_EVER.wait, limiter=live_run.threads, abandon_on_cancel=True)
        case "wait":
            await trio.sleep_forever()


async def attempt(row: OutboxRow) -> Ack:
    return Accepted()


async def broken(ctx: Context) -> None:
    raise RuntimeError("no start is a good start with token=planted-word")


async def deaf(ctx: Context) -> None:
    ctx.started()
    await trio.sleep_forever()


async def blocked(ctx: Context) -> None:
    ctx.started()
    note("loop.blocked")
    while True:
        time.sleep(60)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--timeout-ms", type=int, default=600_000)
    for fault in ("--broken", "--deaf", "--blocked"):
        parser.add_argument(fault, action="store_true")
    parser.add_argument("slots", nargs="*")
    told = parser.parse_args()
    points = failpoints.load(os.environ)
    timings = failpoints.load_timings(os.environ, points)
    plans = {
        ScheduleId(name): Plan(
            id=ScheduleId(name), enabled=True, armed_at=0, target_ids=(TargetId("t"),), timeout_ms=told.timeout_ms
        )
        for name in (slot.replace(":", "-") for slot in told.slots)
    }
    ground = Ground(
        open_ledger=lambda: open_ledger(told.ledger, clock=CLOCK, note=note, timings=timings),
        execute=execute,
        attempt=attempt,
        plans=lambda: plans,
        timings=timings,
        governance=lambda: Governance(queue_limit=10),
    )

    async def offering(ctx: Context) -> None:
        ctx.started()
        for plan in plans.values():
            slot = Slot(
                id=SlotId(f"{plan.id}@2026-01-15T1000"),
                schedule_id=plan.id,
                occurrence_at=CLOCK.now_ms(),
                target_ids=plan.target_ids,
            )
            await ground.ledger.write(open_slot, slot, CLOCK.now_ms())
            await ground.offer(slot.id)
        await ctx.wait_stopping()

    faults = {"broken": broken, "deaf": deaf, "blocked": blocked}
    budget = Budget(intensity=3, backoff_ms=10)
    more = [Child(name, actor, budget=budget) for name, actor in faults.items() if getattr(told, name)]
    hooks = Hooks(clock=CLOCK, note=note, settle_ms=timings.settle_ms)
    tree = [*children(ground.bodies()), Child("offering", offering), *more]
    supervisor = Supervisor(tree, hooks, patience=ground.patience, stuck=leave_wedged)
    return trio.run(watched, supervisor)


async def watched(supervisor: Supervisor) -> int:
    async def announce() -> None:
        await supervisor.up.wait()
        note("tree.up")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(announce)
        code = await live(supervisor)
        nursery.cancel_scope.cancel()
    return code


if __name__ == "__main__":
    sys.exit(main())
