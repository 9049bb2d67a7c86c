"""What does the ledger cost, against the fastest loop that could be written by hand on the same file?

    python -m bench.ledger [--json] [--dir FOLDER]

The transaction is the one that accepts a piece of work for delivery: look its intent up by key, insert the outbox row
with its payload, move the intent. The bare loop runs the same function on a plain sqlite3 connection at FULL, in one
thread, without savepoints and without anybody who waits: 64 transactions a COMMIT against 64 writers, one a COMMIT
against one. Rounds alternate on one file, each is compared with the one before it, and the median of these ratios
counts, so that a neighbour's noise meets both.

    full_64_vs_bare   transactions per second of 64 tasks that write, against the bare loop; at least 0.6
    full_1_vs_bare    the same for one task; at least 0.5
    added_64_us       what each write costs on top of the bare loop's: a task woken, a savepoint, its share of a hop
"""

import argparse
import json
import os
import sqlite3
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from uuid import UUID

import trio

from actors.kit import SystemClock
from pixivflow.ledger.connection import Db
from pixivflow.ledger.ledger import Ledger, open_ledger

ROUNDS = 15
WRITERS = 64
PER_ROUND = {1: 400, WRITERS: 50 * WRITERS}
"""Transactions of one round: about a tenth of a second."""

LOOK = "SELECT status FROM deliveries WHERE idempotency_key = :key"

QUEUE = """
INSERT INTO outbox (id, kind, idempotency_key, delivery_id, delivery_target, payload_json,
                    next_attempt_at, created_at, updated_at)
VALUES (:id, 'delivery', :id, :delivery, 'channel', :payload, :now, :now, :now)
"""

MOVE = "UPDATE deliveries SET attempts = attempts + 1, updated_at = :now WHERE id = :delivery AND status = 'pending'"

INTENT = """
INSERT INTO deliveries (id, delivery_target, work_type, pixiv_id, idempotency_key)
VALUES (?, 'channel', 'illustration', ?, ?)
"""

PAYLOAD = json.dumps({"version": 1, "caption": "c" * 400, "files": [{"path": "p" * 100, "bytes": 1_048_576}] * 3})
"""Of usual size: some 800 bytes."""


def set_up(db: Db) -> None:
    """One intent for each writer."""
    for writer in range(WRITERS):
        db.execute(INTENT, (f"delivery-{writer}", f"{writer}", f"key-{writer}"))


def transaction(db: sqlite3.Connection, writer: int, now: int) -> int:
    """One select, one insert, one update. Row ids are spread as random ones are."""
    spread = UUID(int=now * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)
    row = {"key": f"key-{writer}", "id": str(spread), "delivery": f"delivery-{writer}", "payload": PAYLOAD, "now": now}
    (status,) = db.execute(LOOK, row).fetchone()
    db.execute(QUEUE, row)
    return db.execute(MOVE, row).rowcount if status == "pending" else 0


def start_over(db: sqlite3.Connection) -> None:
    """The same ledger for each round: no rows, no log."""
    db.execute("DELETE FROM outbox")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def bare_round(db: sqlite3.Connection, writers: int, now: Iterator[int]) -> float:
    """Transactions per second of the loop written by hand."""
    total = PER_ROUND[writers]
    started = perf_counter()
    for _ in range(total // writers):
        db.execute("BEGIN IMMEDIATE")
        for writer in range(writers):
            transaction(db, writer, next(now))
        db.execute("COMMIT")
    return total / (perf_counter() - started)


async def our_round(ledger: Ledger, writers: int, now: Iterator[int], waits: list[float]) -> float:
    """Transactions per second of `writers` tasks, each of which waits for its own. `waits`: seconds of each write."""
    total = PER_ROUND[writers]

    async def write(writer: int) -> None:
        for _ in range(total // writers):
            began = perf_counter()
            await ledger.write(transaction, writer, next(now))
            waits.append(perf_counter() - began)

    started = perf_counter()
    async with trio.open_nursery() as nursery:
        for writer in range(writers):
            nursery.start_soon(write, writer)
    return total / (perf_counter() - started)


@contextmanager
def bare_connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        yield db


async def measure(path: Path) -> dict[str, object]:
    now = iter(range(10**9))
    pairs: dict[int, list[tuple[float, float]]] = {writers: [] for writers in PER_ROUND}
    waits: dict[int, list[float]] = {writers: [] for writers in PER_ROUND}
    async with open_ledger(path, clock=SystemClock()) as ledger:
        await ledger.write(set_up)
        with bare_connection(path) as db:
            for turn in range(ROUNDS + 1):
                for writers in PER_ROUND:
                    ours: list[float] = []
                    start_over(db)
                    bare_rate = bare_round(db, writers, now)
                    start_over(db)
                    our_rate = await our_round(ledger, writers, now, ours)
                    if turn > 0:  # the first is a warm-up
                        pairs[writers].append((bare_rate, our_rate))
                        waits[writers] += ours
    return {**compared(pairs), **latencies(waits)}


def compared(pairs: dict[int, list[tuple[float, float]]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for writers, rates in pairs.items():
        bare, ours = (statistics.median(rate) for rate in zip(*rates, strict=True))
        found[f"bare_{writers}_tx_s"] = round(bare)
        found[f"ours_{writers}_tx_s"] = round(ours)
        found[f"full_{writers}_vs_bare"] = round(statistics.median(ours / bare for bare, ours in rates), 3)
        found[f"added_{writers}_us"] = round(statistics.median(1e6 / ours - 1e6 / bare for bare, ours in rates), 1)
    return found


def latencies(waits: dict[int, list[float]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for writers, seconds in waits.items():
        cuts = statistics.quantiles(seconds, n=100)
        found[f"write_{writers}_p50_ms"] = round(cuts[49] * 1000, 3)
        found[f"write_{writers}_p99_ms"] = round(cuts[98] * 1000, 3)
    return found


def fdatasync_ms(folder: Path) -> float:
    """The median time of one fdatasync after a page was overwritten, as happens to SQLite's log."""
    times: list[float] = []
    sync = getattr(os, "fdatasync", os.fsync)  # macOS has only the latter
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(4096 * 200))
        os.fsync(file.fileno())
        for page in range(200):
            os.pwrite(file.fileno(), b"x" * 4096, page * 4096)
            started = perf_counter()
            sync(file.fileno())
            times.append(perf_counter() - started)
    return round(statistics.median(times) * 1000, 3)


def file_system(folder: Path) -> str:
    """The type of the file system that holds `folder`, from the longest mount point above it."""
    where, table = folder.resolve(), Path("/proc/self/mounts")
    mounts = [line.split()[1:3] for line in (table.read_text() if table.exists() else "").splitlines()]
    above = [(point, kind) for point, kind in mounts if where.is_relative_to(point)]
    return max(above, key=lambda mount: len(mount[0]))[1] if above else "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description="The ledger against a bare loop on the same file.")
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else")
    parser.add_argument("--dir", type=Path, help="where the file is made; the temporary folder unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.dir) as name:
        folder = Path(name)
        result = {
            **trio.run(measure, folder / "ledger.db"),
            "file_system": file_system(folder),
            "fdatasync_ms": fdatasync_ms(folder),
            "sqlite": sqlite3.sqlite_version,
        }
    if options.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:20} {value}")


if __name__ == "__main__":
    main()
