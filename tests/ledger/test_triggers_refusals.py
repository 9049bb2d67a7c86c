"""Requests that were refused unauthenticated are counted, and cannot fill the file."""

from collections import Counter

import pytest

from pixivflow.ledger import refusals, triggers
from pixivflow.ledger.connection import Db
from pixivflow.ledger.refusals import Refusal
from pixivflow.ledger.triggers import Arrival, End
from pixivflow.scheduling.disposition import Disposition
from tests.fixtures.ledgers import transaction
from tests.fixtures.slots import HOUR, MINUTE, NOW

DAY = 24 * HOUR
BAD, OFF = Disposition.UNAUTHORIZED, Disposition.DISABLED


def refused(provider: str | None = None, at: int = NOW, disposition: Disposition = BAD, route: str = "run") -> Refusal:
    return Refusal(minute_at=at, route=route, disposition=disposition, provider=provider)


def counted(db: Db, found: dict[Refusal, int]) -> None:
    with transaction(db):
        refusals.count(db, found)


def rows(db: Db) -> list[tuple[int, str, str, str | None, int, int]]:
    return db.execute(
        "SELECT received_at, route, disposition, provider, http_status, count FROM trigger_requests ORDER BY id"
    ).fetchall()


def test_what_agrees_in_minute_route_disposition_and_provider_is_one_row(db: Db) -> None:
    counted(db, {refused("cron"): 3, refused(None): 1})
    counted(db, {refused("cron"): 4, refused("cron", route="status"): 1, refused("cron", disposition=OFF): 2})
    counted(db, {refused("cron", NOW + MINUTE): 1, refused(None): 5})
    assert rows(db) == [
        (NOW, "run", "unauthorized", "cron", 401, 7),
        (NOW, "run", "unauthorized", None, 401, 6),
        (NOW, "status", "unauthorized", "cron", 401, 1),
        (NOW, "run", "disabled", "cron", 503, 2),
        (NOW + MINUTE, "run", "unauthorized", "cron", 401, 1),
    ]


def test_a_day_has_no_more_rows_than_that_and_loses_no_count(db: Db) -> None:
    for batch in range(5):
        counted(db, {refused(f"p{batch}-{n}"): 2 for n in range(1_000)})
    counted(db, {refused("late", disposition=OFF): 9})
    found = rows(db)
    assert len(found) <= refusals.ROWS_A_DAY
    assert sum(row[5] for row in found) == 10_009
    assert [row[5] for row in found if row[2] == "disabled"] == [9]


def test_the_newest_row_of_its_kind_takes_what_has_no_row(db: Db) -> None:
    counted(db, {refused("off", disposition=OFF): 1})
    counted(db, {refused(f"p{n}"): 1 for n in range(1_000)})
    full = rows(db)
    counted(db, {refused("one more"): 5, refused("off", NOW + MINUTE, OFF): 3})
    after = rows(db)
    assert len(after) == len(full)
    grown = {before[3]: now[5] - before[5] for before, now in zip(full, after, strict=True) if now != before}
    assert grown == {full[-1][3]: 5, "off": 3}


def test_the_next_day_has_rows_of_its_own(db: Db) -> None:
    midnight = NOW // DAY * DAY + DAY
    counted(db, {refused(f"p{n}"): 1 for n in range(1_100)})
    counted(db, {refused("a", midnight - MINUTE): 1, refused("b", midnight): 1, refused("c", midnight): 1})
    per_day = Counter(row[0] // DAY for row in rows(db))
    assert per_day[midnight // DAY] == 2
    assert sum(row[5] for row in rows(db)) == 1_103


def test_rows_of_requests_that_were_known_are_left_alone(db: Db) -> None:
    with transaction(db):
        triggers.keep(db, Arrival(received_at=NOW), End(disposition=Disposition.NOT_FOUND, http_status=404))
    counted(db, {refused(): 1})
    assert [(row[2], row[5]) for row in rows(db)] == [("not_found", 1), ("unauthorized", 1)]


def test_a_thousand_refusals_cost_one_transaction_that_stays_short(db: Db) -> None:
    """One look at the day and at most two statements a refusal; a look for each of them would be a million steps."""
    counted(db, {refused(f"p{n}"): 1 for n in range(1_000)})
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    db.set_progress_handler(step, 1_000)
    counted(db, {refused(f"q{n}"): 1 for n in range(1_000)})
    db.set_progress_handler(None, 1_000)
    assert steps < 100


@pytest.mark.parametrize("route", ["run", "schedules", "drain", "refetch", "recover", "jobs", "status", "metrics"])
def test_every_route_can_be_counted(db: Db, route: str) -> None:
    counted(db, {refused(route=route): 1})
    assert rows(db)[0][1] == route
