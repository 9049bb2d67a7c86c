"""The frame's own campaign: a seed draws the same numbers each time it is asked."""

import random

from tests.campaigns import Result


def run(seed: int) -> Result:
    first, second = ([random.Random(seed).getrandbits(32) for _ in range(8)] for _ in range(2))
    return Result(first == second, f"drew {first[0]:08x} and {second[0]:08x}")
