"""Lives of one daemon that is killed and stopped at moments nobody chose well, until all that was accepted has ended.

A seed draws the plans, the receiver's moods, the moments of the kills, and for every third seed the crash point at
which the first daemon dies by itself. Then every promise is judged.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.campaigns import Result
from tests.crash.faults import Script
from tests.crash.plans import PlayedPlan
from tests.crash.process import ROOT, Process
from tests.crash.stage import Stage
from tests.crash.waiting import until
from tests.promises.verdict import verdict

LIMIT_S = 60.0
PASSED = ("ledger.", "run.", "outbox.")


def run(seed: int) -> Result:
    """One life in a folder of its own, which is gone afterwards."""
    names = points()
    point = names[seed // 3 % len(names)] if seed % 3 == 0 else None
    with TemporaryDirectory(prefix="life-") as folder:
        faults = live(Path(folder), seed, point)
    return Result(not faults, "; ".join(faults) or f"a life with {point or 'kills at random'} kept every promise")


def points() -> list[str]:
    """The crash points on the way of this daemon, by name; those inside real executions are not, it plays its own."""
    command = [sys.executable, "-m", "pixivflow.failpoints"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line.split()[0] for line in told.stdout.splitlines() if line.startswith(PASSED)]


def live(folder: Path, seed: int, point: str | None = None, *, deaf: bool = False) -> list[str]:
    """Play one life and judge it: the violations of all promises.

    `point`: where the first daemon dies. `deaf`: every hint between its actors is lost.
    """
    chance = Random(seed)
    with Stage(folder, list(_plans(chance)), Script(seed=seed), options=["--deaf"] if deaf else []) as stage:
        asked: set[str] = set()
        if point is not None:
            hits = 30 if point.startswith("ledger.") else 6
            _die_at(stage, f"{point}:{chance.randint(1, hits)}", asked, chance)
        for _ in range(chance.randint(1, 3)):
            _die_at_random(stage, asked, chance)
        return [*_end_well(stage, asked, chance), *stage.faults, *verdict(stage.evidence())]


def _plans(chance: Random) -> Iterator[PlayedPlan]:
    acts = ["overrun", "stubborn", "raise", "empty", *["publish"] * chance.randint(6, 9)]
    chance.shuffle(acts)
    for n, act in enumerate(acts):
        yield PlayedPlan(
            id=f"p{n}",
            act=act,
            timeout_ms=250 if act in ("overrun", "stubborn") else 60_000,
            pause_ms=chance.randint(0, 150),
            targets={f"t{t}": [f"r{r}" for r in range(chance.randint(1, 2))] for t in range(chance.randint(1, 2))},
        )


def _die_at(stage: Stage, point: str, asked: set[str], chance: Random) -> None:
    daemon = stage.daemon(point=point)
    with _asking(stage, daemon, asked, chance):
        until(f"death at {point}, or the end of all work", lambda: not daemon.alive() or stage.all_ended(), LIMIT_S)
        if daemon.alive():
            stage.faults.append(f"the daemon did not die at {point}")
            daemon.kill()
    stage.look()


def _die_at_random(stage: Stage, asked: set[str], chance: Random) -> None:
    daemon = stage.daemon()
    with _asking(stage, daemon, asked, chance):
        time.sleep(chance.uniform(0.0, 0.6))
        match chance.choice(("kill", "kill", "stop", "cut")):
            case "kill":
                daemon.kill()
            case "stop":
                daemon.stop()
            case "cut":
                daemon.stop_or_kill(chance.uniform(0.0, 0.3))
    stage.look()


def _asking(stage: Stage, daemon: Process, asked: set[str], chance: Random) -> AbstractContextManager[None]:
    """Slots whose answer was lost are asked for again or forgotten, as it comes."""
    again = [slot for slot in asked - stage.accepted() if chance.random() < 0.5]
    return stage.asking(daemon, [*sorted(again), *(slot for slot in stage.plans if slot not in asked)], asked)


def _end_well(stage: Stage, asked: set[str], chance: Random) -> list[str]:
    daemon = stage.daemon()
    if daemon.port is None:
        return ["the daemon does not start any more"]
    with _asking(stage, daemon, asked, chance):
        pass
    ended = stage.until_all_ended(LIMIT_S)
    stage.look()
    daemon.stop()
    return [] if ended else [f"work was still owed after {LIMIT_S:.0f} s without a kill"]
