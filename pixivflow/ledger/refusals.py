"""Requests that were refused before anybody knew who asked: counted, so that strangers buy no fsync and no row each.

One row a minute, route, disposition and provider; at most so many rows a UTC day. Beyond that the day's newest row of
the same disposition takes the count. The first refusal of its kind on a day always has its row; a few are kept for it.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec

from pixivflow.ledger.connection import Db
from pixivflow.scheduling.disposition import ANSWERS, UNAUTHENTICATED, Disposition
from pixivflow.times import DAY_MS

ROWS_A_DAY: Final = 1_000

OF_THE_DAY = """
SELECT id, received_at, route, disposition, provider FROM trigger_requests
WHERE received_at >= :day AND received_at < :day + 86400000 AND disposition IN ('unauthorized', 'disabled')
ORDER BY id
"""

INSERT = """
INSERT INTO trigger_requests (received_at, route, provider, disposition, http_status, count)
VALUES (:minute_at, :route, :provider, :disposition, :http_status, :count)
"""

ADD = "UPDATE trigger_requests SET count = count + :count WHERE id = :id"


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted together. `minute_at`: epoch ms, the start of its minute. `provider`: as cleaned, None if unsaid.

    `disposition`: one of those that are given unauthenticated.
    """

    minute_at: int
    route: str
    disposition: Disposition
    provider: str | None = None


def count(db: Db, refused: Mapping[Refusal, int]) -> None:
    """Add the counts to their rows."""
    for day in sorted({_day_of(each) for each in refused}):
        _count_day(db, day, {each: n for each, n in refused.items() if _day_of(each) == day})


def _count_day(db: Db, day: int, refused: Mapping[Refusal, int]) -> None:
    rows = db.execute(OF_THE_DAY, {"day": day}).fetchall()
    known = {
        Refusal(minute_at=at, route=route, disposition=Disposition(disposition), provider=provider): row
        for row, at, route, disposition, provider in rows
    }
    newest = {each.disposition: row for each, row in known.items()}
    more: Counter[int] = Counter()
    for each, n in refused.items():
        row = known.get(each)
        if row is None and (each.disposition not in newest or len(known) < ROWS_A_DAY - len(UNAUTHENTICATED)):
            row = known[each] = newest[each.disposition] = _insert(db, each)
            n -= 1  # the row stands for one already
        more[row or newest[each.disposition]] += n
    db.executemany(ADD, [{"id": row, "count": n} for row, n in more.items() if n])


def _insert(db: Db, each: Refusal) -> int:
    values = msgspec.structs.asdict(each) | {"http_status": ANSWERS[each.disposition].http_status, "count": 1}
    return db.execute(INSERT, values).lastrowid or 0


def _day_of(each: Refusal) -> int:
    return each.minute_at // DAY_MS * DAY_MS
