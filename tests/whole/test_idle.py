"""Around the idle exit nobody is told "taken" and left alone: a trigger is taken and ends, or is told to come back."""

import os
import time
from pathlib import Path
from random import Random

from tests.whole.client import Answer, trigger
from tests.whole.settings import write
from tests.whole.sleeper import Sleeper
from tests.whole.stage import Stage

TRIGGERS = int(os.environ.get("PIXIVFLOW_WHOLE_TRIGGERS", "30"))
"""How many; a campaign asks for more."""
IDLE_MS = 300
SEED = 5


def test_every_trigger_around_the_idle_exit_is_taken_and_ends_or_is_told_to_come_back(tmp_path: Path) -> None:
    chance = Random(SEED)
    with Stage(tmp_path, plans=TRIGGERS, timings={"idle_poll_ms": 50}) as stage:
        stage.settings["schedulerRuntime"] |= {"exitWhenIdle": True, "idleGraceMs": IDLE_MS}
        stage.settings["targets"] = [stage.settings["targets"][1]]
        write(stage.config, stage.settings)
        log = tmp_path / "daemons.stderr"
        with Sleeper(stage.config, log, stage.environ()) as sleeper:
            answers = [_asked_around_the_exit(stage, sleeper, log, f"p{n}", chance) for n in range(TRIGGERS)]
            assert [answer for answer in answers if not _is_promised(answer)] == []
            stage.until_all_ended()
        assert set(sleeper.codes) == {0}
        assert len(sleeper.codes) > TRIGGERS // 4, "most triggers came to a daemon that was not about to leave"
        assert stage.verdict() == []


def _asked_around_the_exit(stage: Stage, sleeper: Sleeper, log: Path, plan: str, chance: Random) -> Answer:
    """Wait until the daemon, if there is one, begins to see that nothing is owed, and so long again by chance."""
    seen, limit = _windows(log), time.monotonic() + 3.0
    while _windows(log) == seen and time.monotonic() < limit and seen:
        time.sleep(0.005)
    time.sleep(chance.uniform(0.8, 1.6) * IDLE_MS / 1_000)
    answer = trigger(sleeper.port, plan, stage.token)
    if answer.status == 202:
        stage.hands.say("accepted", slot=answer.slot)
    return answer


def _windows(log: Path) -> int:
    return log.read_text().count("idle.window_opened") if log.exists() else 0


def _is_promised(answer: Answer) -> bool:
    return answer.status == 202 or (answer.status == 503 and answer.retry_after is not None)
