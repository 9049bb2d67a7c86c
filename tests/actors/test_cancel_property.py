"""Whatever strikes a bounded scope and whenever, its end is the one that a small model foretells.

Strikes and deadlines fall on whole seconds, what the work does falls between them: only a strike and a deadline can
meet, and of those two the deadline counts as first.
"""

import math
from dataclasses import dataclass

import trio
from hypothesis import event, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from actors.kit import BoundedScope, CancelOrigin, Crashed, End, Ended, Finished, run_bounded
from tests.actors.works import Broken

ABOVE = "above"
ORIGINS = [CancelOrigin.SHUTDOWN, CancelOrigin.CONSUMER, CancelOrigin.LEASE_LOST]


@dataclass(frozen=True)
class Work:
    """What the work does: returns or raises at `until`, hears a cancellation or not, and cleans up for a while."""

    until: float
    raises: bool
    deaf: bool
    clean_up: float


@dataclass(frozen=True)
class Course:
    """One run: its work, the second at which its budget starts and how long that is, and who strikes when."""

    work: Work
    budget: tuple[int, int] | None
    strikes: tuple[tuple[int, CancelOrigin | str], ...]
    watched: bool

    @property
    def deadline(self) -> float:
        return math.inf if self.budget is None else sum(self.budget)


halves = st.integers(0, 12).map(lambda n: n + 0.5)
clean_ups = st.just(0.0) | st.integers(0, 6).map(lambda n: n + 0.25)
works = st.builds(Work, until=halves, raises=st.booleans(), deaf=st.booleans(), clean_up=clean_ups)
strikes = st.lists(st.tuples(st.integers(1, 12), st.sampled_from([*ORIGINS, ABOVE])), max_size=3)
courses = st.builds(
    Course,
    work=works,
    budget=st.none() | st.tuples(st.integers(0, 2), st.integers(1, 5)),
    strikes=strikes.map(lambda each: tuple(sorted(each, key=lambda strike: strike[0]))),
    watched=st.booleans(),
)


def foretold(course: Course) -> End:
    """The model: who was first while the work was not yet out, and what the work then left."""
    work = course.work
    cancelled_at = min([course.deadline, *(at for at, _ in course.strikes)])
    unwinds = not work.deaf and cancelled_at < work.until
    out_at = cancelled_at + work.clean_up if unwinds else work.until
    if not unwinds and not work.raises:
        return Finished("whole")
    words = [(at, 1, origin) for at, origin in course.strikes if at < out_at or (unwinds and at == cancelled_at)]
    if course.deadline <= out_at:
        words.append((int(course.deadline), 0, CancelOrigin.TIMEOUT))
    if not words:
        return Crashed(Broken())
    first = min(words, key=lambda word: word[:2])[2]
    return Ended(first if isinstance(first, CancelOrigin) else None)


async def performed(course: Course) -> End:
    scope, above, ends = BoundedScope(), trio.CancelScope(), list[End]()

    async def work() -> object:
        try:
            with trio.CancelScope(shield=course.work.deaf):
                await trio.sleep_until(course.work.until)
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                await trio.sleep(course.work.clean_up)
            raise
        if course.work.raises:
            raise Broken
        return "whole"

    async def settle(end: End) -> None:
        ends.append(end)

    async def strike_all() -> None:
        for at, origin in course.strikes:
            await trio.sleep_until(at)
            if isinstance(origin, CancelOrigin):
                scope.end(origin)
            else:
                scope.cut()
                above.cancel()

    async def start_the_budget() -> None:
        if course.budget is not None:
            await trio.sleep_until(course.budget[0])
            scope.limit(course.budget[1] * 1000)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(strike_all)
        nursery.start_soon(start_the_budget)
        if course.watched:
            nursery.start_soon(scope.wait_over)
        with above:
            await run_bounded(scope, work, settle)
        nursery.cancel_scope.cancel()
    assert len(ends) == 1, "settled exactly once"
    return ends[0]


@settings(max_examples=500)
@given(courses)
def test_the_recorded_end_is_the_one_the_model_foretells(course: Course) -> None:
    recorded = trio.run(performed, course, clock=MockClock(autojump_threshold=0))
    expected = foretold(course)
    event(repr(expected.origin) if isinstance(expected, Ended) else type(expected).__name__)
    match recorded, expected:
        case Ended(), Ended():
            assert recorded.origin is expected.origin
        case Crashed(), Crashed():
            assert isinstance(recorded.error, Broken)
        case _:
            assert recorded == expected
