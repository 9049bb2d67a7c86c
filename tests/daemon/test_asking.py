"""Whoever asks an actor of a daemon is answered, also while the tree comes down."""

import json
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from actors.kit import Child, Context, Hooks, Mailbox, NoAnswer, Supervisor
from actors.kit.testing import Probe, VirtualClock
from actors.ports import Drain
from actors.runs import LiveRun
from pixivflow.config.load import load
from pixivflow.daemon.ground import Ground
from pixivflow.daemon.program import Program
from pixivflow.daemon.tree import children
from pixivflow.delivery.model import Accepted, Ack, OutboxRow
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.interface import Ledger
from pixivflow.slots.model import Work
from pixivflow.times import PRODUCTION
from tests.fixtures.ledgers import LIMIT_S


async def execute(work: Work, live: LiveRun, ledger: Ledger) -> None:
    raise AssertionError("nothing runs here")


async def attempt(row: OutboxRow) -> Ack:
    return Accepted()


async def test_an_actor_that_has_stopped_keeps_nobody_waiting_who_still_asks(
    ledger_path: Path, autojump_clock: MockClock
) -> None:
    """The asker stands above in the tree and takes its time to stop, as a request in flight does."""
    clock, answered_s = VirtualClock(), dict[str, float]()

    async def asking(ctx: Context) -> None:
        ctx.started()
        await ctx.wait_stopping()
        await trio.sleep(1.5)
        asked_s = trio.current_time()
        with pytest.raises(NoAnswer):
            await ground.offer("p@2026-09-08T1000")
        answered_s["slot_runner"] = trio.current_time() - asked_s
        with pytest.raises(NoAnswer):
            await ground.pump.ask(Drain(1), 60_000)
        answered_s["outbox_pump"] = trio.current_time() - asked_s

    ground = Ground(
        open_ledger=lambda: open_inline(ledger_path, clock=clock),
        execute=execute,
        attempt=attempt,
        plans=dict,
        timings=PRODUCTION,
    )
    actors = [*children(ground.bodies()), Child("asking", asking)]
    tree = Supervisor(actors, Hooks(clock=clock), patience=ground.patience)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await tree.up.wait()
        tree.stop()
    assert answered_s == {"slot_runner": 0, "outbox_pump": 0}


async def test_no_mailbox_of_a_daemon_is_open_when_its_tree_has_stopped(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    whole = {
        "pixiv": {"refreshToken": "rt"},
        "targets": [{"id": "kept", "type": "illustration", "tag": "x", "limit": 1}],
        "schedulerRuntime": {"mode": "external", "exitWhenIdle": True},
    }
    config.write_text(json.dumps(whole))
    program = Program(load(config, {}), [], Probe().hooks(), PRODUCTION, {})
    boxes = [box for holder in (program, program.ground) for box in vars(holder).values() if isinstance(box, Mailbox)]
    with trio.fail_after(LIMIT_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(program.supervisor.run)
            await program.supervisor.up.wait()
            assert all(box.tell(None) for box in boxes), "everybody is there"
            program.supervisor.stop()
    await program.aclose()
    assert [box.tell(None) for box in boxes] == [False] * 6
