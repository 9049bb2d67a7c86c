"""What a ledger tells afterwards, for people: its newest slots, the files and the deliveries that came of them."""

import json
from pathlib import Path

import msgspec

from pixivflow.config.texts import stored_text
from pixivflow.ledger.connection import BUSY_TIMEOUT_MS
from pixivflow.ledger.db import Db
from pixivflow.ledger.owed import count as owed_count
from pixivflow.ledger.reader import connect_reader, read_once
from pixivflow.slots.texts import CELL_ERROR_MAX

SLOTS = """
SELECT slot.id, slot.status,
       (SELECT detail FROM delivery_events WHERE slot_id = slot.id AND event = 'execution.summary' LIMIT 1)
FROM schedule_slots AS slot ORDER BY slot.occurrence_at DESC, slot.id LIMIT :at_most
"""

CELLS = """
SELECT target_id, status, work_id, last_error FROM schedule_slot_items WHERE slot_id = :slot ORDER BY id
"""

FILES = """
SELECT file_path FROM download_files WHERE state = 'final' ORDER BY updated_at DESC, pixiv_id, page LIMIT :at_most
"""

DELIVERIES = """
SELECT delivery_target, pixiv_id, status, idempotency_key, remote_id FROM deliveries
ORDER BY created_at DESC, id LIMIT :at_most
"""

NEWEST = 100


class CellStory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One cell. `work_id` None: it holds many works, or none."""

    target_id: str
    status: str
    work_id: str | None
    error: str | None


class SlotStory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One slot. `business_status` None: its outcome is not known yet."""

    id: str
    status: str
    business_status: str | None
    cells: tuple[CellStory, ...]


class DeliveryStory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One promise to one route."""

    route: str
    work_id: str
    status: str
    key: str
    remote_id: str | None


class Story(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The newest of everything, newest first. `files`: absolute paths.

    `open_slots`, `owed_rows`: how much is owed in all.
    """

    open_slots: int
    owed_rows: int
    slots: tuple[SlotStory, ...]
    files: tuple[str, ...]
    deliveries: tuple[DeliveryStory, ...]


def story(path: Path, at_most: int = NEWEST) -> Story:
    """Read a ledger that may be in use. Errors: `Unavailable`, `LedgerLost` when it cannot be read."""
    db = connect_reader(path, BUSY_TIMEOUT_MS)
    try:
        told: Story = read_once(db, told_by, (at_most,), {})
        return told
    finally:
        db.close()


def told_by(db: Db, at_most: int) -> Story:
    """The story in the rows of one snapshot."""
    limit = {"at_most": at_most}
    owed = owed_count(db)
    return Story(
        open_slots=owed.active_slots,
        owed_rows=owed.pending_outbox + owed.processing_outbox,
        slots=tuple(_slot(db, *row) for row in db.execute(SLOTS, limit).fetchall()),
        files=tuple(row[0] for row in db.execute(FILES, limit).fetchall()),
        deliveries=tuple(
            DeliveryStory(route=row[0], work_id=row[1], status=row[2], key=row[3], remote_id=row[4])
            for row in db.execute(DELIVERIES, limit).fetchall()
        ),
    )


def _slot(db: Db, slot_id: str, status: str, detail: str | None) -> SlotStory:
    outcome = json.loads(detail)["outcome"] if detail else {}
    rows = db.execute(CELLS, {"slot": slot_id}).fetchall()
    return SlotStory(
        id=slot_id,
        status=status,
        business_status=outcome.get("business_status"),
        cells=tuple(
            CellStory(target_id=row[0], status=row[1], work_id=row[2], error=stored_text(row[3], CELL_ERROR_MAX))
            for row in rows
        ),
    )
