"""Two daemons on one ledger: whatever both of them find, one of them has it."""

from functools import partial
from pathlib import Path

import pytest

from tests.crash.faults import Script
from tests.crash.plans import PlayedPlan
from tests.crash.small import HANGING, LIMIT_S, WAITING, go_on, start, with_a_run
from tests.crash.stage import Stage
from tests.crash.waiting import until
from tests.promises.verdict import verdict

LONG = {"slot_lease_ms": 3_000}


def test_a_slot_that_both_have_admitted_is_run_by_one(tmp_path: Path) -> None:
    blockers = [PlayedPlan(id=f"blocker{n}", act="wait") for n in range(2)]
    wanted = PlayedPlan(id="wanted", pause_ms=1_000)
    with Stage(tmp_path, [*blockers, wanted], Script(), options=["--lanes", "1"], timings=LONG) as stage:
        daemons = [stage.daemon() for _ in blockers]
        for daemon, blocker in zip(daemons, blockers, strict=True):
            stage.ask(daemon, blocker.slot)
            until("its only lane to be taken", partial(stage.begun_runs, blocker.slot))
        for daemon in daemons:
            stage.ask(daemon, wanted.slot)
        stage.gate.touch()
        assert stage.until_all_ended(LIMIT_S), "work was still owed"
        assert [daemon.stop() for daemon in daemons] == [0, 0]
        assert [*stage.faults, *verdict(stage.evidence())] == []
        assert stage.begun_runs(wanted.slot) == 1


@pytest.mark.case("slots", 62)
def test_of_two_processes_that_find_one_stale_slot_one_runs_it(tmp_path: Path) -> None:
    with Stage(tmp_path, [WAITING], Script(), timings=LONG) as stage:
        with_a_run(stage).kill()
        stage.look()
        assert go_on(stage, daemons=2) == []
        assert stage.begun_runs(WAITING.slot) == 2


@pytest.mark.case("delivery", 25)
def test_a_request_longer_than_its_lease_stays_with_the_process_that_sent_it(tmp_path: Path) -> None:
    script = Script(orders={f"{HANGING.slot}/t0": ["late"]}, late_s=4.0)
    lease = {"row_lease_ms": 1_500, "row_renewal_ms": 200}
    with Stage(tmp_path, [HANGING], script, options=["--attempt-ms", "60000"], timings=lease) as stage:
        daemon = start(stage)
        until("the request to go out", lambda: stage.arrivals(HANGING.slot))
        assert go_on(stage) == []
        assert daemon.stop() == 0
        assert [arrival.sender for arrival in stage.evidence().arrivals] == [daemon.pid]
