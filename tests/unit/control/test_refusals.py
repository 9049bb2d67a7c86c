"""Refused strangers cost no write each, and the journal does not grow for ever."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from actors.kit import Context
from actors.kit.testing import Probe, VirtualClock
from pixivflow.control import refusals
from pixivflow.control.refusals import Refusals, prune_daily
from pixivflow.ledger import triggers
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.refusals import ROWS_A_DAY
from pixivflow.ledger.triggers import Arrival, End
from pixivflow.scheduling.disposition import Disposition
from tests.edges.control.doors import behind, journal
from tests.fixtures.slots import HOUR, NOW
from tests.unit.control.asking import trigger

BAD = Disposition.UNAUTHORIZED
DAY = 24 * HOUR


class Counting:
    """A ledger that counts what is written, and fails for the first `failing` times."""

    def __init__(self, inner: Ledger, failing: int = 0) -> None:
        self._inner, self._failing, self.settled = inner, failing, 0

    async def settle(self, *args: object, **kwargs: object) -> object:
        self.settled += 1
        if self.settled <= self._failing:
            raise OSError("no room")
        return await self._inner.settle(*args, **kwargs)  # type: ignore[arg-type]


@asynccontextmanager
async def kept(counts: Refusals, probe: Probe) -> AsyncIterator[None]:
    """The counts are being written down inside the block, and all of them after it."""
    ctx = Context("control", probe.hooks())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(counts.keep, ctx)
        yield
        nursery.cancel_scope.cancel()
    await counts.flush(ctx)


@pytest.mark.case("slots", 109)
async def test_ten_thousand_wrong_tokens_cost_a_write_a_second_and_a_thousand_rows_a_day(
    ledger: Ledger, autojump_clock: MockClock
) -> None:
    process, counting = behind(ledger), Counting(ledger)
    counts = Refusals(counting)  # type: ignore[arg-type]
    began = trio.current_time()
    async with kept(counts, process.probe):
        for n in range(10_000):
            await trigger(process, token="wrong", refusals=counts, x_schedule_provider=f"p{n % 5_000}")
            if n % 20 == 19:
                await trio.testing.wait_all_tasks_blocked()
            if n % 1_000 == 999:
                await trio.sleep(1)
    assert counting.settled <= trio.current_time() - began + 1
    rows = await process.rows()
    assert len(rows) <= ROWS_A_DAY
    assert sum(row["count"] for row in rows) == 10_000
    assert await process.slots() == []


async def test_nothing_wakes_while_nothing_is_refused(ledger: Ledger, autojump_clock: MockClock) -> None:
    counting, probe = Counting(ledger), Probe()
    counts = Refusals(counting)  # type: ignore[arg-type]
    async with kept(counts, probe):
        await trio.sleep(3_600)
        assert counting.settled == 0
        counts.count("run", BAD, None, NOW)
        await trio.sleep(2)
        assert counting.settled == 1
        await trio.sleep(3_600)
    assert counting.settled == 1


async def test_in_memory_no_more_kinds_are_told_apart_than_that(ledger: Ledger, autojump_clock: MockClock) -> None:
    counts, probe = Refusals(ledger), Probe()
    async with kept(counts, probe):
        for n in range(5_000):
            counts.count("run", BAD, f"p{n}", NOW)
        assert len(counts._counts) == refusals.KEYS_MAX + 1
    rows = await ledger.read(journal)
    assert sum(row["count"] for row in rows) == 5_000


async def test_counts_that_could_not_be_written_are_written_with_the_next(
    ledger: Ledger, autojump_clock: MockClock
) -> None:
    counting, probe = Counting(ledger, failing=2), Probe()
    counts = Refusals(counting)  # type: ignore[arg-type]
    async with kept(counts, probe):
        counts.count("run", BAD, None, NOW)
        await trio.sleep(1.5)
        counts.count("run", BAD, None, NOW)
        await trio.sleep(10)
    assert len(probe.heard("schedule.journal_failed")) == 2
    assert [row["count"] for row in await ledger.read(journal)] == [2]


async def test_rows_that_are_older_than_400_days_are_dropped_at_the_start_and_once_a_day(
    ledger: Ledger, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "PRUNE_ROWS", 2)
    probe = Probe()
    hooks = probe.hooks()
    clock = VirtualClock(NOW)
    ctx = Context("control", type(hooks)(clock=clock, note=hooks.note))

    def put(db: Db, ages: list[float]) -> None:
        for days in ages:
            end = End(disposition=Disposition.NOT_FOUND, http_status=404)
            triggers.keep(db, Arrival(received_at=NOW - round(days * DAY)), end)

    async def ages() -> list[float]:
        return [(NOW - row["received_at"]) / DAY for row in await ledger.read(journal)]

    await ledger.write(put, [401, 402, 403, 404, 405, 399.5, 1])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(prune_daily, ctx, ledger)
        await trio.sleep(60)
        assert await ages() == [399.5, 1]
        await trio.sleep(86_400)
        assert await ages() == [1]
        nursery.cancel_scope.cancel()
