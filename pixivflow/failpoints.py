"""Named points at which a test may kill this process, to see what the next one finds.

`PIXIVFLOW_FAILPOINTS` decides, once, when `load` reads it:

    unset, empty      nothing can be killed, and `point` is a function without a body
    on                nothing is killed, but durations may be replaced (`load_timings`)
    <name>:<n>        the n-th time (1 or more) that this process passes `name`, it dies by SIGKILL

A death by SIGKILL runs no `finally`, flushes nothing and closes nothing: it leaves what a power cut leaves, but for
what only the operating system still held. `python -m pixivflow.failpoints` prints the points.
"""

import os
import re
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from pixivflow.errors import ConfigError
from pixivflow.times import PRODUCTION, Timings, checked

POINTS: Final[Mapping[str, str]] = {
    "ledger.before_commit": "every function of a batch has run, COMMIT has not",
    "ledger.after_commit": "the batch is on the disk, no caller knows it yet",
    "trigger.opened": "the slot of a trigger and its row are on the disk, nobody was asked to run it",
    "trigger.concluded": "what became of a trigger is written down, its answer has not left",
    "run.claimed": "the slot is leased and running, nothing was executed",
    "work.bound": "the work is bound to its cell, nothing of it was fetched",
    "page.marked": "8 MiB more of a page are on the disk and written down, the next ones are not",
    "page.staged": "a page is all there and written down, it has no name",
    "work.fetched": "its files have their names, nothing of them is recorded",
    "work.recorded": "files, promises and the cell are recorded, the walk does not know it yet",
    "cell.served": "the turn of one cell is over, the next one has not begun",
    "run.settling": "the execution has ended, its end is not written",
    "run.settled": "the slot is settled, its lane is not given back",
    "outbox.claimed": "a row is leased to the pump, nothing was sent",
    "outbox.sent": "the receiver has answered, the answer is not recorded",
    "outbox.recorded": "the answer is recorded, the next row is not begun",
}

SWITCH: Final = "PIXIVFLOW_FAILPOINTS"
TEST_TIMINGS: Final = "PIXIVFLOW_TEST_TIMINGS"

Point = Callable[[str], None]
"""Says that the process passes the named point; comes back, unless this is where it was told to die."""


@dataclass(frozen=True, slots=True)
class Failpoints:
    """What the environment asked for."""

    enabled: bool
    point: Point


def load(environ: Mapping[str, str]) -> Failpoints:
    """The failpoints of this process, from `PIXIVFLOW_FAILPOINTS`.

    Errors: `ConfigError` for an unknown name or a number that is not 1 or more.
    """
    match environ.get(SWITCH, ""):
        case "":
            return DISABLED
        case "on":
            return Failpoints(enabled=True, point=_listed)
        case wish:
            return Failpoints(enabled=True, point=_Kill(*_wish(wish)).passed)


def load_timings(environ: Mapping[str, str], failpoints: Failpoints) -> Timings:
    """Production's durations, some of them replaced from the file that `PIXIVFLOW_TEST_TIMINGS` names.

    Shape: a JSON object of fields of `Timings`, `{"sweep_ms": 200}`; what is left out keeps its production value.
    Errors: `ConfigError` where failpoints are off, for a file that is no such object, and for broken ratios.
    """
    path = environ.get(TEST_TIMINGS, "")
    if path == "":
        return PRODUCTION
    if not failpoints.enabled:
        raise ConfigError(TEST_TIMINGS, path, f"durations are replaced only in tests, where {SWITCH} is set")
    try:
        return checked(msgspec.json.decode(Path(path).read_bytes(), type=Timings))
    except (OSError, ValueError) as error:
        raise ConfigError(TEST_TIMINGS, path, str(error)) from error


class _Kill:
    """Counts the hits of one point, from any thread, and ends the process at the n-th."""

    def __init__(self, name: str, nth: int) -> None:
        self._name, self._left, self._lock = name, nth, threading.Lock()

    def passed(self, name: str) -> None:
        _listed(name)
        if name != self._name:
            return
        with self._lock:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def _wish(wish: str) -> tuple[str, int]:
    name, _, number = wish.rpartition(":")
    if name not in POINTS:
        raise ConfigError(SWITCH, wish, "must be on or <name>:<n>; python -m pixivflow.failpoints prints the names")
    if re.fullmatch("[1-9][0-9]{0,8}", number) is None:
        raise ConfigError(SWITCH, wish, f"after {name}: comes which hit of it ends the process, 1 or more")
    return name, int(number)


def _listed(name: str) -> None:
    """Errors: `LookupError` for a point that is not listed, since no test could ever ask for it."""
    if name not in POINTS:
        raise LookupError(f"{name} is not listed in pixivflow.failpoints.POINTS")


def _nothing(_name: str) -> None:
    pass


DISABLED: Final = Failpoints(enabled=False, point=_nothing)
"""Production: no point does anything."""


if __name__ == "__main__":
    for name, meaning in POINTS.items():
        print(f"{name:24}{meaning}")
