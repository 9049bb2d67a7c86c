"""One step of a ledger's life: who took it, and all rows before and after it."""

from dataclasses import dataclass

from actors.kit import End
from tests.simulation.look import Look, Row
from tests.simulation.ways import Who


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who takes a step, and what it is about.

    `owner`: the name under which the actor holds leases. `slot`: the one that a run speaks of; `rows`: those that a
    pump speaks of. `fact`: the word says that a receiver has the work. `end`: how the run ended, where the step writes
    that down; `forced`: it did not come back.
    """

    who: Who
    owner: str | None = None
    slot: str | None = None
    rows: tuple[str, ...] = ()
    fact: bool = False
    end: End | None = None
    forced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One transaction: what was called, by whom, when by the clock of leases, and the ledger before and after it."""

    what: str
    by: Actor
    at: int
    before: Look
    after: Look

    def changed(self, table: str) -> list[tuple[str, Row, Row]]:
        """The rows of `table` that were there before and differ now: identity, old, new."""
        old, new = self.before[table], self.after[table]
        return [(name, old[name], new[name]) for name in old if name in new and old[name] != new[name]]

    def rewritten(self, table: str, *, but: tuple[str, ...] = ()) -> list[tuple[str, Row, Row]]:
        """Those of `changed` that differ in more than the columns `but`."""
        return [
            (name, old, new)
            for name, old, new in self.changed(table)
            if any(old[column] != new[column] for column in old if column not in but)
        ]

    def added(self, table: str) -> list[Row]:
        """The rows of `table` that are new."""
        return [row for name, row in self.after[table].items() if name not in self.before[table]]
