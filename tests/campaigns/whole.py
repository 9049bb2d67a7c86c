"""Whole daemons beside a sandbox, killed at moments nobody chose well and started again until all of it has ended.

A seed draws the plans that are asked for, the moments of the kills, and for every third seed the crash point at which
the first daemon dies by itself. Then every promise is judged from the ledger, the receiver and the folder of files.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from pixivflow.failpoints import POINTS
from tests.campaigns import Result
from tests.crash.process import Process
from tests.crash.waiting import until
from tests.whole.stage import Stage

LIMIT_S = 60.0
OFTEN = ("ledger.",)  # passed with every commit, of which a life of one plan has about a dozen

LARGE = {"page.marked": 9 << 20}
"""Points that only works with pages of so many bytes lead to."""


def run(seed: int) -> Result:
    """One life in a folder of its own, which is gone afterwards."""
    names = sorted(POINTS)
    point = names[seed // 3 % len(names)] if seed % 3 == 0 else None
    with TemporaryDirectory(prefix="whole-") as folder:
        faults = live(Path(folder), seed, point)
    return Result(not faults, "; ".join(faults) or f"a life with {point or 'kills at random'} kept every promise")


def live(folder: Path, seed: int, point: str | None = None) -> list[str]:
    """Play one life and judge it: the violations of all promises. `point`: where the first daemon dies."""
    chance = Random(seed)
    plans = chance.randint(1, 3)
    with Stage(folder, plans=plans) as stage:
        if point is not None:
            stage.enlarge(LARGE.get(point, 0))
            hit = chance.randint(1, 8) if point.startswith(OFTEN) else 1
            _die_at(stage, f"{point}:{hit}", plans)
        for _ in range(chance.randint(1, 2) if point is None else 0):
            _die_at_random(stage, plans, chance)
        _end_well(stage, plans)
        return stage.verdict()


def _die_at(stage: Stage, point: str, plans: int) -> None:
    daemon = stage.daemon(point=point)
    with _asking(stage, daemon, plans):
        until(f"death at {point}", lambda: not daemon.alive(), LIMIT_S)
    stage.look()


def _die_at_random(stage: Stage, plans: int, chance: Random) -> None:
    daemon = stage.daemon()
    with _asking(stage, daemon, plans):
        if chance.random() < 0.75:
            time.sleep(chance.uniform(0.0, 2.5))
            daemon.kill()
        else:
            stage.until_up(daemon)
            time.sleep(chance.uniform(0.0, 1.0))
            daemon.stop()
    stage.look()


def _end_well(stage: Stage, plans: int) -> None:
    daemon = stage.daemon()
    with _asking(stage, daemon, plans):
        pass
    stage.until_all_ended(limit_s=LIMIT_S)
    stage.look()
    code = daemon.stop()
    if code != 0:
        stage.faults.append(f"the last daemon ended with {code}")


@contextmanager
def _asking(stage: Stage, daemon: Process, plans: int) -> Iterator[None]:
    """Trigger every plan meanwhile, one after the other, until the daemon is gone."""

    def work() -> None:
        for n in range(plans):
            if stage.trigger(daemon, f"p{n}").status == 0:
                break

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()
