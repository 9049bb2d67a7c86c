"""Running trio so that one seed always schedules the same: the one place that leans on trio's private names.

Trio shuffles the tasks that are ready, with a generator of its own, so that nobody relies on their order. Told to, it
sorts them first; then its generator's seed decides. Hash seeds and addresses have no say, as long as nobody iterates
over a set.
"""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import trio
import trio._core._run as core
import trio.testing

T = TypeVar("T")


def run(seed: int, main: Callable[[], Awaitable[T]]) -> T:
    """What `main` returns, on a clock that leaps over every wait, scheduled by `seed`."""
    with _deterministic():
        core._r.seed(seed)
        return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


@contextlib.contextmanager
def _deterministic() -> Iterator[None]:
    before, state = core._ALLOW_DETERMINISTIC_SCHEDULING, core._r.getstate()
    core._ALLOW_DETERMINISTIC_SCHEDULING = True  # type: ignore[misc]  # trio's own way in for tests
    try:
        yield
    finally:
        core._ALLOW_DETERMINISTIC_SCHEDULING = before  # type: ignore[misc]
        core._r.setstate(state)
