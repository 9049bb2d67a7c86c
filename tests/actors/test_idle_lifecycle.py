"""When a daemon leaves by itself, and what keeps it from leaving."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.idle_lifecycle import Parts, idle_lifecycle
from actors.kit import Context, Mailbox
from actors.kit.testing import Probe, running
from actors.ports import LookAgain, Owed

POLL_MS = 15_000
GRACE_MS = 60_000
LIFETIME_MS = 10_800_000
WORK, NOTHING = Owed(active_slots=1), Owed()


@dataclass
class Stage:
    """What is owed over time, and what the lifecycle did about it.

    `work`: (from, until) seconds in which something is owed. `failing`: the same for looks that fail. `at_the_door`:
    how long the last look takes; what then is owed is `behind`.
    """

    work: list[tuple[float, float]] = field(default_factory=list)
    failing: list[tuple[float, float]] = field(default_factory=list)
    behind: Owed = NOTHING
    looks: list[float] = field(default_factory=list)
    doors: list[tuple[bool, float]] = field(default_factory=list)
    left: list[tuple[str, float]] = field(default_factory=list)
    probe: Probe = field(default_factory=Probe)
    mailbox: Mailbox[LookAgain] = field(default_factory=lambda: Mailbox[LookAgain](1))

    @property
    def is_open(self) -> bool:
        return self.doors[-1][0]

    async def owed(self) -> Owed:
        await trio.lowlevel.checkpoint()
        now = trio.current_time()
        self.looks.append(now)
        if any(since <= now < until for since, until in self.failing):
            raise OSError("locked")
        if any(since <= now < until for since, until in self.work):
            return WORK
        return Owed() if self.is_open else self.behind

    def door(self, is_open: bool) -> None:
        self.doors.append((is_open, trio.current_time()))

    def leave(self, reason: str) -> None:
        self.left.append((reason, trio.current_time()))

    @asynccontextmanager
    async def at_work(self, *, grace_ms: int = GRACE_MS, lifetime_ms: int = LIFETIME_MS) -> AsyncIterator[Context]:
        parts = Parts(self.owed, self.door, self.leave, POLL_MS, grace_ms, lifetime_ms)

        async def live(ctx: Context) -> None:
            await idle_lifecycle(ctx, self.mailbox, parts)

        async with running(live, self.probe.hooks()) as ctx:
            yield ctx


@pytest.mark.case("slots", 82)
async def test_it_leaves_after_the_grace_from_the_first_idle_poll_on_and_new_work_starts_the_window_anew(
    autojump_clock: MockClock,
) -> None:
    idle, busy = Stage(), Stage(work=[(60, 61)])
    async with idle.at_work(), busy.at_work():
        await trio.sleep(200)
    assert idle.left == [("idle", 75.0)]
    assert busy.left == [("idle", 135.0)]
    assert busy.probe.heard("idle.window_cancelled") == [{"actor": "under-test", **WORK.counters()}]


async def test_the_first_look_comes_one_poll_after_arming(autojump_clock: MockClock) -> None:
    stage = Stage(work=[(0, 100)])
    async with stage.at_work():
        await trio.sleep(50)
    assert stage.looks == [15, 30, 45]
    assert stage.left == []


async def test_without_grace_it_leaves_on_the_first_idle_poll(autojump_clock: MockClock) -> None:
    stage = Stage(work=[(0, 20)])
    async with stage.at_work(grace_ms=0):
        await trio.sleep(100)
    assert stage.left == [("idle", 30.0)]


@pytest.mark.parametrize("ends_s", [20.5, 3.5])
async def test_a_hint_that_work_has_ended_is_followed_at_once(autojump_clock: MockClock, ends_s: float) -> None:
    stage = Stage(work=[(0, ends_s)])
    async with stage.at_work(grace_ms=0):
        await trio.sleep(1)
        stage.mailbox.tell(LookAgain())  # one of several things has ended
        await trio.sleep(ends_s - 1)
        stage.mailbox.tell(LookAgain())
        await wait_all_tasks_blocked()
        assert stage.left == [("idle", ends_s)]


async def test_what_a_start_brings_to_its_end_by_itself_does_not_send_away_whoever_woke_the_daemon(
    autojump_clock: MockClock,
) -> None:
    stage = Stage(work=[(5, 40)])
    stage.mailbox.tell(LookAgain())
    async with stage.at_work(grace_ms=0):
        await trio.sleep(4)
        assert (stage.left, stage.is_open) == ([], True)
        await trio.sleep(50)
    assert stage.left == [("idle", 45.0)]


async def test_the_door_is_closed_before_the_last_look_and_stays_closed(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.at_work():
        await trio.sleep(100)
    closed = [at for is_open, at in stage.doors if not is_open]
    assert closed[0] == 75
    assert stage.looks[-1] == 75
    assert not stage.is_open


async def test_what_came_in_before_the_door_was_closed_keeps_it_here_and_the_door_is_open_again(
    autojump_clock: MockClock,
) -> None:
    stage = Stage(behind=WORK)
    async with stage.at_work():
        await trio.sleep(80)
        assert stage.left == []
        assert stage.is_open
        assert len(stage.probe.heard("idle.window_cancelled")) == 1
        stage.behind = Owed()
        await trio.sleep(120)
    assert stage.left == [("idle", 150.0)]


@pytest.mark.case("slots", 83)
async def test_a_look_that_fails_is_no_evidence_and_the_lifetime_ends_a_daemon_with_work(
    autojump_clock: MockClock,
) -> None:
    stage = Stage(failing=[(14, 31)])
    async with stage.at_work():
        await trio.sleep(100)
        assert stage.left == []
        await trio.sleep(10)
    assert stage.left == [("idle", 105.0)]
    assert [each["error"] for each in stage.probe.heard("idle.look_failed")] == ["OSError('locked')"] * 2

    busy = Stage(work=[(0, 1e9)])
    started = trio.current_time()
    async with busy.at_work():
        await trio.sleep(LIFETIME_MS / 1000 + 100)
    assert [(reason, at - started) for reason, at in busy.left] == [("max-lifetime", LIFETIME_MS / 1000)]
    assert not busy.is_open


async def test_a_look_that_fails_cancels_no_window(autojump_clock: MockClock) -> None:
    stage = Stage(failing=[(29, 46)])
    async with stage.at_work():
        await trio.sleep(100)
    assert stage.left == [("idle", 75.0)]
    assert stage.probe.heard("idle.window_cancelled") == []


async def test_a_last_look_that_fails_opens_the_door_and_is_made_again_at_the_next_poll(
    autojump_clock: MockClock,
) -> None:
    stage = Stage(failing=[(74, 76)])
    async with stage.at_work():
        await trio.sleep(80)
        assert stage.is_open
        assert len(stage.looks) < 10
        await trio.sleep(20)
    assert stage.left == [("idle", 90.0)]


async def test_it_leaves_once(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.at_work(lifetime_ms=80_000):
        await trio.sleep(500)
        stage.mailbox.tell(LookAgain())
        await trio.sleep(500)
    assert stage.left == [("idle", 75.0)]


async def test_a_lifetime_that_ends_before_the_window_is_the_reason(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.at_work(lifetime_ms=70_000):
        await trio.sleep(500)
    assert stage.left == [("max-lifetime", 70.0)]


async def test_every_step_is_said_with_its_numbers(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.at_work():
        await trio.sleep(100)
    who = {"actor": "under-test"}
    assert stage.probe.notes == [
        ("idle.armed", {**who, "poll_ms": POLL_MS, "grace_ms": GRACE_MS, "lifetime_ms": LIFETIME_MS}),
        ("idle.window_opened", {**who, **Owed().counters()}),
        ("idle.leaving", {**who, "reason": "idle"}),
    ]


async def test_told_to_stop_it_goes_without_a_word(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.at_work() as ctx:
        await trio.sleep(10)
        ctx.stop()
        await trio.sleep(500)
    assert stage.left == []
    assert stage.looks == []


async def test_a_new_life_opens_the_door_that_the_last_one_left_closed(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.door(False)
    async with stage.at_work():
        assert stage.is_open
