"""The actor that puts a changed configuration in force."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import Mailbox
from actors.kit.testing import Probe, running
from pixivflow.config.load import ConfigUnreadable, Finding, Loaded
from pixivflow.config.model import Settings
from pixivflow.config.validate import Level
from pixivflow.config.watch import Keep, Live, Look, Parts, Refuse, Replace, config_watcher
from pixivflow.config.watch.decide import Reload
from pixivflow.config.watch.watcher import PATIENCE, RETRY_MS
from pixivflow.errors import ConfigError

PATH = Path("/etc/pixivflow/config.json")
DEBOUNCE_S = 0.5


@dataclass
class File:
    """A file that somebody edits, as the watcher sees it. `reads`: the virtual seconds at which it was read."""

    says: Settings | ConfigError = field(default_factory=Settings)
    warns: tuple[Finding, ...] = ()
    reads: list[float] = field(default_factory=list)
    broken: list[OSError] = field(default_factory=list)
    stirs: list[trio.Event] = field(default_factory=lambda: [trio.Event()])

    async def read(self) -> Loaded:
        await trio.lowlevel.checkpoint()
        self.reads.append(trio.current_time())
        if isinstance(self.says, ConfigError):
            raise self.says
        return Loaded(path=PATH, settings=self.says, warnings=self.warns)

    async def stirring(self, path: Path, stop: trio.Event) -> AsyncGenerator[None, None]:
        if self.broken:
            raise self.broken.pop()
        while True:
            await self.stirs[-1].wait()
            self.stirs.append(trio.Event())
            yield

    def stir(self, says: Settings | ConfigError | None = None) -> None:
        if says is not None:
            self.says = says
        self.stirs[-1].set()


class World:
    """A watcher at work."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.live = Live(settings or Settings())
        self.file = File(self.live.current())
        self.box = Mailbox[Look](4)
        self.probe = Probe()
        self.heard: list[Settings] = []

    def parts(self) -> Parts:
        return Parts(PATH, self.live, self.file.read, self.heard.append, self.file.stirring)


@asynccontextmanager
async def at_work(world: World) -> AsyncIterator[None]:
    async with running(partial(config_watcher, mailbox=world.box, parts=world.parts()), world.probe.hooks()):
        await wait_all_tasks_blocked()
        yield


async def asked(world: World) -> Reload | ConfigError:
    """What a person who asks for a look is answered."""
    return await world.box.ask(Look(), 1_000)


LOUDER = Settings(log_level="debug")


async def test_a_change_is_in_force_once_the_file_has_rested(autojump_clock: MockClock) -> None:
    world = World()
    async with at_work(world):
        for pause in (0.1, 0.1, 0.4):
            world.file.stir(LOUDER)
            await trio.sleep(pause)
        assert world.file.reads == []
        await trio.sleep(DEBOUNCE_S)
        assert len(world.file.reads) == 1
        assert (world.live.current().log_level, world.live.current().generation) == ("debug", 2)
        assert world.heard == [world.live.current()]
        assert world.probe.heard("config.replaced")[0]["generation"] == 2


async def test_a_file_that_never_rests_is_read_all_the_same(autojump_clock: MockClock) -> None:
    world = World()
    async with at_work(world):
        for _ in range(PATIENCE * 2):
            world.file.stir(LOUDER)
            await trio.sleep(DEBOUNCE_S * 0.9)
        assert world.live.current().log_level == "debug"


async def test_somebody_who_asks_is_answered_at_once_with_what_was_decided(autojump_clock: MockClock) -> None:
    world = World()
    async with at_work(world):
        started = trio.current_time()
        assert await asked(world) == Keep()
        world.file.says = LOUDER
        assert isinstance(await asked(world), Replace)
        assert trio.current_time() == started
        world.file.says = Settings(storage=msgspec.structs.replace(Settings().storage, cache_max_size_mib=5))
        assert await asked(world) == Refuse(("storage.cacheMaxSizeMB",))


async def test_somebody_who_asks_while_the_file_stirs_does_not_wait_for_it(autojump_clock: MockClock) -> None:
    world = World()
    async with at_work(world):
        world.file.stir(LOUDER)
        await trio.sleep(0.1)
        started = trio.current_time()
        assert isinstance(await asked(world), Replace)
        assert trio.current_time() == started


@pytest.mark.case("operate", 40)
async def test_a_moved_folder_is_refused_as_a_whole_and_a_restart_asked_for(autojump_clock: MockClock) -> None:
    world = World()
    before = world.live.current()
    storage = msgspec.structs.replace(before.storage, download_directory=Path("/elsewhere"))
    async with at_work(world):
        world.file.stir(Settings(log_level="debug", storage=storage))
        await trio.sleep(2)
        assert world.live.current() is before
        assert world.heard == []
        assert world.probe.heard("config.restart_needed")[0]["keys"] == ("storage.downloadDirectory",)


async def test_a_faulty_file_changes_nothing_and_is_named_in_one_line(autojump_clock: MockClock) -> None:
    world = World()
    before = world.live.current()
    async with at_work(world):
        world.file.stir(ConfigUnreadable(PATH, "Expecting value", "line 3 column 5"))
        await trio.sleep(2)
        assert world.live.current() is before
        (line,) = world.probe.heard("config.rejected")
        assert "line 3 column 5" in str(line["faults"])
        world.file.stir(LOUDER)
        await trio.sleep(2)
        assert world.live.current().log_level == "debug"


async def test_a_value_that_waits_for_a_restart_is_said_once_with_the_change(autojump_clock: MockClock) -> None:
    world = World()
    candidate = Settings(scheduler_runtime=msgspec.structs.replace(Settings().scheduler_runtime, idle_grace_ms=5))
    async with at_work(world):
        world.file.stir(candidate)
        await trio.sleep(2)
        assert world.live.current().scheduler_runtime.idle_grace_ms == 600_000
        assert len(world.probe.heard("config.replaced")) == 1
        (line,) = world.probe.heard("config.waits_for_restart")
        assert line["keys"] == ("schedulerRuntime.idleGraceMs",)


async def test_each_warning_about_what_came_in_force_is_a_line_of_its_own(autojump_clock: MockClock) -> None:
    world = World()
    world.file.warns = tuple(Finding(level=Level.WARNING, code="C", field=name, message="m") for name in ("a", "b"))
    async with at_work(world):
        world.file.stir(LOUDER)
        await trio.sleep(2)
        heard = world.probe.heard("config.warning")
        assert [(line["field"], line["code"], line["text"]) for line in heard] == [("a", "C", "m"), ("b", "C", "m")]


async def test_a_folder_that_cannot_be_watched_is_tried_again(autojump_clock: MockClock) -> None:
    world = World()
    world.file.broken = [FileNotFoundError(2, "gone")]
    async with at_work(world):
        assert len(world.probe.heard("config.unwatched")) == 1
        assert await asked(world) == Keep()  # a person can still ask
        await trio.sleep(RETRY_MS / 1000)
        world.file.stir(LOUDER)
        await trio.sleep(2)
        assert world.live.current().log_level == "debug"


async def test_a_file_is_not_watched_where_nobody_wants_it(autojump_clock: MockClock) -> None:
    runtime = msgspec.structs.replace(Settings().scheduler_runtime, watch_config=False)
    world = World(Settings(scheduler_runtime=runtime))
    async with at_work(world):
        world.file.stir(LOUDER)
        await trio.sleep(100)
        assert world.file.reads == []


@pytest.mark.parametrize("moment", [lambda world: None, lambda world: world.file.stir(LOUDER)])
async def test_a_stop_waits_for_no_file(autojump_clock: MockClock, moment: Callable[[World], None]) -> None:
    world = World()
    async with at_work(world):
        moment(world)
        await wait_all_tasks_blocked()
        started = trio.current_time()
    assert trio.current_time() == started
    assert world.file.reads == []
