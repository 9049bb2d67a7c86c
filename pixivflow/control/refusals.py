"""Requests that were refused unauthenticated, counted in memory and written once a second; and old rows of the journal.

A crash loses the counts of at most one second. Nothing wakes while nothing was refused.
"""

from collections import Counter
from typing import Final

import msgspec
import trio

from actors.kit import Context
from pixivflow.ledger import refusals, triggers
from pixivflow.ledger.interface import Ledger
from pixivflow.ledger.refusals import Refusal
from pixivflow.scheduling.disposition import Disposition
from pixivflow.times import DAY_MS, MINUTE_MS

FLUSH_S: Final = 1.0
KEYS_MAX: Final = 1_000
"""How many kinds are told apart between two writes; what is more counts as a caller that did not name itself."""

KEPT_MS: Final = 400 * DAY_MS
"""How long the journal is kept, as long as slots are."""

PRUNE_S: Final = 86_400.0
PRUNE_ROWS: Final = 500


class Refusals:
    """The counts of one life of the door. `count` never waits; `keep` writes them down, for as long as it is open."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._counts: Counter[Refusal] = Counter()
        self._any = trio.Event()

    def count(self, route: str, disposition: Disposition, provider: str | None, now: int) -> None:
        """One more. `now`: epoch ms."""
        minute = now // MINUTE_MS * MINUTE_MS
        self._add(Refusal(minute_at=minute, route=route, disposition=disposition, provider=provider), 1)

    def _add(self, kind: Refusal, n: int) -> None:
        if kind not in self._counts and len(self._counts) >= KEYS_MAX:
            kind = msgspec.structs.replace(kind, provider=None)
        self._counts[kind] += n
        self._any.set()

    async def keep(self, ctx: Context) -> None:
        """Write once a second while there is anything to write, until cancelled; `flush` then writes what is left."""
        while True:
            await self._any.wait()
            await trio.sleep(FLUSH_S)
            await self.flush(ctx)

    async def flush(self, ctx: Context) -> None:
        """Write what there is. What could not be written is tried again with the next."""
        counts, self._counts, self._any = self._counts, Counter(), trio.Event()
        if not counts:
            return
        try:
            await self._ledger.settle(refusals.count, counts)
        except Exception as error:  # whatever is wrong with the journal, the door stays open
            ctx.note("schedule.journal_failed", error=error)
            for kind, n in counts.items():
                self._add(kind, n)


async def prune_daily(ctx: Context, ledger: Ledger) -> None:
    """Drop what is older than the journal is kept, at the start and once a day, in pieces, until cancelled."""
    while True:
        before = ctx.clock.now_ms() - KEPT_MS
        try:
            while await ledger.write(triggers.prune, before, PRUNE_ROWS) == PRUNE_ROWS:
                pass
        except Exception as error:  # as above
            ctx.note("schedule.journal_failed", error=error)
        await trio.sleep(PRUNE_S)
