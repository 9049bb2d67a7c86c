"""A run's cells through the ledger: who may write, and how a ledger that cannot be asked is told apart from Pixiv."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from actors.kit.testing import VirtualClock
from actors.ports import Busy, Run
from actors.runs import LiveRun
from pixivflow.errors import StorageFull, Unavailable
from pixivflow.ledger.inline import open_inline
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.run_store import RunLedger
from pixivflow.slots.ports import LedgerBusy
from pixivflow.slots.target import Stored
from tests.fixtures.slots import ME, NOW, PLAN, SLOT, WORK, A, put_running
from tests.fixtures.walks import a_target, routed


def run_of(ledger: Ledger, *, claimed: bool = True) -> RunLedger:
    live = LiveRun(Busy(SLOT, PLAN, "lane"))
    live.run = Run(SLOT, ME, NOW) if claimed else None
    return RunLedger(ledger, live, VirtualClock(), lambda entry: (), 3)


@pytest.fixture
async def opened(ledger_path: Path) -> AsyncIterator[Ledger]:
    async with open_inline(ledger_path, clock=VirtualClock()) as ledger:
        await ledger.write(put_running)
        yield ledger


async def test_a_run_that_was_never_claimed_has_no_cells(opened: Ledger) -> None:
    with pytest.raises(RuntimeError, match="not claimed"):
        run_of(opened, claimed=False)


async def test_a_binding_is_there_for_whoever_asks_next(opened: Ledger) -> None:
    cells = run_of(opened)
    assert (await cells.bind(A, WORK)).won
    assert not (await cells.seen(a_target(), A, [WORK])).served
    assert await cells.release(A, WORK)
    assert not await cells.release(A, WORK)


@pytest.mark.parametrize(
    ("error", "told"), [(Unavailable("another process"), LedgerBusy), (StorageFull("full"), StorageFull)]
)
async def test_a_ledger_that_cannot_be_asked_is_never_mistaken_for_a_pixiv_that_cannot(
    opened: Ledger, monkeypatch: pytest.MonkeyPatch, error: Exception, told: type[Exception]
) -> None:
    cells = run_of(opened)

    async def refuse(*_: object, **__: object) -> None:
        raise error

    for way in ("write", "read", "settle"):
        monkeypatch.setattr(opened, way, refuse)
    asked: list[Callable[[], Awaitable[object]]] = [
        lambda: cells.seen(a_target(), A, [WORK]),
        lambda: cells.delivered(routed(a_target(), "r1"), WORK),
        lambda: cells.recorded(WORK),
        lambda: cells.bind(A, WORK),
        lambda: cells.release(A, WORK),
        lambda: cells.apply(A, Stored(work=WORK)),
    ]
    for ask in asked:
        with pytest.raises(told) as raised:
            await ask()
        assert type(raised.value) is told
