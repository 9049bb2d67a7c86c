"""A process that dies at any point of its walk, on a real file: the next one brings the same works, each of them once.

Every kind of cell dies at every point, at each of its hits in turn, and is then run to its end.
"""

from collections.abc import Callable

import pytest

from pixivflow.config.model import Target
from pixivflow.failpoints import POINTS
from pixivflow.slots.model import Cell
from tests.fixtures.slots import A
from tests.fixtures.walks import FakeFetcher, FakeSource, Scene, a_target, a_work, routed

OF_THE_WALK = ("work.bound", "work.fetched", "work.recorded", "cell.served")

KINDS = {
    "one work that is kept": (a_target(),),
    "one work for two routes": (routed(a_target(), "r1", "r2"),),
    "a pinned work": (a_target(illust_id=4),),
    "the best of a ranking": (a_target(mode="ranking"),),
    "three works that are kept": (a_target(limit=3),),
    "three works for two routes": (routed(a_target(limit=3), "r1", "r2"),),
    "two cells": (a_target("a", limit=2), routed(a_target("b"), "r1")),
}


def a_world() -> FakeSource:
    return FakeSource([a_work(each) for each in range(1, 9)])


def test_the_points_of_a_walk_are_among_those_that_a_process_can_be_killed_at() -> None:
    assert set(OF_THE_WALK) <= set(POINTS)


@pytest.mark.parametrize("targets", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("point", OF_THE_WALK)
async def test_a_walk_that_died_is_gone_on_with_and_nothing_is_lost_or_doubled(
    scene: Callable[..., Scene], targets: tuple[Target, ...], point: str
) -> None:
    whole = scene(targets=targets, source=a_world())
    await whole.live()
    hits = whole.probe.points.count(point)
    for nth in range(1, hits + 1):
        run = scene(targets=targets, source=a_world())
        await run.live(die_at=point, nth=nth)
        held = {cell.target_id: cell.work_id for cell in cells(run) if cell.work_id is not None}
        status = await run.live()

        assert status == ("running" if whole.promised() else "success")
        assert sorted(run.stored()) == sorted(whole.stored())
        assert sorted(run.promised()) == sorted(whole.promised())
        assert [cell.status for cell in cells(run)] == [cell.status for cell in cells(whole)]
        assert held.items() <= {cell.target_id: cell.work_id for cell in cells(run)}.items()
        assert len(run.fetcher.requests) == len(set(run.fetcher.requests))
    assert hits or point == "work.bound"


async def test_a_walk_that_dies_again_and_again_still_comes_to_its_end(scene: Callable[..., Scene]) -> None:
    run = scene(targets=(routed(a_target(limit=3), "r1"),), source=a_world(), fetcher=FakeFetcher())
    for point in OF_THE_WALK[1:3] * 3:
        await run.live(die_at=point)
    await run.live()
    assert run.promised() == [("1", "r1"), ("2", "r1"), ("3", "r1")]
    assert run.fetcher.requests == ["1", "2", "3"]


def cells(run: Scene) -> list[Cell]:
    return [run.cell(target.id or A) for target in run.targets]
