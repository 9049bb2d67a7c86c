"""Two daemons on one ledger: they race for the same slots, and one of them stands still past its leases and wakes up.

First the slow one alone takes up three slots: of one it runs the execution, of two it waits for an answer. Frozen, it
loses them to its neighbour, one so far that the neighbour still waits for the answer; thawed, it learns its old answers
and goes on where it stood. Then both are asked for the same slots at once, and one more freeze comes when it comes.
"""

import time
from contextlib import ExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.campaigns import Result
from tests.crash.faults import Script
from tests.crash.plans import PlayedPlan
from tests.crash.process import Process
from tests.crash.stage import Stage
from tests.crash.waiting import until
from tests.promises.verdict import verdict

LIMIT_S = 60.0
ATTEMPT_MS = 60_000
LEASES = {"slot_lease_ms": 3_000, "heartbeat_ms": 300, "row_lease_ms": 3_000, "row_renewal_ms": 300}
"""So long that only a freeze outlasts them: a busy machine lets a live process be late, and being late is no fault."""

EXECUTED = PlayedPlan(id="executed", act="wait")
ANSWERED = PlayedPlan(id="answered")
OVERTAKEN = PlayedPlan(id="overtaken", targets={"t0": ["r1"]})

ENDED = "SELECT 1 FROM schedule_slots WHERE id = ? AND status = 'success'"
HOLDS = """SELECT 1 FROM schedule_slots WHERE lease_owner LIKE 'run-' || :pid || '-%' AND status = 'running'
           UNION SELECT 1 FROM outbox WHERE lease_owner LIKE 'worker-' || :pid || '-%' AND status = 'processing'"""


def run(seed: int) -> Result:
    """One race in a folder of its own, which is gone afterwards."""
    with TemporaryDirectory(prefix="race-") as folder:
        faults = race(Path(folder), seed)
    return Result(not faults, "; ".join(faults) or "two daemons, one owner at a time; the stale one wrote nothing")


def race(folder: Path, seed: int) -> list[str]:
    """Play one race and judge it: the violations of all promises."""
    chance = Random(seed)
    raced = [PlayedPlan(id=f"p{n}", pause_ms=chance.randint(0, 60)) for n in range(chance.randint(6, 10))]
    script = Script(orders={f"{ANSWERED.slot}/t0": ["hold"], f"{OVERTAKEN.slot}/t0": ["early", "slow"]})
    options = ["--attempt-ms", f"{ATTEMPT_MS}"]
    plans = [EXECUTED, ANSWERED, OVERTAKEN, *raced]
    with Stage(folder, plans, script, options=options, timings=LEASES) as stage:
        slow = stage.daemon()
        _take_up(stage, slow)
        stage.freeze(slow)
        quick = stage.daemon()
        _lose(stage)
        slow.thaw()
        _race(stage, slow, quick, raced, chance)
        ended = stage.until_all_ended(LIMIT_S)
        until("the old run to end", lambda: stage.ended_runs(EXECUTED.slot) >= stage.begun_runs(EXECUTED.slot))
        stage.look()
        slow.stop()
        quick.stop()
        late = [] if ended else [f"work was still owed after {LIMIT_S:.0f} s"]
        return [*late, *stage.faults, *verdict(stage.evidence())]


def _take_up(stage: Stage, slow: Process) -> None:
    stage.ask(slow, *(plan.slot for plan in (EXECUTED, ANSWERED, OVERTAKEN)))
    until("an arrival to wait for", lambda: stage.arrivals(ANSWERED.slot))
    until("an arrival to be overtaken", lambda: stage.arrivals(OVERTAKEN.slot))
    until("the run to begin", lambda: stage.begun_runs(EXECUTED.slot))
    stage.look()


def _lose(stage: Stage) -> None:
    stage.gate.touch()
    for plan in (EXECUTED, ANSWERED):
        stage.until_rows(f"the end of {plan.slot}", ENDED, plan.slot)
    until("the second arrival of the overtaken", lambda: stage.arrivals(OVERTAKEN.slot) > 1)
    stage.look()


def _race(stage: Stage, slow: Process, quick: Process, raced: list[PlayedPlan], chance: Random) -> None:
    slots = [plan.slot for plan in raced]
    with ExitStack() as both:
        for daemon in (slow, quick):
            both.enter_context(stage.asking(daemon, slots, set()))
    time.sleep(chance.uniform(0.0, 0.2))
    frozen = chance.choice((slow, quick))
    stage.freeze(frozen)
    until("its leases to pass on", lambda: not stage.rows(HOLDS, {"pid": frozen.pid}))
    stage.look()
    frozen.thaw()
