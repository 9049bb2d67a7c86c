"""A seed decides how tasks take turns; if trio renames what this leans on, this is where it shows."""

from functools import partial

import trio

from tests.simulation import seeded


async def turns() -> str:
    """Who came when, of eight tasks that all want to go on all the time."""
    told: list[str] = []

    async def talk(name: str) -> None:
        for _ in range(5):
            told.append(name)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for name in "abcdefgh":
            nursery.start_soon(talk, name)
    return "".join(told)


async def sleeps(seconds: float) -> float:
    await trio.sleep(seconds)
    return trio.current_time()


def test_one_seed_is_one_order() -> None:
    assert len({seeded.run(7, turns) for _ in range(5)}) == 1


def test_another_seed_is_another_order() -> None:
    assert len({seeded.run(seed, turns) for seed in range(20)}) == 20


def test_waiting_costs_no_time() -> None:
    assert seeded.run(0, partial(sleeps, 86_400.0)) == 86_400.0
