"""Small lives: one plan or two, one end, and whatever the next daemon makes of it."""

from tests.crash.plans import PlayedPlan
from tests.crash.process import Process
from tests.crash.stage import Stage
from tests.crash.waiting import until
from tests.promises.verdict import verdict

LIMIT_S = 30.0

WAITING = PlayedPlan(id="waiting", act="wait")
HANGING = PlayedPlan(id="hanging")


def start(stage: Stage) -> Process:
    """A daemon that was asked for every slot."""
    daemon = stage.daemon()
    stage.ask(daemon, *stage.plans)
    return daemon


def with_a_run(stage: Stage) -> Process:
    """A daemon that is at the waiting slot."""
    daemon = start(stage)
    until("the run to begin", lambda: stage.begun_runs(WAITING.slot))
    return daemon


def go_on(stage: Stage, daemons: int = 1) -> list[str]:
    """Let the next daemons bring everything to its end, and judge the whole life."""
    stage.gate.touch()
    following = [stage.daemon() for _ in range(daemons)]
    late = [] if stage.until_all_ended(LIMIT_S) else ["work was still owed"]
    for daemon in following:
        daemon.stop()
    return [*late, *stage.faults, *verdict(stage.evidence())]
