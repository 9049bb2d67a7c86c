"""What is caught up when a daemon starts."""

import pytest

from pixivflow.ids import ScheduleId
from pixivflow.scheduling.catchup import missed
from pixivflow.scheduling.model import Plan
from pixivflow.times import from_utc_text

PLAN = Plan(id=ScheduleId("p"), enabled=True, cron="0 10 * * *", timezone="Asia/Shanghai")
FIRE = from_utc_text("2026-09-08 02:00:00")
MINUTE = 60_000
DAY = 24 * 60 * MINUTE


@pytest.mark.parametrize(
    ("last_end", "now", "owed"),
    [
        pytest.param(FIRE - 40 * DAY, FIRE + MINUTE, FIRE, id="however long it was away, the latest fire alone"),
        pytest.param(FIRE - DAY + MINUTE, FIRE, FIRE, id="a fire of this very instant is due"),
        pytest.param(FIRE - DAY + MINUTE, FIRE + DAY - 10 * MINUTE, FIRE, id="the missed one, not the coming one"),
        pytest.param(FIRE - 2 * DAY + MINUTE, FIRE - 10 * MINUTE, FIRE - DAY, id="ten minutes before the next"),
        pytest.param(FIRE - DAY + MINUTE, FIRE - MINUTE, None, id="nothing was missed yet"),
        pytest.param(FIRE + MINUTE, FIRE + 2 * MINUTE, None, id="it ran just now"),
        pytest.param(FIRE, FIRE + MINUTE, None, id="it ended at the fire itself"),
        pytest.param(None, FIRE + MINUTE, None, id="a plan that never ran has missed nothing"),
    ],
)
def test_a_start_owes_at_most_the_latest_fire(last_end: int | None, now: int, owed: int | None) -> None:
    assert missed(PLAN, last_end, now) == owed
