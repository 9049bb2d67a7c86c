"""What the process behind the door is like when a trigger comes: each scene prepares one."""

from collections.abc import Awaitable, Callable

from actors.kit import NoAnswer
from actors.ports import Refused
from pixivflow.ids import ScheduleId, TargetId
from pixivflow.ledger.connection import Db
from tests.edges.control.doors import TEN, Behind, a_runtime
from tests.fixtures.slots import ME, MINUTE, SLOT, a_plan, put_running, put_slot, set_cell

Prepare = Callable[[Behind], Awaitable[None]]
BUSY = Refused("scheduler_busy")
SHANGHAI = {"timezone": "Asia/Shanghai"}


async def as_it_is(process: Behind) -> None:
    """Nothing is prepared."""


async def completed(process: Behind) -> None:
    def put(db: Db) -> None:
        put_slot(db, status="success")
        for target in "ab":
            set_cell(db, SLOT, target, status="submitted", work_id=f"10{target == 'b':d}", work_type="illustration")

    await process.ledger.write(put)


async def failed_for_good(process: Behind) -> None:
    def put(db: Db) -> None:
        put_slot(db, status="failed")
        for target in "ab":
            set_cell(db, SLOT, target, status="failed", last_error="no such tag")

    await process.ledger.write(put)


async def running(process: Behind) -> None:
    process.answer = BUSY
    await process.ledger.write(lambda db: put_running(db, owner=ME, now=TEN) and None)


async def busy(process: Behind) -> None:
    process.answer = BUSY


async def leaving(process: Behind) -> None:
    process.is_leaving = True


async def off(process: Behind) -> None:
    process.plans[ScheduleId("p")] = a_plan(enabled=False, **SHANGHAI)


async def without_targets(process: Behind) -> None:
    process.plans[ScheduleId("p")] = a_plan(target_ids=(TargetId("gone"),), **SHANGHAI)


async def without_cron(process: Behind) -> None:
    process.plans[ScheduleId("p")] = a_plan(cron="", **SHANGHAI)


async def too_late(process: Behind) -> None:
    process.clock.step(89 * MINUTE)


async def open_to_nobody(process: Behind) -> None:
    process.runtime = a_runtime("")


async def broken(process: Behind) -> None:
    process.answer = NoAnswer("nobody is there")
