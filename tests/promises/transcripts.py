"""Transcripts made by hand: one acceptance, one run and one arrival as a good life shows them, told otherwise at will.

Instants are small numbers, in the order in which things happen; a snapshot is set after all of them by default.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.promises.evidence import Acceptance, Arrival, Evidence, Run, Snapshot, Stop, snapshot
from tests.promises.ledgers import KEY, ROUTE, SLOT, TARGET, WORK

DAEMON = 100


def an_arrival(n: int = 1, **told: Any) -> Arrival:
    """One request that was accepted, its answer read."""
    arrival = Arrival(
        n=n,
        at=n * 10,
        route=ROUTE,
        key=KEY,
        digest="aa",
        sender=DAEMON,
        begun=n * 10 - 1,
        slot=SLOT,
        target=TARGET,
        work=WORK,
        taken=True,
        answer="accepted",
        delivered=True,
    )
    return replace(arrival, **told)


def a_run(name: str = "run-100-a", **told: Any) -> Run:
    """One run that came back by itself."""
    run = Run(run=name, slot=SLOT, plan="p", act="publish", pid=DAEMON, at=2, wall_ms=1_000, ended_at=5, how="returned")
    return replace(run, **told)


def a_stop(
    signal: str, at: int, until: int | None = None, *, pid: int = DAEMON, wall_ms: int = 0, code: int | None = None
) -> Stop:
    """A signal to the daemon; it ends in order unless told otherwise."""
    if code is None:
        code = 0 if signal == "TERM" else -9
    return Stop(pid=pid, signal=signal, at=at, until=at if until is None else until, wall_ms=wall_ms, code=code)


def looked_at(ledger: Path, at: int) -> Snapshot:
    """The file as it is now, as if somebody had looked at the instant `at`."""
    return Snapshot(at, snapshot(ledger).tables)


def a_life(ledger: Path, **told: Any) -> Evidence:
    """The evidence of one published slot over the file `ledger`, whatever stands in it."""
    life: dict[str, Any] = {
        "ledger": ledger,
        "acceptances": (Acceptance(SLOT, 1),),
        "arrivals": (an_arrival(),),
        "runs": (a_run(),),
        "snapshots": (looked_at(ledger, 1_000),),
    }
    return Evidence(**life | told)
