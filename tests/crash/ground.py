"""`python -m tests.crash.ground --ledger FILE --receiver HOST:PORT …`: the daemon that these tests kill.

Everything in it is the program's own, joined as the program joins it, but for three things at its rim: what an
execution does (`acts`), where an attempt goes (`attempt`), and the door at which slots are asked for:

    client: one JSON line (slot)
    daemon: `ACCEPTED <slot>`, once the write that opened it has come back

It says `READY <port>` on its standard output when the whole tree is up. `--deaf` loses every hint: no actor is told
anything, each finds its work by looking.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import trio

from actors.kit import Child, Context, Hooks, Mailbox, Supervisor, SystemClock
from actors.ports import Wake
from pixivflow import failpoints
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.lifecycle import leave_wedged, live
from pixivflow.daemon.tree import children
from pixivflow.ids import ScheduleId, SlotId, TargetId
from pixivflow.ledger.ledger import open_ledger
from pixivflow.ledger.slots import open_slot
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.slots.model import Slot
from tests.crash.acts import Player
from tests.crash.attempt import attempt_to
from tests.crash.journal import Journal
from tests.crash.plans import PlayedPlan, read_plans

M = TypeVar("M")

LANE = "pixiv-account:default"
OCCURRENCE_AT = 1_768_446_000_000
CLOCK = SystemClock()


class Deaf(Mailbox[M]):
    """A box into which no hint ever falls; questions still arrive."""

    def tell(self, message: M) -> bool:
        return True


def note(event: str, **fields: object) -> None:
    """What happened, one JSON line on stderr."""
    print(json.dumps({"event": event, **fields}, default=repr), file=sys.stderr, flush=True)


def configured(plans: Mapping[str, PlayedPlan]) -> dict[ScheduleId, Plan]:
    """The plans as the program knows them."""
    return {
        ScheduleId(plan.id): Plan(
            id=ScheduleId(plan.id),
            enabled=True,
            target_ids=tuple(TargetId(target) for target in plan.targets),
            timeout_ms=plan.timeout_ms,
            lane=LANE,
            armed_at=0,
        )
        for plan in plans.values()
    }


class Door:
    """Opens the slots that are asked for, offers each to the runner, and accepts it when it is in the ledger."""

    def __init__(self, ground: Ground, plans: Mapping[str, PlayedPlan], *, deaf: bool) -> None:
        self._ground, self._deaf = ground, deaf
        self._plans = {plan.slot: plan for plan in plans.values()}

    async def actor(self, ctx: Context) -> None:
        """Listen on loopback until told to stop; a request in hand is then left without an answer."""
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=128)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, self._serve, listeners)
            ctx.started()
            print(f"READY {listeners[0].socket.getsockname()[1]}", flush=True)
            await ctx.wait_stopping()
            nursery.cancel_scope.cancel()

    async def _serve(self, stream: trio.SocketStream) -> None:
        try:
            async with stream:
                slot = json.loads(await stream.receive_some(65_536))["slot"]
                await self._open(self._plans[slot])
                await stream.send_all(f"ACCEPTED {slot}\n".encode())
            if not self._deaf:
                await self._ground.offer(slot)
        except Exception as error:
            note("door.failed", error=repr(error))

    async def _open(self, plan: PlayedPlan) -> None:
        slot = Slot(
            id=SlotId(plan.slot),
            schedule_id=ScheduleId(plan.id),
            occurrence_at=OCCURRENCE_AT,
            occurrence_date="2026-01-15",
            occurrence_label="03:00",
            target_ids=tuple(TargetId(target) for target in plan.targets),
            trigger_source="http",
        )
        await self._ground.ledger.write(open_slot, slot, CLOCK.now_ms())


def assembled(told: argparse.Namespace) -> Supervisor:
    """The daemon's tree with the door on top."""
    points = failpoints.load(os.environ)
    timings = failpoints.load_timings(os.environ, points)
    plans = read_plans(told.plans)
    known, governance = configured(plans), Governance(capacities={LANE: told.lanes}, queue_limit=100)
    host, _, port = told.receiver.rpartition(":")
    player = Player(
        plans=plans,
        journal=Journal(told.journal),
        gate=told.gate,
        clock=CLOCK,
        hint=lambda: ground.pump.tell(Wake()),
    )
    ground = Ground(
        open_ledger=lambda: open_ledger(told.ledger, clock=CLOCK, note=note, point=points.point, timings=timings),
        execute=player,
        attempt=attempt_to(host, int(port), told.attempt_ms),
        plans=lambda: known,
        governance=lambda: governance,
        timings=timings,
    )
    if told.deaf:
        ground.pump, ground.sweeper = Deaf(8), Deaf(1)
    door = Door(ground, plans, deaf=told.deaf)
    hooks = Hooks(clock=CLOCK, note=note, point=points.point, settle_ms=timings.settle_ms)
    return Supervisor(
        [*children(ground.bodies()), Child("door", door.actor)], hooks, patience=ground.patience, stuck=leave_wedged
    )


async def main() -> int:
    """Read the arguments, live, and tell the exit code."""
    parser = argparse.ArgumentParser()
    for name in ("--ledger", "--plans", "--journal", "--gate"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--receiver", required=True)
    parser.add_argument("--attempt-ms", type=int, default=1_000)
    parser.add_argument("--lanes", type=int, default=4, help="how many runs at once")
    parser.add_argument("--deaf", action="store_true")
    return await live(assembled(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(trio.run(main))
