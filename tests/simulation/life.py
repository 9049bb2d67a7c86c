"""One life: a whole daemon on the file that the life before left, from its start to its end.

    ledger     the program's own, inline, watched        execution   `acts`
    tree       the program's own, on a clock that leaps  receiver    in memory

It ends by a mishap, or when nothing is owed any more. Who dies does not stop: its tasks are torn down like those of any
program, but from that instant nothing they do reaches the file or the wire.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import trio

from actors.kit import Hooks, Supervisor
from actors.kit.testing import VirtualClock
from pixivflow.daemon.tree import Ground
from pixivflow.delivery.model import Ack, OutboxRow
from pixivflow.errors import Unavailable
from pixivflow.ids import ScheduleId
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.ledger import Ledger
from pixivflow.scheduling.model import Plan
from pixivflow.times import PRODUCTION
from tests.simulation.acts import Player
from tests.simulation.chronicle import Chronicle
from tests.simulation.judge import Judge
from tests.simulation.people import people
from tests.simulation.story import BUSY_UNTIL_S, Mishap, governance
from tests.simulation.watched import Watched


class Death(BaseException):
    """The process ends here."""


class Life:
    """`mishap` None: this life ends well."""

    def __init__(self, chronicle: Chronicle, mishap: Mishap | None) -> None:
        self.chronicle, self.mishap = chronicle, mishap
        self.dead = False
        self._left = mishap.nth if mishap else 0
        self._scope = trio.CancelScope()
        self._clock = VirtualClock(chronicle.wall_ms)
        self._started_s = chronicle.now_s
        self._chance = chronicle.story.chance("life", chronicle.life)
        self._player = Player(chronicle, self._clock)
        self._judge = Judge(chronicle, self._player)
        self._watched: Watched | None = None

    async def live(self) -> None:
        """The whole life."""
        try:
            with self._scope:
                await self._live()
        finally:
            self._tell_time()
            self.chronicle.wall_ms = self._clock.now_ms() + (self.mishap.down_ms if self.mishap else 0)
            self.say("over", dead=self.dead)

    async def _live(self) -> None:
        ground = self._ground()
        hooks = Hooks(clock=self._clock, note=self._noted, point=self.point, settle_ms=PRODUCTION.settle_ms)
        tree = Supervisor(ground.children(), hooks, patience=ground.patience, stuck=lambda names, failed: self.die())

        def stop() -> None:
            self.say("stop")
            self._judge.stopping = True
            tree.stop()

        async with trio.open_nursery() as nursery:
            if self.mishap is not None and self.mishap.point is None:
                nursery.start_soon(self._mishap, self.mishap, stop)
            nursery.start_soon(people, self.chronicle, ground, self._clock, tree.up, stop)
            await tree.run()
            nursery.cancel_scope.cancel()

    def _ground(self) -> Ground:
        ground = Ground(
            open_ledger=self._open,
            execute=self._player,
            attempt=self._attempt,
            plans=self._plans,
            timings=PRODUCTION,
            governance=governance,
            token=lambda: f"{self._chance.getrandbits(32):08x}",
            chance=self._chance.random,
        )
        self._player.pump = ground.pump
        return ground

    @contextlib.asynccontextmanager
    async def _open(self) -> AsyncIterator[Ledger]:
        async with open_inline(self.chronicle.ledger, clock=self._clock, point=self.point) as inner:
            self._watched = Watched(inner, self._check, self._committed, self._refuse)
            yield self._watched

    def _plans(self) -> dict[ScheduleId, Plan]:
        self._tell_time()
        story, now_s = self.chronicle.story, self.chronicle.now_s
        gone = story.plan_gone
        return {plan.id: plan for plan in story.plans if gone is None or plan.id != gone[1] or now_s < gone[0]}

    async def _attempt(self, row: OutboxRow) -> Ack:
        self._check()
        self._tell_time()
        return await self.chronicle.receiver.attempt(row, self.chronicle.life, self.chronicle.now_s)

    async def _mishap(self, mishap: Mishap, stop: Any) -> None:
        await trio.sleep(mishap.after_s)
        if mishap.in_order:
            stop()
        else:
            self.die()

    def die(self) -> None:
        """From here on nothing of this process reaches anything."""
        self.say("died")
        self.dead = True
        self._scope.cancel()

    def _check(self) -> None:
        if self.dead:
            raise Death

    def _refuse(self, fn: str) -> None:
        """Now and then another process keeps the ledger for too long: nothing is done, and the caller is told so."""
        self._tell_time()
        now_s, busy = self.chronicle.now_s, self.chronicle.story.busy
        if busy and now_s < BUSY_UNTIL_S and self._chance.random() < busy:
            if fn == "record":
                self.chronicle.unrecorded_s.append(now_s)
            self.say("ledger.refused", fn=fn)
            raise Unavailable("another process keeps the ledger")

    def point(self, name: str) -> None:
        """A crash point is passed, or it is not."""
        self._check()
        if name == "ledger.after_commit" and self._watched is not None:
            self._watched.committed()
        if self.mishap is not None and self.mishap.point == name:
            self._left -= 1
            if self._left == 0:
                self.die()
                raise Death

    def _committed(self, step: Any) -> None:
        self._tell_time()
        self._judge(step)

    def _noted(self, event: str, /, **fields: Any) -> None:
        self.say(event, **fields)
        if event.endswith("failed") and not self.dead and "Unavailable" not in repr(fields):
            self.chronicle.faults.append(f"{event} {fields}")

    def say(self, event: str, /, **fields: Any) -> None:
        """What happened, told with its instant."""
        self._tell_time()
        self.chronicle.say(event, **fields)

    def _tell_time(self) -> None:
        self.chronicle.now_s = self._started_s + trio.current_time()
