"""One ledger and its clock, in which every step is one transaction, watched by all laws.

Every function runs twice, as the ledger may do with it: the first time for nothing, rolled back without a trace.
"""

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from hypothesis import note

from pixivflow.errors import Conflict
from pixivflow.ids import ScheduleId
from pixivflow.ledger import orders, slots, works
from pixivflow.ledger.connection import Db, connect_plain
from pixivflow.ledger.leaseclock import LeaseClock
from pixivflow.ledger.migrate import migrate
from pixivflow.scheduling.model import Plan
from tests.fixtures.slots import NOW
from tests.simulation import agreement, laws, rest
from tests.simulation.fates import runs_end_by_their_fate
from tests.simulation.look import Look, look
from tests.simulation.steps import Actor, Step

P = ParamSpec("P")
T = TypeVar("T")

_schema = connect_plain(":memory:")
migrate(_schema)


MAY_CONFLICT: frozenset[Callable[..., object]] = frozenset(
    {slots.open_slot, works.bind, works.release, works.bring, works.apply, orders.cancel, orders.requeue, orders.revive}
)
"""What may be refused because a row moved on; a conflict anywhere else would tear down the actor that asked."""


class World:
    """A ledger in memory. `now`: the wall clock; `at`: the instant by which leases are judged."""

    def __init__(self, plans: Mapping[ScheduleId, Plan]) -> None:
        self.db: Db = connect_plain(":memory:")
        _schema.backup(self.db)
        self.now = self.newest = NOW
        self._steady_ms = 0
        self._leases = LeaseClock(NOW, lambda: self._steady_ms / 1000)
        self.rows: Look = look(self.db)
        self._moods = rest.moods(plans)
        self._rested: dict[str, Look] = {}

    def close(self) -> None:
        self.db.close()

    @property
    def at(self) -> int:
        return self._leases.now_ms(self.now)

    def wait(self, ms: int) -> None:
        """Let time go by."""
        self._steady_ms += ms
        self.set_clock(ms)

    def set_clock(self, by_ms: int) -> None:
        """Let the wall clock step, in either direction, without any time going by."""
        self.now = max(NOW, self.now + by_ms)
        self.newest = max(self.newest, self.now, self.at)

    def take(
        self, by: Actor, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T | Conflict:
        """Take one step and hold every law against what it did. Its value, or the conflict that it met."""
        first = self._tried(fn, *args, **kwargs)
        self.db.steer("ROLLBACK")
        assert look(self.db) == self.rows, f"{fn.__name__} left something behind when it was rolled back"
        value = self._tried(fn, *args, **kwargs)
        self.db.steer("ROLLBACK" if isinstance(value, Conflict) else "COMMIT")
        assert repr(first) == repr(value), f"{fn.__name__} said {first!r} and then {value!r}"
        before, after = self.rows, look(self.db)
        self.rows = before if before == after else after
        note(f"{fn.__name__} at +{self.at - NOW} ms: {value!r}")
        step = Step(what=fn.__name__, by=by, at=self.at, before=before, after=after)
        self._judge([fault for law in (*laws.LAWS, runs_end_by_their_fate) for fault in law(step)])
        return value

    def agrees(self) -> None:
        """Hold the laws that stand between steps."""
        self._judge([fault for law in agreement.LAWS for fault in law(self.rows, self.newest)])

    def comes_to_rest(self, mood: str) -> None:
        """Let time go by and the daemon's passes run, on what is thrown away afterwards: all must have ended."""
        if self._rested.get(mood) is self.rows:
            return  # it came to rest from here before
        self.db.steer("BEGIN IMMEDIATE")
        try:
            self.db.call(rest.come_to_rest, self.newest, self._moods[mood])
            left = look(self.db)
        finally:
            self.db.steer("ROLLBACK")
        self._judge([f"with a {mood} outside: {fault}" for fault in agreement.unfinished(left)])
        self._judge([fault for law in agreement.LAWS for fault in law(left, rest.FAR_AHEAD)])
        self._rested[mood] = self.rows

    def _tried(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> T | Conflict:
        self.db.steer("BEGIN IMMEDIATE")
        try:
            return self.db.call(fn, *args, **kwargs)
        except Conflict as error:
            if fn in MAY_CONFLICT:
                return error
            self.db.steer("ROLLBACK")
            raise
        except BaseException:
            self.db.steer("ROLLBACK")
            raise

    def _judge(self, faults: list[str]) -> None:
        assert not faults, "\n".join(faults)
