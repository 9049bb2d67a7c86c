"""Whatever an error says, the file that the rows stand in holds no credential; and every row stays one line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from actors.kit.cancel import CancelOrigin, Crashed, Ended
from actors.kit.testing import VirtualClock
from pixivflow.ledger import bindings, cells, runs, slots, story
from pixivflow.ledger.adhoc import AdHocCells
from pixivflow.ledger.connection import Db
from pixivflow.ledger.interface import Ledger
from pixivflow.scheduling.model import Plan
from pixivflow.scheduling.occurrence import occurrence_of
from pixivflow.slots.machine import Role
from pixivflow.slots.model import CellChange, ReasonCode
from pixivflow.slots.opening import slot_for
from pixivflow.slots.ports import Skip, SkipCode
from pixivflow.slots.setbacks import told
from pixivflow.slots.tally import Tally
from pixivflow.slots.target import NoCandidate, TargetFailed
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import ME, NOW, SLOT, WORK, A, a_cell, a_plan, a_run, put_running, set_cell

PLANTED = "Planted-s3cret_0123"
BUG = KeyError(f"https://me:{PLANTED}@h/x?token={PLANTED}\r\nCookie: sid={PLANTED}\x1b[31m")


def a_report() -> str:
    return Tally(skips=[Skip(code=SkipCode.UNAVAILABLE, work_id=WORK.work_id, reason=told(BUG))]).report()


def fails(db: Db) -> None:
    outcome = TargetFailed(error=told(BUG), retryable=True, report=a_report())
    bindings.apply_outcome(db, SLOT, ME, A, outcome, 3, NOW)


def looks_again(db: Db) -> None:
    bindings.apply_outcome(db, SLOT, ME, A, NoCandidate(text=told(BUG)), 3, NOW)


def gets_a_verdict(db: Db) -> None:
    change = CellChange(target_id=A, to=None, error=told(BUG), message=told(BUG), reason=ReasonCode.INTERNAL_ERROR)
    assert cells.change(db, SLOT, change, Role.RUN, NOW, owner=ME)


def crashes(db: Db) -> None:
    runs.finish(db, a_run(), Crashed(BUG), NOW)


def is_given_up(db: Db) -> None:
    runs.abandon(db, a_run(), Ended(CancelOrigin.TIMEOUT, told(BUG)), NOW)


def is_opened_with_a_name(db: Db) -> None:
    plan: Plan = a_plan(cron="0 11 * * *", timezone="Asia/Shanghai")
    slots.open_slot(db, slot_for(occurrence_of(plan, NOW + 3_600_000), [A], "http", f"token={PLANTED}\nfor me"), NOW)


@pytest.mark.parametrize("happens", [fails, looks_again, gets_a_verdict, crashes, is_given_up, is_opened_with_a_name])
def test_no_secret_of_an_error_reaches_the_file(db: Db, ledger_path: Path, happens: Callable[[Db], None]) -> None:
    with transaction(db):
        put_running(db)
    with transaction(db):
        happens(db)
    found = db.execute(
        "SELECT last_error FROM schedule_slot_items UNION ALL SELECT last_error FROM schedule_slots"
        " UNION ALL SELECT error_message FROM scheduler_executions UNION ALL SELECT slot_name FROM schedule_slots"
    ).fetchall()
    assert any("***" in text for (text,) in found if text)
    assert not any(sign in text for (text,) in found if text for sign in "\r\n\x1b")
    assert [path.name for path in ledger_path.parent.iterdir() if PLANTED.encode() in path.read_bytes()] == []


def test_a_row_that_an_earlier_program_wrote_is_told_without_its_secret(db: Db) -> None:
    put_running(db)
    set_cell(db, SLOT, "a", last_error=str(BUG))
    assert PLANTED not in f"{story.told_by(db, 10)}"


async def test_a_download_by_hand_fails_without_a_secret(ledger: Ledger) -> None:
    cells = AdHocCells(ledger, VirtualClock(), SLOT, [a_cell()])
    cell = await cells.apply(A, TargetFailed(error=told(BUG), retryable=False))
    assert cell is not None
    assert PLANTED not in (cell.last_error or PLANTED)
