"""What holds a daemon awake."""

from dataclasses import fields

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.ports import Busy, Owed, Run
from actors.runs import LiveRun
from pixivflow.ledger import owed
from pixivflow.ledger.connection import Db
from pixivflow.ledger.ledger import Ledger
from pixivflow.ledger.owed import OwedLedger
from tests.fixtures.ledgers import Gate, transaction
from tests.fixtures.slots import HOUR, ME, NOW, SLOT, put_intent, put_running, put_slot, set_lease, set_slot

WAITING = LiveRun(Busy("s", "p", "l"))
BEGUN = LiveRun(Busy("s", "p", "l"), run=Run("s", "me", 0))


@pytest.mark.case("slots", 81)
@pytest.mark.parametrize("counter", [each.name for each in fields(Owed)])
async def test_each_of_the_five_counters_holds_the_daemon_awake(ledger: Ledger, counter: str) -> None:
    def put(db: Db) -> None:
        match counter:
            case "active_slots":
                put_running(db)
            case "processing_outbox":
                put_intent(db, row="processing")
            case "pending_outbox":
                put_intent(db, row="retry_wait")

    await ledger.write(put)
    live = {"active_executions": [BEGUN], "waiting_for_resource": [WAITING]}.get(counter, [])
    found = await OwedLedger(ledger, lambda: live).last_word()
    assert found.counters() == Owed().counters() | {counter: 1}
    assert found


async def test_nothing_owed_is_nothing(ledger: Ledger) -> None:
    assert not await OwedLedger(ledger, lambda: ()).last_word()


def test_a_slot_counts_whether_somebody_has_it_or_not(db: Db) -> None:
    with transaction(db):
        put_slot(db)
        assert owed.count(db).active_slots == 1
        set_slot(db, SLOT, status="running")
        set_lease(db, SLOT, ME, NOW + HOUR)
        assert owed.count(db).active_slots == 1
        for ended in ("success", "partial", "failed", "expired"):
            set_slot(db, SLOT, status=ended)
            assert not owed.count(db)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("pending", Owed(pending_outbox=1)),
        ("retry_wait", Owed(pending_outbox=1)),
        ("processing", Owed(processing_outbox=1)),
        ("done", Owed()),
        ("dead", Owed()),
        ("cancelled", Owed()),
    ],
)
def test_a_delivery_counts_while_somebody_will_attempt_it(db: Db, row: str, expected: Owed) -> None:
    with transaction(db):
        put_intent(db, row=row)
        assert owed.count(db) == expected


async def test_the_last_word_is_spoken_after_everything_that_was_accepted_before(ledger: Ledger) -> None:
    gate, found = Gate(), list[Owed]()
    owing = OwedLedger(ledger, lambda: ())

    async def accept() -> None:
        await ledger.write(lambda db: put_slot(db) and None)

    async def look() -> None:
        found.append(await owing.last_word())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ledger.write, gate.hold)
        await gate.entered()
        nursery.start_soon(accept)
        await wait_all_tasks_blocked()
        nursery.start_soon(look)
        await wait_all_tasks_blocked()
        gate.let_go()
    assert found == [Owed(active_slots=1)]


def test_the_count_reads_indexes_that_hold_nothing_that_has_ended(db: Db) -> None:
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {owed.COUNT}").fetchall()]
    scanned = [step for step in plan if step.startswith(("SCAN schedule_slots", "SCAN outbox", "SEARCH"))]
    assert len(scanned) == 3, plan
    assert all("INDEX idx_" in step for step in scanned), plan
