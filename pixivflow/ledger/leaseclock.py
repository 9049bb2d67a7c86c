"""The instant by which leases are judged: wall time, but never back by much.

Two mistakes are possible after somebody sets the clock back by a day. Judged by wall time, the lease of a dead owner
would look valid for a day and block its slot that long. Judged by anything that jumps, the lease of a live owner would
look over and be stolen. So the lease clock goes on from the newest instant the ledger has seen, at the pace of the
monotonic clock: whoever beats is believed for one lease, whoever is dead is found within one. Every lease must be
written with this clock too, and whoever writes one lets it be remembered, so that the next process goes on from there.

A step back of up to a minute is what time servers do; it is taken as it is, since a lease outlasts it.
"""

from collections.abc import Callable
from typing import Final

import trio

from pixivflow.ledger.db import Db

STEP_BACK_MS: Final = 60_000
"""A wall clock that is behind by more than this was set back."""

NEWEST = "SELECT newest_at FROM ledger_clock WHERE id = 1"

REMEMBER = "UPDATE ledger_clock SET newest_at = :now WHERE id = 1 AND newest_at < :now"


def lease_now(wall: int, newest: int, elapsed_ms: int) -> int:
    """The instant for leases. `newest`: the newest instant known, `elapsed_ms` ago. All in epoch ms and ms."""
    expected = newest + elapsed_ms
    return expected if wall < expected - STEP_BACK_MS else wall


def newest_seen(db: Db) -> int:
    """The newest instant that any writer of this ledger has seen; 0 in a new one."""
    [newest] = db.execute(NEWEST).fetchone()
    return int(newest)


def remember(db: Db, now: int) -> None:
    """Keep `now`, an instant of the lease clock, if it is the newest. For whoever writes a lease."""
    db.execute(REMEMBER, {"now": now})


class LeaseClock:
    """One process's lease clock. `newest`: what the ledger had seen when it was opened."""

    def __init__(self, newest: int, monotonic_s: Callable[[], float] = trio.current_time) -> None:
        self._monotonic_s = monotonic_s
        self._newest, self._seen_s = newest, monotonic_s()

    def now_ms(self, wall: int) -> int:
        """The instant for leases while the wall clock shows `wall`."""
        elapsed_ms = round((self._monotonic_s() - self._seen_s) * 1000)
        now = lease_now(wall, self._newest, elapsed_ms)
        if now > self._newest:
            self._newest, self._seen_s = now, self._monotonic_s()
        return now
