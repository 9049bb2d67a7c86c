"""A token that is sent in the wrong place: not answered, not kept, not told, neither whole nor torn."""

import pytest

from pixivflow.control.visit import ID_MAX, PATH_MAX
from pixivflow.ledger.interface import Ledger
from tests.edges.control.doors import TOKEN, behind
from tests.unit.control.asking import trigger


@pytest.mark.parametrize("plan", [TOKEN, f"p-{TOKEN}-{TOKEN}", "p" * (ID_MAX - 9) + TOKEN])
async def test_a_token_that_is_sent_as_a_plan_is_neither_answered_nor_kept(plan: str, ledger: Ledger) -> None:
    process = behind(ledger)
    got = await trigger(process, plan=plan)
    assert got.status == 404
    [row] = await process.rows()
    for told in (str(got.body), str(row["schedule_id"])):
        assert TOKEN[:9].lower() not in told.lower()
        assert "***" in told or "..." in told


async def test_a_path_is_told_without_the_token_and_without_a_half_of_it(ledger: Ledger) -> None:
    process = behind(ledger)
    await trigger(process, plan="p" * (PATH_MAX - len("/internal/schedules/") - 9) + TOKEN)
    [received] = process.probe.heard("schedule.trigger_received")
    assert TOKEN[:9] not in str(received["path"])


async def test_a_token_that_is_sent_as_the_name_of_a_clock_is_nobody_s_name(ledger: Ledger) -> None:
    process = behind(ledger)
    await trigger(process, x_schedule_provider=f"cron {TOKEN}", x_attempt_id=TOKEN)
    [row] = await process.rows()
    assert (row["provider"], row["attempt_id"]) == (None, None)
