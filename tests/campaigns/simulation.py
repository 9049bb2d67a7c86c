"""Whole daemons on a clock that leaps: many lives on one file, each commit judged, in a second of real time.

A seed draws what is asked for, what the runs and the receiver do, where and when the processes die or stop, and in
which order ready tasks take their turns; the same seed is the same story to the last row.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.campaigns import Result
from tests.simulation.lives import play
from tests.simulation.story import story


def run(seed: int) -> Result:
    """One story in a folder of its own, which is gone afterwards."""
    with TemporaryDirectory(prefix="story-") as folder:
        chronicle, _ = play(story(seed), Path(folder) / "ledger.db")
    if chronicle.faults:
        return Result(False, "; ".join(chronicle.faults))
    seen = f"{chronicle.lives} lives, {len(chronicle.begun)} slots run, {len(chronicle.receiver.arrivals)} arrivals"
    return Result(True, f"{seen}, {chronicle.now_s:.0f} s")
