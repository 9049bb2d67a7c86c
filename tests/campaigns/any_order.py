"""Everybody acts in any order, for longer than a test has time: each seed is a hundred examples of sixty steps.

A failure is shrunk first and says what was broken; `--first SEED --seeds 1` finds it again.
"""

import hypothesis
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.campaigns import Result
from tests.simulation.test_any_order import AnyOrder

EXAMPLES, STEPS = 100, 60


def run(seed: int) -> Result:
    """The examples of one seed."""
    seeded = hypothesis.seed(seed)(type("Seeded", (AnyOrder,), {}))
    long = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, database=None, deadline=None)
    try:
        run_state_machine_as_test(seeded, settings=long)
    except AssertionError as error:
        return Result(False, " / ".join([str(error), *getattr(error, "__notes__", [])]).replace("\n", " / "))
    return Result(True, f"{EXAMPLES} examples broke no law")
