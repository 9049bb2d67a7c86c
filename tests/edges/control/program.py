"""`python -m tests.edges.control.program LEDGER`: a daemon of which only the door and the runs are real.

Prints `PORT n` once it serves and `RAN slot` for every execution. Crash points and durations as the environment says.
"""

import os
import socket
import sys
from pathlib import Path

import trio

from actors.kit import Child, Context, Hooks, Supervisor, SystemClock
from actors.runs import LiveRun
from pixivflow import failpoints
from pixivflow.config.mask import Secret
from pixivflow.config.model import SchedulerRuntime, Trigger
from pixivflow.control.ports import Identity, Parts
from pixivflow.control.serve import control
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.lifecycle import live
from pixivflow.daemon.tree import children
from pixivflow.delivery.model import Accepted, Ack, OutboxRow
from pixivflow.ids import ScheduleId, TargetId
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.ledger import open_ledger
from pixivflow.ledger.owed import OwedLedger
from pixivflow.scheduling.model import Plan
from pixivflow.slots.model import Work

TOKEN = "a-token-for-a-process"
PLAN = ScheduleId("p")


async def execute(work: Work, live_run: LiveRun, ledger: Ledger) -> None:
    print(f"RAN {work.slot.id}", flush=True)


async def attempt(row: OutboxRow) -> Ack:
    return Accepted()


def main() -> int:
    points = failpoints.load(os.environ)
    timings = failpoints.load_timings(os.environ, points)
    clock = SystemClock()
    plans = {PLAN: Plan(id=PLAN, enabled=True, cron="* * * * *", armed_at=0)}
    runtime = SchedulerRuntime(mode="external", trigger=Trigger(enabled=True, token=Secret(TOKEN)))
    ground = Ground(
        open_ledger=lambda: open_ledger(Path(sys.argv[1]), clock=clock, timings=timings, point=points.point),
        execute=execute,
        attempt=attempt,
        plans=lambda: plans,
        timings=timings,
    )
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen()

    async def door(ctx: Context) -> None:
        parts = Parts(
            ledger=ground.ledger,
            offer=ground.offer,
            plans=lambda: plans,
            targets=lambda: (TargetId("t"),),
            runtime=lambda: runtime,
            owed=OwedLedger(ground.ledger, lambda: ground.runs.live.values()).now,
            leaving=lambda: False,
            identity=Identity(version="0", commit="unknown", pid=os.getpid(), started_at=clock.now_ms()),
            clock=clock,
            note=ctx.note,
            body_ms=timings.body_ms,
        )
        print(f"PORT {bound.getsockname()[1]}", flush=True)
        await control(ctx, [bound], parts)

    hooks = Hooks(clock=clock, point=points.point, settle_ms=timings.settle_ms)
    supervisor = Supervisor([*children(ground.bodies()), Child("control", door)], hooks, patience=ground.patience)
    return trio.run(live, supervisor)


if __name__ == "__main__":
    sys.exit(main())
