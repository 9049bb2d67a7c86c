"""Slots, cells, promises and rows may be moved by everybody in any order and at any time: what always holds, holds.

After every step the laws of `laws` and `fates` are held against what it did, those of `agreement` against what is
there, and what is there is left to itself until it has come to its end (`rest`).
"""

from hypothesis import settings

from tests.simulation.carriers import Carriers
from tests.simulation.passers import Passers
from tests.simulation.runners import Runners


class AnyOrder(Runners, Carriers, Passers):
    """Three occurrences and two requests, runs without number, two pumps, and everybody who comes by."""


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=400, stateful_step_count=40)
