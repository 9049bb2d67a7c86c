"""A walk inside the real tree, on a ledger with its threads: told to stop in the middle of a download, or out of time.

The wall clock stands still, so that no lease, backoff or deadline passes unless a test says so.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from actors.kit import CancelOrigin, Hooks, Supervisor
from actors.kit.testing import Probe
from actors.ports import Admitted, Cancel, Drain
from actors.runs import LiveRun
from pixivflow.config.model import Target
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.tree import children
from pixivflow.delivery.intents import Order, Promise, promises
from pixivflow.delivery.model import Accepted, Ack, OutboxRow
from pixivflow.ledger import slots
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.ledger import open_ledger
from pixivflow.ledger.run_store import RunLedger
from pixivflow.selection.candidates import Candidates
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.coordinator import walk
from pixivflow.slots.model import CellStatus, SlotStatus, Work
from pixivflow.slots.parts import Parts
from pixivflow.slots.ports import Entry, Fetched
from pixivflow.times import PRODUCTION
from tests.fixtures.slots import NOW, SLOT, A, a_plan, a_slot, plans, the_cell, the_slot
from tests.fixtures.walks import FakeFetcher, FakeSource, a_file, a_target, a_work, routed


class Stopped:
    """A wall clock that stands still."""

    def now_ms(self) -> int:
        return NOW


class Slow(FakeFetcher):
    """Every download waits in a thread of the run's own until it is let go, or abandoned."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.let_go = trio.Event(), trio.Event()

    async def fetch(self, detail: WorkDetail, target: Target, known: object, threads: trio.CapacityLimiter) -> Fetched:
        self.requests.append(detail.id)
        self.begun.set()
        await self.let_go.wait()
        return Fetched(files=(a_file(detail.id),))


class Daemon:
    """One process after the other on one ledger file."""

    def __init__(self, path: Path, target: Target, source: FakeSource) -> None:
        self.path, self.target, self.source = path, target, source
        self.probe, self.sent = Probe(), list[str]()

    @asynccontextmanager
    async def up(self, fetcher: FakeFetcher) -> AsyncIterator[Ground]:
        async def execute(work: Work, live: LiveRun, ledger: Ledger) -> None:
            await walk(work, self._parts(live, ledger, fetcher))

        async def attempt(row: OutboxRow) -> Ack:
            self.sent.append(row.id)
            return Accepted(remote_id="r-1")

        ground = Ground(
            open_ledger=lambda: open_ledger(self.path, clock=Stopped()),
            execute=execute,
            attempt=attempt,
            plans=lambda: plans(a_plan(armed_at=0)),
            timings=PRODUCTION,
        )
        supervisor = Supervisor(children(ground.bodies()), Hooks(clock=Stopped(), note=self.probe.note))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.run)
            await supervisor.up.wait()
            yield ground
            supervisor.stop()

    def _parts(self, live: LiveRun, ledger: Ledger, fetcher: FakeFetcher) -> Parts[WorkDetail]:
        return Parts(
            targets={A: self.target},
            selection=Candidates(self.source, 5),
            fetcher=fetcher,
            cells=RunLedger(ledger, live, Stopped(), _pledged, 3),
            threads=live.threads,
            started_at=NOW,
            note=self.probe.note,
        )


def _pledged(entry: Entry[WorkDetail]) -> Sequence[Promise]:
    order = Order(work_type=entry.work.work_type, work_id=entry.work.work_id, slot_id=SLOT, target_id=entry.target_id)
    ids = iter(("intent", "row"))
    return promises(order, entry.target.routes, {"files": ["1.jpg"]}, lambda: next(ids))


@pytest.fixture
def daemon(tmp_path: Path) -> Callable[..., Daemon]:
    return lambda target: Daemon(tmp_path / "ledger.db", target, FakeSource([a_work(101), a_work(102)]))


async def offered(ground: Ground) -> None:
    await ground.ledger.write(slots.open_slot, a_slot(target_ids=(A,)), NOW)
    assert isinstance(await ground.offer(SLOT), Admitted)


def rows(path: Path) -> tuple[SlotStatus, str | None, CellStatus, str | None]:
    """Slot, lease, cell and its work, as a stranger reads them."""
    db: Db = connect_plain(path)
    try:
        slot, cell = the_slot(db), the_cell(db)
    finally:
        db.close()
    return slot.status, slot.lease_owner, cell.status, cell.work_id


async def test_a_stop_in_the_middle_of_a_download_leaves_the_same_work_to_the_next_process_and_no_search(
    daemon: Callable[..., Daemon],
) -> None:
    process, slow = daemon(routed(a_target(), "r1")), Slow()
    async with process.up(slow) as ground:
        await offered(ground)
        await slow.begun.wait()
    assert rows(process.path) == (SlotStatus.RUNNING, None, CellStatus.SELECTED, "101")

    process.source.asked.clear()
    async with process.up(FakeFetcher()) as ground:
        await process.probe.until("run.finished", times=2)
        await delivered(ground)
    assert process.source.asked == ["detail 101"]
    assert rows(process.path) == (SlotStatus.SUCCESS, None, CellStatus.SUBMITTED, "101")
    assert process.sent == ["row"]


async def delivered(ground: Ground) -> None:
    """Wake the pump until the slot has been added up."""
    while True:
        await ground.pump.ask(Drain(1), 60_000)
        slot = await ground.ledger.read(slots.read, SLOT)
        if slot is not None and slot.reported_at is not None:
            return


async def test_a_run_that_is_out_of_time_ends_its_cell_and_is_not_begun_again(daemon: Callable[..., Daemon]) -> None:
    process, slow = daemon(a_target()), Slow()
    async with process.up(slow) as ground:
        await offered(ground)
        await slow.begun.wait()
        await ground.runner.ask(Cancel(SLOT, CancelOrigin.TIMEOUT, "Execution timeout after 5ms"), 60_000)
        await process.probe.until("run.finished")
    assert rows(process.path) == (SlotStatus.FAILED, None, CellStatus.FAILED, "101")


async def test_a_whole_run_ends_with_one_delivery_of_one_work(daemon: Callable[..., Daemon]) -> None:
    process = daemon(routed(a_target(), "r1"))
    async with process.up(FakeFetcher()) as ground:
        await offered(ground)
        await process.probe.until("run.finished")
        await delivered(ground)
    assert rows(process.path) == (SlotStatus.SUCCESS, None, CellStatus.SUBMITTED, "101")
    assert (process.sent, process.source.asked) == (["row"], ["search sky", "detail 101"])
