"""A run from its offer to its rows, on the actors and the ledger of a real process, without its threads."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import CancelOrigin, Finished, Supervisor
from actors.kit.testing import Probe, VirtualClock
from actors.ports import Admitted, Cancel, Run, Verdict
from actors.runs import LiveRun
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.tree import children
from pixivflow.delivery.model import Accepted, Ack, OutboxRow
from pixivflow.ids import Owner
from pixivflow.ledger import cancels, runs, sweeps
from pixivflow.ledger.cancels import Cancelled
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.interface import Ledger
from pixivflow.slots.model import SlotStatus, Work
from pixivflow.times import PRODUCTION
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    HOUR,
    NOW,
    SLOT,
    a_plan,
    everything,
    plans,
    put_running,
    put_slot,
    set_cell,
    states,
    the_cell,
    the_slot,
)
from tests.ledger.finishing import counted, outcomes

Execute = Callable[[Work, LiveRun, Ledger], Awaitable[object]]

TIMEOUT_MS = 60_000


class Stage:
    """A tree that has been offered one slot of two targets."""

    def __init__(self, ground: Ground, probe: Probe) -> None:
        self.ground, self.probe = ground, probe

    async def look(self, fn: Callable[[Db], Any]) -> Any:
        return await self.ground.ledger.read(fn)

    async def over(self) -> None:
        """Until the run was written down, and everybody has taken notice."""
        await self.probe.until("run.finished")
        await wait_all_tasks_blocked()


async def accepted(row: OutboxRow) -> Ack:
    return Accepted()


@asynccontextmanager
async def offered(path: Path, execute: Execute) -> AsyncIterator[Stage]:
    """The slot admitted, its run under way inside the block; stopped in order at the end."""
    clock, probe = VirtualClock(NOW), Probe()
    ground = Ground(
        open_ledger=lambda: open_inline(path, clock=clock, note=probe.note),
        execute=execute,
        attempt=accepted,
        plans=lambda: plans(a_plan(timeout_ms=TIMEOUT_MS)),
        timings=PRODUCTION,
    )
    supervisor = Supervisor(children(ground.bodies()), probe.hooks())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await supervisor.up.wait()
        await ground.ledger.write(lambda db: put_slot(db))
        assert isinstance(await ground.offer(SLOT), Admitted)
        yield Stage(ground, probe)
        supervisor.stop()


def reasons(db: Db) -> set[str | None]:
    """Why the cells ended."""
    return {the_cell(db, target).reason_code for target in "ab"}


def nobody_runs_it(db: Db) -> bool:
    """Neither now nor after any lease: recovery finds nothing."""
    return sweeps.courses(db, NOW + 24 * HOUR, ())[0] == ()


@pytest.mark.case("slots", 21)
async def test_an_error_before_the_first_target_ends_the_slot_its_lease_and_its_heart(
    autojump_clock: MockClock, ledger_path: Path
) -> None:
    async def cannot_be_set_up(_work: Work, _live: LiveRun, _ledger: Ledger) -> object:
        await trio.sleep(1)
        raise RuntimeError("no such folder")

    async with offered(ledger_path, cannot_be_set_up) as stage:
        await stage.over()
        slot = await stage.look(the_slot)
        assert (slot.status, slot.lease_owner, slot.lease_until) == (SlotStatus.FAILED, None, None)
        assert await stage.look(states) == {"a": "failed", "b": "failed"}
        assert await stage.look(counted) == ["failed"]
        assert await stage.look(nobody_runs_it)
        await trio.sleep(10 * PRODUCTION.heartbeat_ms / 1000)
        assert (await stage.look(the_slot)).heartbeat_at == slot.heartbeat_at


@pytest.mark.case("slots", 35)
async def test_a_slot_whose_cells_are_all_published_is_a_success_told_once_in_the_ledger_and_once_in_the_log(
    autojump_clock: MockClock, ledger_path: Path
) -> None:
    async def publish(_work: Work, _live: LiveRun, ledger: Ledger) -> object:
        def both(db: Db) -> None:
            for target in "ab":
                set_cell(db, SLOT, target, status="submitted")

        return await ledger.write(both)

    async with offered(ledger_path, publish) as stage:
        await stage.over()
        assert (await stage.look(the_slot)).status is SlotStatus.SUCCESS
        [outcome] = await stage.look(outcomes)
        await trio.sleep(HOUR / 1000)
        assert [outcome] == await stage.look(outcomes), "no later pass tells it again"
        [line] = stage.probe.heard("schedule.outcome")
        assert line.items() <= outcome.items()
        assert (line["slot_id"], line["status"]) == (SLOT, "success")


@pytest.mark.case("slots", 42)
async def test_a_slot_that_is_added_up_twice_or_by_two_processes_is_told_once(
    ledger_path: Path, probe: Probe, autojump_clock: MockClock
) -> None:
    owner = Owner("run-1-aaaaaaaa")
    run = Run(slot=SLOT, owner=owner, started_at=NOW)

    def ended(db: Db) -> None:
        put_running(db, owner=owner, cells={"a": "submitted", "b": "submitted"})

    async with open_inline(ledger_path, clock=VirtualClock(NOW), note=probe.note) as ledger:
        await ledger.write(ended)
        with closing(connect_plain(ledger_path)) as other:
            assert await ledger.write(runs.finish, run, Finished(None), NOW) == Verdict("success")
            with transaction(other):
                assert sweeps.roll_up_missed(other, SLOT, NOW) is None, "the other process found it before"
            await ledger.write(lambda db: db.execute("UPDATE schedule_slots SET reported_at = NULL").rowcount)
            assert await ledger.write(sweeps.roll_up_missed, SLOT, NOW) is SlotStatus.SUCCESS
            with transaction(other):
                assert sweeps.roll_up_missed(other, SLOT, NOW) is None
        assert len(await ledger.read(outcomes)) == 1
    assert len(probe.heard("schedule.outcome")) == 1


@pytest.mark.case("slots", 48)
async def test_a_run_that_exceeds_its_time_and_honours_the_cancel_is_a_timeout_and_is_not_run_again(
    autojump_clock: MockClock, ledger_path: Path
) -> None:
    async def slow(_work: Work, _live: LiveRun, _ledger: Ledger) -> object:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(0.05)

    async with offered(ledger_path, slow) as stage:
        began = trio.current_time()
        await stage.over()
        assert trio.current_time() - began == pytest.approx(TIMEOUT_MS / 1000 + 0.05, abs=0.01)
        slot = await stage.look(the_slot)
        assert (slot.status, slot.lease_owner) == (SlotStatus.FAILED, None)
        assert await stage.look(counted) == ["timeout"]
        assert await stage.look(reasons) == {"execution_timeout"}
        assert await stage.look(nobody_runs_it)
        assert stage.probe.heard("run.abandoned") == []


@pytest.mark.case("slots", 56)
async def test_a_cancelled_running_slot_has_its_verdict_first_and_keeps_it_while_its_run_unwinds(
    autojump_clock: MockClock, ledger_path: Path
) -> None:
    unwound = trio.Event()

    async def until_cancelled(_work: Work, _live: LiveRun, _ledger: Ledger) -> object:
        try:
            await trio.sleep_forever()
        finally:
            unwound.set()

    async with offered(ledger_path, until_cancelled) as stage:
        await trio.sleep(1)
        ledger, asked = stage.ground.ledger, Cancel(SLOT, CancelOrigin.CONSUMER, "cancelled by its job")
        assert await ledger.write(cancels.cancel_slot, SLOT, NOW + 1_000) is Cancelled.CANCELLED
        assert not unwound.is_set()
        verdict = await stage.look(states), (await stage.look(the_slot)).status
        assert verdict == ({"a": "failed", "b": "failed"}, SlotStatus.FAILED)
        assert await stage.ground.runner.ask(asked, 60_000) is True
        await stage.over()
        assert unwound.is_set()
        assert (await stage.look(states), (await stage.look(the_slot)).status) == verdict
        assert await stage.look(reasons) == {"cancelled_by_consumer"}

        before = await stage.look(everything)
        assert await ledger.write(cancels.cancel_slot, SLOT, NOW + 2_000) is Cancelled.ALREADY_TERMINAL
        assert await stage.ground.runner.ask(asked, 60_000) is False
        assert await stage.look(everything) == before
