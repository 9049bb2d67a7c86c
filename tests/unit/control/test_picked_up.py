"""A trigger whose plan is busy: the slot is on the disk, and recovery brings it to its end."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from actors.kit import Hooks, Supervisor
from actors.kit.testing import Probe, VirtualClock
from actors.runs import LiveRun
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.tree import children
from pixivflow.delivery.model import Accepted, Ack, OutboxRow
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.ledger import open_ledger
from pixivflow.slots.model import Work
from pixivflow.times import PRODUCTION
from tests.edges.control.doors import Behind
from tests.fixtures.ledgers import patient_clock
from tests.fixtures.slots import HOUR, MINUTE, NOW, a_plan, plans
from tests.unit.control.asking import trigger

RUN_S = 2_000


async def attempt(row: OutboxRow) -> Ack:
    return Accepted()


@pytest.mark.case("slots", 89)
async def test_a_trigger_while_its_plan_runs_another_slot_is_rejected_and_run_within_a_minute_after_that(
    ledger_path: Path, autojump_clock: MockClock
) -> None:
    began: dict[str, float] = {}
    ended: dict[str, float] = {}
    clock, probe = VirtualClock(NOW + 40 * MINUTE), Probe()

    async def execute(work: Work, live: LiveRun, ledger: Ledger) -> None:
        began[work.slot.id] = trio.current_time()
        await trio.sleep(RUN_S)
        ended[work.slot.id] = trio.current_time()

    def opened() -> AbstractAsyncContextManager[Ledger]:
        return open_ledger(ledger_path, clock=clock, busy=patient_clock())

    hourly = plans(a_plan(cron="0 * * * *", timezone="Asia/Shanghai", timeout_ms=2 * HOUR))
    ground = Ground(open_ledger=opened, execute=execute, attempt=attempt, plans=lambda: hourly, timings=PRODUCTION)
    supervisor = Supervisor(children(ground.bodies()), Hooks(clock=clock, note=probe.note), patience=ground.patience)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await supervisor.up.wait()
        process = Behind(ground.ledger, hourly, clock, probe)
        process.offer = ground.offer  # type: ignore[method-assign]
        ten, eleven = "p@2026-09-08T1000", "p@2026-09-08T1100"

        assert (await trigger(process)).status == 202
        await trio.sleep(20 * 60)
        answer = await trigger(process)
        assert (answer.status, answer.body["schedule"]["slotId"]) == (503, eleven)
        assert (answer.body["schedule"]["disposition"], answer.body["schedule"]["status"]) == ("rejected", "pending")
        assert await process.slots() == [ten, eleven]
        assert list(began) == [ten]
        await trio.sleep(RUN_S)
        supervisor.stop()
    assert began[eleven] - ended[ten] <= 60
