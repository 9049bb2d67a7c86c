"""When a full disk pauses the work, as a pure decision."""

import pytest

from pixivflow.ledger.storage import ROOM, Storage

PAUSE_MS = 30_000


def after(*full_at: int) -> Storage:
    storage = ROOM
    for at in full_at:
        storage = storage.found_full(at)
    return storage


@pytest.mark.parametrize(
    ("storage", "now", "paused"),
    [
        pytest.param(ROOM, 0, False, id="a ledger that never met a full disk works"),
        pytest.param(after(1_000, 2_000), 2_000, False, id="two in a row may be two large writes"),
        pytest.param(after(1_000, 2_000, 3_000), 3_000, True, id="three in a row pause"),
        pytest.param(after(1_000, 2_000, 3_000), 32_999, True, id="for the whole pause, counted from the last of them"),
        pytest.param(after(1_000, 2_000, 3_000), 33_000, False, id="then it is time to try"),
        pytest.param(after(1_000, 2_000, 3_000, 33_000), 33_001, True, id="a try that fails pauses again at once"),
        pytest.param(after(5_000, 5_000, 5_000), 4_999, False, id="a clock that was set back does not prolong it"),
    ],
)
def test_work_pauses_while_the_disk_is_full(storage: Storage, now: int, paused: bool) -> None:
    assert storage.is_paused(now, PAUSE_MS) is paused
