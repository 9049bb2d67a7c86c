"""What a checker may know: lines written by whoever saw a thing happen, and the ledger file, read-only.

One JSON object a line, told apart by `kind`; instants named `at` are monotonic nanoseconds, which all processes of one
machine share, so lines of several files have one order.

    accepted   slot at                                              a client read the acceptance
    arrival    n at route key digest sender begun slot target work taken
                                                                    a receiver read one whole request; `begun`: when its
                                                                    sender set out
    answered   n at answer delivered                                what it said, and whether that was read
    began      run slot plan act pid at wall_ms                     an execution started (`run`: the lease's owner)
    ended      run at how                                           it came back: returned, raised, cancelled
    stopped    pid signal at until wall_ms code                     KILL, TERM, EXIT (by itself), FREEZE (till the thaw)

A program killed while it wrote leaves a torn last line, which tells nothing and is passed over.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]

TABLES = {
    "schedule_slots": "id",
    "schedule_slot_items": "slot_id || '/' || target_id",
    "scheduler_executions": "id",
    "deliveries": "id",
    "outbox": "id",
    "delivery_events": "id",
}


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One acceptance that a client has read."""

    slot: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One request as the receiver saw it. `taken`: from here on it holds the work, published, under this key."""

    n: int
    at: int
    route: str
    key: str
    digest: str
    sender: int
    begun: int
    slot: str
    target: str
    work: str
    taken: bool
    answer: str = ""
    delivered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution. `how` is empty while nobody saw it come back: its process died, or still lives."""

    run: str
    slot: str
    plan: str
    act: str
    pid: int
    at: int
    wall_ms: int
    ended_at: int | None = None
    how: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What was done to a process from outside, or by itself at a crash point."""

    pid: int
    signal: str
    at: int
    until: int
    wall_ms: int
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every row of the ledger's tables at one instant: table -> identity -> row."""

    at: int
    tables: Mapping[str, Mapping[str, Row]]

    def __getitem__(self, table: str) -> Mapping[str, Row]:
        return self.tables.get(table, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that is known of one life of a ledger, after its processes have ended.

    `snapshots` are in order, the last one of the final file. `texts` are the outputs of the processes by name,
    `secrets` the credentials that were planted, `files` the folder of works.
    """

    ledger: Path
    acceptances: tuple[Acceptance, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    runs: tuple[Run, ...] = ()
    stops: tuple[Stop, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    files: Path | None = None


NEWEST = """(SELECT max(at) FROM (SELECT newest_at AS at FROM ledger_clock UNION ALL SELECT ts FROM delivery_events
            UNION ALL SELECT updated_at FROM outbox UNION ALL SELECT heartbeat_at FROM schedule_slots))"""
"""SQL: the newest instant, epoch ms, that any row of the file bears witness to."""

Judge = Callable[[Evidence], list[str]]


def read_lines(paths: Iterable[Path]) -> list[Row]:
    """The lines of several files, each file in its own order."""
    lines: list[Row] = []
    for path in paths:
        whole = [text for text in path.read_text().splitlines(keepends=True) if text.endswith("\n")]
        lines += [json.loads(text) for text in whole]
    return lines


def gathered(lines: Iterable[Row]) -> dict[str, Any]:
    """The transcript's part of an `Evidence`, to be handed to it by name."""
    by_kind: dict[str, list[Row]] = {}
    for line in lines:
        by_kind.setdefault(line["kind"], []).append({name: line[name] for name in line if name != "kind"})
    answers = {line["n"]: line for line in by_kind.get("answered", [])}
    ends = {line["run"]: line for line in by_kind.get("ended", [])}
    arrivals = [Arrival(**line, **_answer(answers.get(line["n"]))) for line in by_kind.get("arrival", [])]
    runs = [Run(**line, **_end(ends.get(line["run"]))) for line in by_kind.get("began", [])]
    return {
        "acceptances": tuple(Acceptance(**line) for line in by_kind.get("accepted", [])),
        "arrivals": tuple(sorted(arrivals, key=lambda arrival: arrival.n)),
        "runs": tuple(sorted(runs, key=lambda run: run.at)),
        "stops": tuple(Stop(**line) for line in by_kind.get("stopped", [])),
    }


def _answer(line: Row | None) -> Row:
    return {} if line is None else {"answer": line["answer"], "delivered": line["delivered"]}


def _end(line: Row | None) -> Row:
    return {} if line is None else {"ended_at": line["at"], "how": line["how"]}


def opened(ledger: Path) -> sqlite3.Connection:
    """The file, read-only: a judge changes nothing, not even by a checkpoint."""
    db = sqlite3.connect(f"{ledger.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    db.row_factory = sqlite3.Row
    return db


def rows(ledger: Path, sql: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Row]:
    """What one question gives."""
    with closing(opened(ledger)) as db:
        return [dict(row) for row in db.execute(sql, values)]


def snapshot(ledger: Path) -> Snapshot:
    """Every row as it stands now, all tables of one instant; the file may be in use, or hold no table yet."""
    with closing(opened(ledger)) as db:
        db.execute("BEGIN")
        there = {row["name"] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        found = {table: _table(db, table, identity) for table, identity in TABLES.items() if table in there}
        return Snapshot(time.monotonic_ns(), found)


def _table(db: sqlite3.Connection, table: str, identity: str) -> dict[str, Row]:
    return {
        str(row["identity_"]): dict(row)
        for row in db.execute(f"SELECT *, {identity} AS identity_ FROM {table} ORDER BY rowid")
    }
