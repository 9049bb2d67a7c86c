"""One life: a whole daemon on the file that the life before left, from its start to its end.

    ledger     the program's own, inline, watched        execution   `acts`
    tree       the program's own, on a clock that leaps  receiver    in memory

It ends by a mishap, or when nothing is owed any more. Who dies does not stop: its tasks are torn down like those of any
program, but from that instant nothing they do reaches the file or the wire.
"""

import contextlib
import math
from collections.abc import AsyncIterator
from typing import Any

import trio

from actors.kit import Hooks, Supervisor
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.tree import children
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
from tests.simulation.steps import Step
from tests.simulation.story import BUSY_UNTIL_S, Mishap, governance
from tests.simulation.watched import Watched


class Death(BaseException):
    """The process ends here."""


class Life:
    """`mishap` None: this life ends when it is told to. `served`: people ask things of it."""

    def __init__(self, chronicle: Chronicle, mishap: Mishap | None, *, served: bool = True) -> None:
        self.number = chronicle.lives
        chronicle.lives += 1
        self.over = trio.Event()
        self._chronicle, self._mishap, self._served = chronicle, mishap, served
        self._dead = False
        self._left = mishap.nth if mishap else 0
        self._scope = trio.CancelScope()
        self._chance = chronicle.story.chance("life", self.number)
        self._player = Player(chronicle)
        self._judge = Judge(chronicle, self.number, self._player)
        self._watched: Watched | None = None
        self._tree: Supervisor | None = None

    async def live(self) -> None:
        """The whole life."""
        try:
            with self._scope:
                await self._live()
        except BaseException:
            if not self._dead:
                raise
        finally:
            self._gone(trio.current_time())
            self.over.set()

    async def _live(self) -> None:
        ground = self._ground()
        clock = self._chronicle.clock
        hooks = Hooks(clock=clock, note=self._noted, point=self.point, settle_ms=PRODUCTION.settle_ms)
        actors, patience = children(ground.bodies()), ground.patience
        self._tree = Supervisor(actors, hooks, patience=patience, stuck=lambda names, failed: self.die())
        async with trio.open_nursery() as nursery:
            if self._mishap is not None and self._mishap.point is None:
                nursery.start_soon(self._meet, self._mishap)
            if self._served:
                nursery.start_soon(people, self._chronicle, ground, self._tree.up, self.stop)
            await self._tree.run()
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
        async with open_inline(self._chronicle.ledger, clock=self._chronicle.clock, point=self.point) as inner:
            self._watched = Watched(inner, self, self._chronicle)
            yield self._watched

    def _plans(self) -> dict[ScheduleId, Plan]:
        story, now_s = self._chronicle.story, trio.current_time()
        gone = story.plan_gone
        return {plan.id: plan for plan in story.plans if gone is None or plan.id != gone[1] or now_s < gone[0]}

    async def _attempt(self, row: OutboxRow) -> Ack:
        await self.awake()
        return await self._chronicle.receiver.attempt(row, self.number, trio.current_time())

    # how it ends

    async def _meet(self, mishap: Mishap) -> None:
        await trio.sleep(mishap.after_s)
        if mishap.in_order:
            self.stop()
        else:
            self.die()

    def stop(self) -> None:
        """Stop in order."""
        self.say("stop")
        self._judge.stopping = True
        if self._tree is not None:
            self._tree.stop()

    def die(self) -> None:
        """From here on nothing of this process reaches anything; what was not committed is gone at once."""
        if self._dead:
            return
        self.say("died")
        self._dead = True
        if self._watched is not None:
            self._watched.cut()
        self._gone(trio.current_time())
        self._scope.cancel()
        self.over.set()

    def _gone(self, since_s: float) -> None:
        self._chronicle.absences.setdefault(self.number, []).append((since_s, math.inf))

    def point(self, name: str) -> None:
        """A crash point is passed, or it is not."""
        self._check()
        if name == "ledger.after_commit" and self._watched is not None:
            self._watched.committed()
        if self._mishap is not None and self._mishap.point == name:
            self._left -= 1
            if self._left == 0:
                self.die()
                raise Death

    def _check(self) -> None:
        if self._dead:
            raise Death

    # what its ledger asks

    async def awake(self) -> None:
        """Come back once the process is not frozen. Errors: `Death`."""
        self._check()
        if not self._served:
            for at_s, for_s in self._chronicle.story.freezes or ():
                if at_s <= trio.current_time() < at_s + for_s:
                    self._chronicle.absences.setdefault(self.number, []).append((at_s, at_s + for_s))
                    await trio.sleep_until(at_s + for_s)
                    self._check()

    def busy(self, fn: str) -> None:
        """Now and then another process keeps the ledger for too long: nothing is done, and the caller is told so."""
        now_s, busy = trio.current_time(), self._chronicle.story.busy
        if busy and now_s < BUSY_UNTIL_S and self._chance.random() < busy:
            if fn == "record":
                self._chronicle.unrecorded_s.append(now_s)
            self.say("ledger.refused", fn=fn)
            raise Unavailable("another process keeps the ledger")

    def committed(self, step: Step) -> None:
        """Hear of a commit."""
        self._judge(step)

    # what is said

    def _noted(self, event: str, /, **fields: Any) -> None:
        self.say(event, **fields)
        excused = "Unavailable" in repr(fields) or self._chronicle.absences.get(self.number)
        if event.endswith("failed") and not excused:
            self._chronicle.faults.append(f"{event} {fields}")

    def say(self, event: str, /, **fields: Any) -> None:
        """What happened, told with its instant."""
        self._chronicle.say(self.number, event, **fields)
