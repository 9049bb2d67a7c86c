"""The work of a whole daemon on a real ledger and a real folder, before a sandbox without sockets and a virtual clock.

Its configuration is a file: what a test changes in it is read, judged and put in force as the daemon would do it.
"""

import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from actors.kit import Hooks
from actors.kit.testing import Probe, VirtualClock
from actors.ports import Busy, Run
from actors.runs import LiveRun
from pixivflow.config.load import load
from pixivflow.config.watch import Replace, decide
from pixivflow.daemon.program import Program
from pixivflow.daemon.resolved import targets_of
from pixivflow.daemon.start import following
from pixivflow.ids import RouteName, ScheduleId, SlotId, run_owner
from pixivflow.ledger import runs, slots
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.interface import Ledger
from pixivflow.observe.log import Log
from pixivflow.sandbox.hosts import local_bases
from pixivflow.slots.model import Slot, Work
from pixivflow.times import PRODUCTION
from tests.edges.pixiv.stage import PORT, Played
from tests.fixtures.ledgers import patient_clock

Parts = Mapping[str, Any]
"""Parts of a configuration, each in the place of what the usual one says there."""

PLAN = ScheduleId("nightly")
BASES = local_bases(PORT)
ONE = 100_001
"""A work of one page."""
FIVE = 101_004
"""A work of five pages."""


def document(folder: Path, parts: Parts) -> dict[str, Any]:
    """A whole configuration that asks nobody but the sandbox, without any pause, and only once for anything."""
    endpoints = {"api": BASES.app, "oauth": BASES.oauth, "web": BASES.web, "image": BASES.img}
    whole: dict[str, Any] = {
        "pixiv": {"refreshToken": "rt-rotating", "endpoints": endpoints},
        "network": {"requestPacingMs": 0, "retries": 0},
        "storage": {"databasePath": f"{folder / 'ledger.db'}", "downloadDirectory": f"{folder / 'files'}"},
        "download": {"requestDelay": 0, "maxRetries": 1, "retryDelay": 0},
        "targets": [named(ONE)],
        "schedules": [{"id": PLAN, "cron": "0 3 * * *", "timezone": "UTC", "enabled": True}],
    }
    for part, said in parts.items():
        known = whole.get(part)
        whole[part] = {**known, **said} if isinstance(known, dict) and isinstance(said, dict) else said
    return whole


def named(work: int, **more: Any) -> dict[str, Any]:
    """A target that asks for one work by its number."""
    return {"id": f"w{work}", "type": "illustration", "illustId": work, **more}


class House:
    """One daemon that is joined and whose actors do not live: a test does what they would do."""

    def __init__(self, folder: Path, parts: Parts) -> None:
        self.folder, self.path, self.parts = folder, folder / "config.json", parts
        folder.mkdir(exist_ok=True)
        self.clock, self.probe = VirtualClock(), Probe()
        self.played = Played(self.clock)
        self.write(parts)
        loaded, self.log_text = load(self.path, {}), io.StringIO()
        self.log = Log(self.log_text, level=loaded.settings.log_level, form="json")
        hooks = Hooks(clock=self.clock, note=self.note)
        self.program = Program(loaded, [], hooks, PRODUCTION, {}, published=following(self.log, {}))
        self.program.ground.chance = lambda: 0.5
        self.runs = 0

    def write(self, parts: Parts) -> None:
        """Put another configuration into the file."""
        self.path.write_text(json.dumps(document(self.folder, parts)))

    def note(self, event: str, /, **fields: object) -> None:
        """Heard by the test, and a line of the log."""
        self.probe.note(event, **fields)
        self.log.note(event, **fields)

    def lines(self, event: str) -> list[dict[str, Any]]:
        """The lines of the log about `event`."""
        found = [json.loads(line) for line in self.log_text.getvalue().splitlines()]
        return [line for line in found if line["message"] == event]

    def reload(self, parts: Parts) -> Replace:
        """Put another configuration in force, as far as the decision about it says so."""
        self.write(parts)
        verdict = decide(self.program.settings(), load(self.path, {}).settings)
        assert isinstance(verdict, Replace)
        self.program.live.put(verdict.settings)
        self.program.in_force(verdict.settings)
        return verdict

    @property
    def ledger(self) -> Ledger:
        return self.program.ground.ledger

    async def run(self) -> SlotId:
        """One run of the plan's next occurrence, to the end of its work."""
        begun, live = await self.begun()
        await self.program.ground.execute(begun, live, self.ledger)
        return begun.slot.id

    async def warm(self) -> None:
        """Let everything be made that is made when it is needed first, and kept."""
        begun, live = await self.begun()
        await self.program.ground.execute(msgspec.structs.replace(begun, cells=()), live, self.ledger)
        await self.program.ground.ready(RouteName("nobody"))
        self.outbox, self.door = self.program.ground.outbox(), self.program.door(self.probe.note)

    async def begun(self) -> tuple[Work, LiveRun]:
        """The next occurrence, claimed for a run."""
        self.runs += 1
        now, targets = self.clock.now_ms(), tuple(targets_of(self.program.settings()))
        slot = Slot(id=SlotId(f"{PLAN}@{self.runs}"), schedule_id=PLAN, occurrence_at=now, target_ids=targets)
        await self.ledger.write(slots.open_slot, slot, now)
        owner = run_owner(1, f"{self.runs:08x}")
        begun = await self.ledger.write(runs.begin, slot.id, owner, self.program.plans(), now)
        assert isinstance(begun, Work)
        live = LiveRun(Busy(slot.id, PLAN, "lane"))
        live.run = Run(slot.id, owner, now)
        return begun, live

    async def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """What the ledger answers."""
        return await self.ledger.read(lambda db: db.execute(sql, values).fetchall())


@asynccontextmanager
async def living(folder: Path, parts: Parts, patch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """A house with its ledger open and every request going to its sandbox. Its clock does not jump over a thread."""
    house, busy, in_a_thread = House(folder, parts), patient_clock(), trio.to_thread.run_sync

    async def run_sync(*args: Any, **kwargs: Any) -> Any:
        busy(True)
        try:
            return await in_a_thread(*args, **kwargs)
        finally:
            busy(False)

    patch.setattr(trio.to_thread, "run_sync", run_sync)
    patch.setattr("pixivflow.daemon.outside.transport", lambda **_: house.played)
    async with open_inline(folder / "ledger.db", clock=house.clock) as house.program.ground.opened:
        try:
            yield house
        finally:
            await house.program.aclose()
