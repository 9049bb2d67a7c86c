"""One daemon: the settings in force, what they join, and the bodies of the actors that know them.

Who stands where, and when, is the map in `tree.py`; those that work on rows alone are `ground.Ground`'s.
"""

import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

from actors.idle_lifecycle import Parts as IdleParts
from actors.idle_lifecycle import idle_lifecycle
from actors.kit import Child, Context, Hooks, Mailbox, Note, Supervisor
from actors.ports import LookAgain, Owed, Reload, Wake
from actors.scheduler import Parts as SchedulerParts
from actors.scheduler import scheduler
from pixivflow import __version__
from pixivflow.config.load import Loaded
from pixivflow.config.model import Settings
from pixivflow.config.watch.folder import changes
from pixivflow.config.watch.live import Live
from pixivflow.config.watch.watcher import Look, config_watcher, reader
from pixivflow.config.watch.watcher import Parts as WatcherParts
from pixivflow.control.ports import Identity
from pixivflow.control.ports import Parts as DoorParts
from pixivflow.control.serve import control
from pixivflow.daemon.gaps import with_gaps
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.lifecycle import leave_wedged
from pixivflow.daemon.resolved import (
    budgets_of,
    catching_up,
    governance_of,
    plans_of,
    retries_of,
    targets_of,
    ticking,
)
from pixivflow.daemon.tree import Body, children
from pixivflow.daemon.work import AtWork
from pixivflow.delivery.backoff import RetryPolicy
from pixivflow.ids import ScheduleId
from pixivflow.ledger.fires import FireLedger
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.ledger import open_ledger
from pixivflow.ledger.owed import OwedLedger
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.ticks import PlanTicks
from pixivflow.times import Timings


class Program:
    """The tree of one daemon, `supervisor`. `exit_reason`: why it left by itself, None while it did not.

    `live`: the snapshot in force. `published`: hears of every one that comes in force after the first. `retries`: how
    attempts at a delivery are spaced under a snapshot.
    """

    def __init__(
        self,
        loaded: Loaded,
        sockets: Sequence[socket.socket],
        hooks: Hooks,
        timings: Timings,
        environ: Mapping[str, str],
        published: Callable[[Settings], object] = lambda settings: None,
        retries: Callable[[Settings], RetryPolicy] = retries_of,
    ) -> None:
        self._loaded, self.live = loaded, Live(loaded.settings)
        self._sockets, self._hooks, self._timings, self._environ = sockets, hooks, timings, environ
        self._published, self._started_at = published, hooks.clock.now_ms()
        self._armed = loaded.settings.generation, plans_of(loaded.settings, self._started_at)
        self._idle: Mailbox[LookAgain] = Mailbox(1)
        self._scheduler: Mailbox[Reload] = Mailbox(1)
        self._config: Mailbox[Look] = Mailbox(4)
        self.exit_reason: str | None = None
        self.leaving = False
        self._work = AtWork(self.settings, hooks, timings, environ)
        self.ground = Ground(
            open_ledger=self._open_ledger,
            execute=self._work.execute,
            attempt=self._work.attempt,
            ready=self._work.ready,
            plans=self.plans,
            governance=lambda: governance_of(self.settings()),
            budgets=lambda: budgets_of(self.settings()),
            retries=lambda: retries(self.settings()),
            timings=timings,
            ended=self._something_ended,
        )
        self.supervisor = Supervisor(self._children(), hooks, patience=self.ground.patience, stuck=leave_wedged)

    def settings(self) -> Settings:
        """The snapshot in force."""
        return self.live.current()

    def plans(self) -> dict[ScheduleId, Plan]:
        """Every plan, armed since its settings came in force."""
        settings = self.settings()
        if self._armed[0] != settings.generation:
            self._armed = settings.generation, plans_of(settings, self._hooks.clock.now_ms())
        return self._armed[1]

    def reload(self) -> None:
        """Look at the configuration now."""
        self._config.tell(Look())

    async def aclose(self) -> None:
        """Close the ways out, once the tree has ended."""
        await self._work.aclose()

    def _children(self) -> list[Child]:
        bodies = {
            **self.ground.bodies(),
            "scheduler": Body(self._run_scheduler, self._scheduler),
            "control": Body(self._run_control),
            "config_watcher": Body(self._run_watcher, self._config),
            "idle": Body(self._run_idle, self._idle),
        }
        return children(bodies, self.settings().scheduler_runtime, has_door=bool(self._sockets))

    def _open_ledger(self) -> AbstractAsyncContextManager[Ledger]:
        path = self.settings().storage.database_path
        hooks = self._hooks
        return open_ledger(path, clock=hooks.clock, note=hooks.note, point=hooks.point, timings=self._timings)

    async def _run_scheduler(self, ctx: Context) -> None:
        runtime = self.settings().scheduler_runtime
        fires = FireLedger(
            self.ground.ledger,
            plans=self.plans,
            targets=lambda: tuple(targets_of(self.settings())),
            busy=lambda: [live.busy for live in self.ground.runs.live.values()],
            owing=lambda: catching_up(runtime, self.plans().values()),
        )
        parts = SchedulerParts(
            ticks=PlanTicks(lambda: ticking(runtime, self.plans().values())),
            fires=fires,
            offer=self.ground.offer,
            sleep_ms=self._timings.clock_sleep_ms,
            jump_ms=self._timings.clock_jump_ms,
        )
        await scheduler(ctx, self._scheduler, parts)

    async def _run_watcher(self, ctx: Context) -> None:
        path = self._loaded.path
        parts = WatcherParts(
            path=path,
            live=self.live,
            read=whole_reader(path, self._environ),
            published=self.in_force,
            stirring=partial(changes, look_ms=self._timings.watch_look_ms, step_ms=self._timings.watch_step_ms),
        )
        await config_watcher(ctx, self._config, parts)

    def in_force(self, settings: Settings) -> None:
        """Tell those who keep something of the snapshot that another one is in force."""
        self._published(settings)
        self._scheduler.tell(Reload())

    async def _run_control(self, ctx: Context) -> None:
        await control(ctx, self._sockets, self.door(ctx.note))

    def door(self, note: Note) -> DoorParts:
        """What the routes of the door work with."""
        return DoorParts(
            ledger=self.ground.ledger,
            offer=self.ground.offer,
            plans=self.plans,
            targets=lambda: tuple(targets_of(self.settings())),
            runtime=lambda: self.settings().scheduler_runtime,
            owed=lambda: self._owed().now(),
            leaving=lambda: self.leaving or self.supervisor.stopping,
            identity=Identity(
                version=__version__,
                commit=self._environ.get("PIXIVFLOW_REVISION", "").strip() or "unknown",
                pid=os.getpid(),
                started_at=self._started_at,
            ),
            clock=self._hooks.clock,
            note=note,
            body_ms=self._timings.body_ms,
        )

    async def _run_idle(self, ctx: Context) -> None:
        runtime = self.settings().scheduler_runtime
        parts = IdleParts(
            owed=self._last_word,
            door=self._set_door,
            leave=self._leave,
            poll_ms=self._timings.idle_poll_ms,
            idle_grace_ms=runtime.idle_grace_ms,
            max_lifetime_ms=runtime.max_lifetime_ms,
        )
        await idle_lifecycle(ctx, self._idle, parts)

    def _something_ended(self) -> None:
        """What has ended may have left deliveries to make, or nothing at all."""
        self.ground.pump.tell(Wake())
        self._idle.tell(LookAgain())

    def _owed(self) -> OwedLedger:
        return OwedLedger(self.ground.ledger, lambda: self.ground.runs.live.values())

    async def _last_word(self) -> Owed:
        return await self._owed().last_word()

    def _set_door(self, is_open: bool) -> None:
        self.leaving = not is_open

    def _leave(self, reason: str) -> None:
        self.exit_reason = reason
        self.supervisor.stop()


def whole_reader(path: Path, environ: Mapping[str, str]) -> Callable[[], Awaitable[Loaded]]:
    """Reads the file, and says with its warnings what it asks for in vain. Errors of what it returns: `ConfigError`."""
    read = reader(path, environ)

    async def read_whole() -> Loaded:
        return with_gaps(await read())

    return read_whole
