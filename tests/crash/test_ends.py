"""Small lives with one end each: what a stop, a kill, a timeout and a hanging receiver leave to the next process."""

from pathlib import Path

import pytest

from tests.crash.faults import Script
from tests.crash.plans import PlayedPlan
from tests.crash.small import HANGING, LIMIT_S, WAITING, go_on, start, with_a_run
from tests.crash.stage import Stage
from tests.crash.waiting import until
from tests.promises.verdict import verdict

STOPPED_WITHIN_MS = 5_000

BINDING = PlayedPlan(id="binding", pause_ms=500)
BOUND = "SELECT work_id FROM schedule_slot_items WHERE status = 'selected' AND work_id IS NOT NULL"


def test_a_slot_that_was_running_when_the_process_was_stopped_goes_on_in_the_next_one(tmp_path: Path) -> None:
    with Stage(tmp_path, [WAITING], Script()) as stage:
        assert with_a_run(stage).stop() == 0
        stage.look()
        assert go_on(stage) == []
        assert stage.begun_runs(WAITING.slot) == 2


@pytest.mark.case("slots", 60)
def test_a_slot_that_was_accepted_and_not_claimed_when_the_process_was_killed_runs_once(tmp_path: Path) -> None:
    never = {"sweep_ms": 600_000}  # the daemon that accepts it does not come to look for it
    with Stage(tmp_path, [WAITING], Script(), options=["--deaf"], timings=never) as stage:
        start(stage).kill()
        [slot] = stage.look()["schedule_slots"].values()
        assert (slot["status"], slot["lease_owner"]) == ("pending", None)
        assert go_on(stage) == []
        assert stage.begun_runs(WAITING.slot) == 1


def test_a_process_that_hears_no_hint_finds_its_work_by_looking(tmp_path: Path) -> None:
    plans = [PlayedPlan(id=f"p{n}") for n in range(6)]  # more than one batch of the pump
    with Stage(tmp_path, plans, Script(orders={f"{plans[0].slot}/t0": ["busy"]}), options=["--deaf"]) as stage:
        daemon = start(stage)
        assert stage.until_all_ended(LIMIT_S), "work was still owed"
        daemon.stop()
        assert [*stage.faults, *verdict(stage.evidence())] == []


@pytest.mark.case("slots", 61)
def test_a_slot_that_was_running_when_the_process_was_killed_goes_on_when_its_lease_is_over(tmp_path: Path) -> None:
    with Stage(tmp_path, [WAITING], Script(), timings={"slot_lease_ms": 2_000}) as stage:
        with_a_run(stage).kill()
        assert stage.look()["schedule_slots"][WAITING.slot]["lease_owner"] is not None
        assert go_on(stage) == []
        assert stage.begun_runs(WAITING.slot) == 2


@pytest.mark.case("slots", 27)
def test_a_work_that_was_bound_when_the_process_was_killed_is_the_one_that_is_published(tmp_path: Path) -> None:
    with Stage(tmp_path, [BINDING], Script()) as stage:
        daemon = start(stage)
        [bound] = until("a binding", lambda: stage.rows(BOUND))
        daemon.kill()
        assert not stage.look()["deliveries"]
        assert go_on(stage) == []
        assert [arrival.work for arrival in stage.evidence().arrivals] == [bound["work_id"]]


def test_a_run_over_its_time_ends_its_slot_whether_it_listens_or_not(tmp_path: Path) -> None:
    plans = [PlayedPlan(id=act, act=act, timeout_ms=250) for act in ("overrun", "stubborn")]
    with Stage(tmp_path, plans, Script()) as stage:
        daemon = start(stage)
        assert stage.until_all_ended(LIMIT_S), "work was still owed"
        until("the stubborn one to come back", lambda: stage.ended_runs(plans[1].slot))
        assert daemon.stop() == 0
        stage.look()
        assert go_on(stage) == []
        assert [stage.begun_runs(plan.slot) for plan in plans] == [1, 1]


@pytest.mark.case("delivery", 108)
def test_a_request_that_hangs_when_the_process_is_stopped_is_sent_again_as_it_was(tmp_path: Path) -> None:
    script = Script(orders={f"{HANGING.slot}/t0": ["hang"]})
    with Stage(tmp_path, [HANGING], script, options=["--attempt-ms", "60000"]) as stage:
        daemon = start(stage)
        until("the request to hang", lambda: stage.arrivals(HANGING.slot))
        assert daemon.stop() == 0
        [row] = stage.look()["outbox"].values()
        assert (row["status"], row["attempts"]) == ("processing", 0)
        assert go_on(stage) == []
        first, second = stage.evidence().arrivals
        assert (first.key, first.digest) == (second.key, second.digest)
        [stop] = [stop for stop in stage.evidence().stops if stop.pid == daemon.pid]
        assert (stop.until - stop.at) / 1_000_000 <= STOPPED_WITHIN_MS
