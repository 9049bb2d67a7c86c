"""Leases after somebody has set the clock: a dead owner does not block for a day, a live one is not robbed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kit.testing import VirtualClock
from pixivflow.ledger.connection import Db
from pixivflow.ledger.leaseclock import LeaseClock, lease_now, newest_seen, remember
from pixivflow.ledger.ledger import open_ledger
from tests.fixtures.ledgers import transaction

DAY_MS = 86_400_000
NOON = 1_768_478_400_000


@pytest.mark.parametrize(
    ("wall", "newest", "elapsed_ms", "expected"),
    [
        pytest.param(NOON, 0, 0, NOON, id="a new ledger knows nothing newer than the wall clock"),
        pytest.param(NOON + 5_000, NOON, 5_000, NOON + 5_000, id="a clock that nobody touched"),
        pytest.param(NOON + DAY_MS, NOON, 5_000, NOON + DAY_MS, id="set forward: wall time"),
        pytest.param(NOON - 60_000, NOON, 0, NOON - 60_000, id="set back by a minute: wall time"),
        pytest.param(NOON - 60_001, NOON, 0, NOON, id="set back by more: the newest instant"),
        pytest.param(NOON - DAY_MS + 5_000, NOON, 5_000, NOON + 5_000, id="and from there at the monotonic pace"),
    ],
)
def test_the_instant_for_leases(wall: int, newest: int, elapsed_ms: int, expected: int) -> None:
    assert lease_now(wall, newest, elapsed_ms) == expected


@given(wall=st.integers(0, 2 * NOON), newest=st.integers(0, 2 * NOON), elapsed_ms=st.integers(0, DAY_MS))
def test_it_never_goes_back_by_more_than_a_minute_nor_behind_the_wall_clock(
    wall: int, newest: int, elapsed_ms: int
) -> None:
    now = lease_now(wall, newest, elapsed_ms)
    assert now >= newest + elapsed_ms - 60_000
    assert now >= wall


def test_one_process_keeps_its_pace_over_a_step_back() -> None:
    seconds = [0.0]
    clock = LeaseClock(0, monotonic_s=lambda: seconds[0])
    assert clock.now_ms(NOON) == NOON
    seconds[0] = 10.0
    assert clock.now_ms(NOON + 10_000) == NOON + 10_000
    seconds[0] = 20.0
    assert clock.now_ms(NOON - DAY_MS) == NOON + 20_000
    seconds[0] = 50.0
    assert clock.now_ms(NOON - DAY_MS + 30_000) == NOON + 50_000
    assert clock.now_ms(NOON + DAY_MS) == NOON + DAY_MS, "until wall time has caught up"


def test_a_ledger_remembers_the_newest_instant_only(db: Db) -> None:
    for now in (NOON, NOON - 1, NOON + 5, NOON + 2):
        with transaction(db):
            remember(db, now)
    assert newest_seen(db) == NOON + 5


async def test_the_next_process_goes_on_from_what_the_ledger_has_seen(ledger_path: object) -> None:
    clock = VirtualClock(NOON)
    async with open_ledger(str(ledger_path), clock=clock) as ledger:
        await ledger.write(remember, ledger.lease_now(clock.now_ms()))
    clock.step(-DAY_MS)
    async with open_ledger(str(ledger_path), clock=clock) as ledger:
        assert ledger.lease_now(clock.now_ms()) >= NOON
