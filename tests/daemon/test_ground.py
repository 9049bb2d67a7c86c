"""What the tree joins, heard where it is joined."""

from collections.abc import Callable
from pathlib import Path
from typing import Never

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.kit import Mailbox, Supervisor
from actors.kit.testing import Probe, VirtualClock
from actors.ports import Admitted, Drain, Wake
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.tree import children
from pixivflow.delivery.model import OutboxRow
from pixivflow.ids import ScheduleId
from pixivflow.ledger.inline import open_inline
from pixivflow.scheduling.model import Plan
from pixivflow.times import PRODUCTION
from tests.fixtures.slots import NOW, SLOT, plans, put_slot


class Hearing(Mailbox[Wake | Drain]):
    """A box that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__(8)
        self.heard = list[Wake | Drain]()

    def tell(self, message: Wake | Drain) -> bool:
        self.heard.append(message)
        return super().tell(message)


async def never(*_: object) -> Never:
    raise AssertionError("nothing is to be run")


async def unsent(row: OutboxRow) -> Never:
    raise AssertionError(f"{row.id} is not to be sent")


def a_ground(path: Path, in_force: Callable[[], dict[ScheduleId, Plan]] = plans) -> Ground:
    """The actors of a process with a ledger and nothing to do."""
    return Ground(
        open_ledger=lambda: open_inline(path, clock=VirtualClock(NOW)),
        execute=never,
        attempt=unsent,
        plans=in_force,
        timings=PRODUCTION,
    )


@pytest.mark.case("slots", 20)
async def test_the_loser_of_a_claim_asks_for_one_round_of_the_outbox_and_runs_nothing(
    autojump_clock: MockClock, ledger_path: Path
) -> None:
    """Its plan goes between the admission and the claim, so that it is admitted and then loses."""
    probe, known = Probe(), [plans()]
    ground = a_ground(ledger_path, lambda: known.pop() if known else {})
    ground.pump = heard = Hearing()
    supervisor = Supervisor(children(ground.bodies())[:3], probe.hooks())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await supervisor.up.wait()
        await ground.ledger.write(lambda db: put_slot(db))
        assert isinstance(await ground.offer(SLOT), Admitted)
        await wait_all_tasks_blocked()
        assert heard.heard == [Drain(1)]
        assert probe.heard("run.failed") == []
        supervisor.stop()


async def test_the_ledger_is_to_be_had_only_while_it_is_open(autojump_clock: MockClock, ledger_path: Path) -> None:
    ground = a_ground(ledger_path)
    supervisor = Supervisor(children(ground.bodies())[:1], Probe().hooks())
    with pytest.raises(RuntimeError, match="the ledger is not open"):
        assert ground.ledger
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await supervisor.up.wait()
        assert ground.ledger.path == ledger_path
        supervisor.stop()
    with pytest.raises(RuntimeError, match="the ledger is not open"):
        assert ground.ledger
