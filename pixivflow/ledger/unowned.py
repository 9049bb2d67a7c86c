"""The slots that have not ended and that nobody owns, page by page, oldest occurrence first.

A page is a bounded read, and whoever looks for something goes on from page to page until it has found enough: slots
that only wait for their ACK may be very many, and would else stand before everything that needs something.
"""

import json
from collections.abc import Collection
from typing import Final

import msgspec

from pixivflow.ledger.connection import Db
from pixivflow.ledger.slots import COLUMNS, slot_of
from pixivflow.slots.model import Slot
from pixivflow.times import utc_text

PAGE: Final = 50
"""How many slots one read looks at: each costs a few tenths of a millisecond, and other reads wait meanwhile."""

# The partial index is used only where its condition is repeated word by word, and holds the rowid behind the instant.
DATED: Final = f"""
SELECT rowid, {COLUMNS} FROM schedule_slots
WHERE status IN ('pending', 'running') AND (lease_until IS NULL OR lease_until <= :now)
  AND id NOT IN (SELECT value FROM json_each(:not_in))
  AND (occurrence_at, rowid) > (:at, :row)
  AND {{rule}}
ORDER BY occurrence_at, rowid LIMIT :at_most
"""  # noqa: S608 - the columns are a constant

UNDATED: Final = DATED.replace("(occurrence_at, rowid) > (:at, :row)", "occurrence_at IS NULL AND rowid > :row")

ANY: Final = "TRUE"

QUEUED: Final = "status = 'pending' AND created_at <= :cutoff_text"

STALLED: Final = """status = 'running'
  AND CASE WHEN heartbeat_at IS NULL THEN COALESCE(started_at, created_at) <= :cutoff_text
           ELSE heartbeat_at <= :cutoff END"""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Behind the slot of row `row`, whose occurrence is `at` (epoch ms); None: among those that have none, the last."""

    at: int | None
    row: int


START: Final = Place(at=-(2**63), row=0)


class Page(msgspec.Struct, frozen=True):
    """Some slots, and where the next page begins; None: there is none."""

    slots: tuple[Slot, ...]
    end: Place | None


def page(
    db: Db, rule: str, now: int, not_in: Collection[str], after: Place, limit: int = PAGE, cutoff: int = 0
) -> Page:
    """Up to `limit` slots behind `after` to which `rule` applies, without those of `not_in`."""
    asked = {"now": now, "not_in": json.dumps(sorted(not_in)), "cutoff": cutoff, "cutoff_text": utc_text(cutoff)}
    rows = []
    if after.at is not None:
        place = {"at": after.at, "row": after.row, "at_most": limit}
        rows = db.execute(DATED.format(rule=rule), asked | place).fetchall()
        after = Place(at=None, row=0)
    if len(rows) < limit:
        place = {"row": after.row, "at_most": limit - len(rows)}
        rows += db.execute(UNDATED.format(rule=rule), asked | place).fetchall()
    found = tuple(slot_of(row[1:]) for row in rows)
    end = Place(at=found[-1].occurrence_at, row=rows[-1][0]) if len(rows) == limit else None
    return Page(found, end)
