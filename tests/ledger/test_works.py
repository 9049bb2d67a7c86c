"""A work brought home: files, promises and cell in one transaction, for the run that holds the slot and nobody else."""

from collections.abc import Sequence

import msgspec
import pytest

from pixivflow.delivery.model import Intent
from pixivflow.errors import Conflict
from pixivflow.ids import RouteName, WorkId
from pixivflow.ledger import artifacts, bindings, deliveries, intents, leases, recording, works
from pixivflow.ledger.artifacts import Filing
from pixivflow.ledger.connection import Db
from pixivflow.ledger.works import Bringing, Place
from pixivflow.slots.model import BoundWork, CellStatus, Confirmed, Live, Lost, WorkType
from pixivflow.slots.ports import NotOurs, Recorded, Seen
from pixivflow.slots.target import Enqueued, Stored
from tests.fixtures.deliveries import an_order, promised
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import (
    ME,
    NOW,
    OTHER,
    OTHER_WORK,
    SLOT,
    WORK,
    A,
    B,
    everything,
    put_intent,
    put_running,
    set_cell,
    the_cell,
)
from tests.fixtures.walks import a_file

C = CellStatus
PLACE = Place(slot_id=SLOT, target_id=A, owner=ME)
R1, R2 = RouteName("r1"), RouteName("r2")
ART = WorkType.ILLUSTRATION


def running(db: Db, *, bound: bool = True) -> None:
    with transaction(db):
        put_running(db)
        if bound:
            bindings.bind(db, SLOT, ME, A, WORK, NOW)


def bringing(work: BoundWork = WORK, routes: Sequence[str] = (), **fields: object) -> Bringing:
    files = (a_file(work.work_id),)
    order = an_order(work.work_id, SLOT, A)
    promises = promised(order, *routes) if routes else ()
    whole = Bringing(filing=Filing(work=work, files=files), promises=promises, report="{}")
    return msgspec.structs.replace(whole, **fields)


def bring(db: Db, what: Bringing, place: Place = PLACE) -> Recorded:
    with transaction(db):
        return works.bring(db, place, what, NOW)


def rows(db: Db) -> tuple[int, int, int]:
    """How many files, intents and outbox rows there are."""
    counts = [db.execute(f"SELECT COUNT(*) FROM {table}").fetchall() for table in ("downloads", "deliveries", "outbox")]
    return counts[0][0][0], counts[1][0][0], counts[2][0][0]


def test_a_work_for_two_routes_is_files_promises_and_cell_at_once(db: Db) -> None:
    running(db)
    assert bring(db, bringing(routes=("r1", "r2"))) is Recorded.ENQUEUED
    assert (rows(db), the_cell(db).status, the_cell(db).candidate_report) == ((1, 2, 2), C.DELIVERY_PENDING, "{}")


def test_a_work_without_a_route_ends_its_cell(db: Db) -> None:
    running(db)
    assert bring(db, bringing()) is Recorded.STORED
    assert (rows(db), the_cell(db).status, the_cell(db).work_id) == ((1, 0, 0), C.SUBMITTED, "101")


def test_nothing_is_kept_of_a_work_whose_promise_is_refused(db: Db) -> None:
    running(db)
    taken = promised(an_order("101", SLOT, A), "r1")
    with transaction(db):
        put_intent(db, "x", "pending", work=OTHER_WORK, route="r1")
        db.execute("UPDATE deliveries SET idempotency_key = ?", (taken[0].idempotency_key,))
    before = everything(db)
    with pytest.raises(Conflict):
        bring(db, bringing(promises=taken))
    assert (everything(db), artifacts.recorded(db, WORK)) == (before, ())


@pytest.mark.parametrize("gone", ["taken over", "released", "ended"])
def test_a_run_that_does_not_hold_its_slot_records_nothing(db: Db, gone: str) -> None:
    running(db)
    with transaction(db):
        match gone:
            case "taken over":
                leases.claim(db, SLOT, OTHER, NOW + 180_000)
            case "released":
                leases.release(db, SLOT, ME)
            case _:
                db.execute("UPDATE schedule_slots SET status = 'failed'")
    before = everything(db)
    for write in (
        lambda: works.bring(db, PLACE, bringing(routes=("r1",)), NOW),
        lambda: works.bind(db, PLACE, WORK, NOW),
        lambda: works.release(db, PLACE, WORK, NOW),
        lambda: works.apply(db, PLACE, Stored(work=WORK), 3, NOW),
    ):
        with pytest.raises(NotOurs), transaction(db):
            write()
    assert (everything(db), rows(db)) == (before, (0, 0, 0))


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param({"work_id": "202"}, id="it holds another work"),
        pytest.param({"work_id": None, "status": "pending"}, id="it holds none any more"),
        pytest.param({"status": "failed"}, id="it has ended"),
    ],
)
def test_a_cell_that_is_not_the_works_any_more_takes_nothing(db: Db, cell: dict[str, object]) -> None:
    running(db)
    set_cell(db, SLOT, "a", **cell)
    before = everything(db)
    with pytest.raises(NotOurs):
        bring(db, bringing(routes=("r1",)))
    assert (everything(db), rows(db)) == (before, (0, 0, 0))


def test_a_work_that_every_route_has_frees_a_cell_that_just_chose_it(db: Db) -> None:
    running(db)
    put_intent(db, "x", "delivered", "done")
    assert bring(db, bringing(routes=("r1",))) is Recorded.DUPLICATE
    assert (the_cell(db).status, the_cell(db).work_id) == (C.PENDING, None)
    assert rows(db) == (1, 1, 1)


def test_a_work_that_every_route_has_ends_a_cell_that_held_it_before(db: Db) -> None:
    running(db)
    put_intent(db, "x", "delivered", "done")
    assert bring(db, bringing(routes=("r1",), resumed=True)) is Recorded.DUPLICATE
    assert (the_cell(db).status, the_cell(db).work_id, the_cell(db).reason_code) == (
        C.DUPLICATE,
        "101",
        "duplicate_exhausted",
    )


def test_a_work_that_one_route_lacks_is_promised_to_that_route(db: Db) -> None:
    running(db)
    put_intent(db, "x", "delivered", "done", route="r1")
    assert bring(db, bringing(routes=("r1", "r2"))) is Recorded.ENQUEUED
    assert the_cell(db).status is C.DELIVERY_PENDING


def test_a_cell_of_many_counts_its_new_works_and_stays_as_it_is(db: Db) -> None:
    running(db, bound=False)
    assert bring(db, bringing(WORK, binds=False)) is Recorded.STORED
    assert bring(db, bringing(WORK, binds=False)) is Recorded.DUPLICATE
    assert bring(db, bringing(OTHER_WORK, binds=False)) is Recorded.STORED
    cell = the_cell(db)
    assert (cell.status, cell.work_id, cell.stored_count) == (C.PENDING, None, 2)


# --- what is new ---


def test_what_was_stored_promised_or_taken_by_a_sibling_is_not_new(db: Db) -> None:
    running(db, bound=False)
    ids = [BoundWork(work_id=WorkId(str(number)), work_type=ART) for number in range(1, 6)]
    with transaction(db):
        artifacts.file(db, Filing(work=ids[0], files=(a_file("1"),)), NOW)
        put_intent(db, "x", "pending", work=ids[1])
        bindings.bind(db, SLOT, ME, B, ids[2], NOW)
        bindings.bind(db, SLOT, ME, A, ids[3], NOW)
    seen = works.seen(db, SLOT, A, (R1,), ids)
    assert seen == Seen(stored=frozenset({WorkId("1")}), served=frozenset({WorkId("2"), WorkId("3")}))


def test_a_work_that_one_of_two_routes_lacks_is_new(db: Db) -> None:
    running(db, bound=False)
    put_intent(db, "x", "delivered", "done", route="r1")
    assert works.seen(db, SLOT, A, (R1, R2), [WORK]) == Seen()
    put_intent(db, "y", "delivered", "done", route="r2")
    assert works.seen(db, SLOT, A, (R1, R2), [WORK]).served == {"101"}


def test_a_target_without_a_route_has_nothing_served(db: Db) -> None:
    running(db, bound=False)
    put_intent(db, "x", "delivered", "done")
    assert works.seen(db, SLOT, A, (), [WORK]) == Seen()
    assert not works.delivered(db, (), WORK)


def test_a_promise_of_its_own_is_no_delivery_yet(db: Db) -> None:
    running(db)
    put_intent(db, "a", "pending")
    assert not works.delivered(db, (R1,), WORK)
    put_intent(db, "x", "duplicate", "done")
    assert works.delivered(db, (R1,), WORK)


# --- a cell of many, and its ACKs ---


def two_promised(db: Db) -> None:
    running(db, bound=False)
    bring(db, bringing(WORK, routes=("r1",), binds=False))
    bring(db, bringing(OTHER_WORK, routes=("r1",), binds=False))


def confirm(db: Db, work: BoundWork, status: str = "delivered", row: str = "done") -> None:
    with transaction(db):
        db.execute(
            "UPDATE outbox SET status = ? WHERE delivery_id IN (SELECT id FROM deliveries WHERE pixiv_id = ?)",
            (row, work.work_id),
        )
        db.execute("UPDATE deliveries SET status = ? WHERE pixiv_id = ?", (status, work.work_id))
        (intent,) = [each for each in _intents(db) if each.work_id == work.work_id]
        recording.settle(db, intent, NOW)


def _intents(db: Db) -> list[Intent]:
    ids = [each for (each,) in db.execute("SELECT id FROM deliveries").fetchall()]
    return [found for each in ids if (found := intents.read(db, each)) is not None]


def finished(db: Db) -> None:
    with transaction(db):
        works.apply(db, PLACE, Enqueued(), 3, NOW)


def test_an_ack_that_comes_while_more_works_are_brought_does_not_end_the_cell(db: Db) -> None:
    running(db, bound=False)
    bring(db, bringing(WORK, routes=("r1",), binds=False))
    confirm(db, WORK)
    assert (the_cell(db).status, the_cell(db).work_id) == (C.PENDING, None)


def test_a_cell_of_many_waits_for_every_work_and_names_none(db: Db) -> None:
    two_promised(db)
    finished(db)
    assert the_cell(db).status is C.DELIVERY_PENDING
    confirm(db, WORK)
    assert the_cell(db).status is C.DELIVERY_PENDING
    assert isinstance(deliveries.downstream(db, SLOT, A), Live)
    confirm(db, OTHER_WORK)
    assert (the_cell(db).status, the_cell(db).work_id) == (C.SUBMITTED, None)
    assert isinstance(deliveries.downstream(db, SLOT, A), Confirmed)


def test_acks_that_all_came_before_the_last_work_settle_the_cell_when_its_turn_ends(db: Db) -> None:
    two_promised(db)
    confirm(db, WORK)
    confirm(db, OTHER_WORK)
    finished(db)
    assert (the_cell(db).status, the_cell(db).work_id) == (C.SUBMITTED, None)


def test_a_cell_of_many_that_lost_one_work_has_failed_and_says_where(db: Db) -> None:
    two_promised(db)
    finished(db)
    confirm(db, WORK)
    confirm(db, OTHER_WORK, "failed", "dead")
    assert (the_cell(db).status, the_cell(db).reason_code) == (C.FAILED, "delivery_failed")
    assert isinstance(deliveries.downstream(db, SLOT, A), Lost)
    assert "r1" in (the_cell(db).last_error or "")


def test_one_work_that_every_receiver_had_before_does_not_make_a_duplicate_of_the_cell(db: Db) -> None:
    two_promised(db)
    finished(db)
    confirm(db, WORK, "duplicate")
    confirm(db, OTHER_WORK)
    assert the_cell(db).status is C.SUBMITTED
