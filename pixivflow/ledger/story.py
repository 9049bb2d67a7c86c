"""What a ledger tells afterwards, for people: its newest slots, the files and the deliveries that came of them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from pixivflow.config.texts import stored_text
from pixivflow.errors import Cause, LedgerLost, LedgerRefused, Unavailable
from pixivflow.ledger.check import look, version_found
from pixivflow.ledger.db import Db
from pixivflow.ledger.hold import Hold
from pixivflow.ledger.lockfile import was_here
from pixivflow.ledger.migrate import shipped
from pixivflow.ledger.owed import count as owed_count
from pixivflow.ledger.reader import read_once
from pixivflow.ledger.translate import translated
from pixivflow.slots.texts import CELL_ERROR_MAX
from pixivflow.times import iso

SLOTS = """
SELECT slot.id, slot.status,
       (SELECT detail FROM delivery_events WHERE slot_id = slot.id AND event = 'execution.summary' LIMIT 1)
FROM schedule_slots AS slot ORDER BY slot.occurrence_at DESC, slot.id LIMIT :at_most
"""

CELLS = """
SELECT target_id, status, work_id, last_error, stored_count FROM schedule_slot_items WHERE slot_id = :slot ORDER BY id
"""

FILES = """
SELECT file_path FROM download_files WHERE state = 'final' ORDER BY updated_at DESC, pixiv_id, page LIMIT :at_most
"""

DELIVERIES = """
SELECT promise.delivery_target, promise.pixiv_id, promise.status, promise.idempotency_key, promise.remote_id,
       COALESCE(line.attempts, 0), COALESCE(promise.last_error, line.last_error),
       CASE WHEN line.status IN ('pending', 'retry_wait') THEN line.next_attempt_at END
FROM deliveries AS promise LEFT JOIN outbox AS line ON line.delivery_id = promise.id
ORDER BY promise.created_at DESC, promise.id LIMIT :at_most
"""

NEWEST = 100


class CellStory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One cell. `work_id` None: it holds many works, or none. `stored_count`: how many new works it has brought."""

    target_id: str
    status: str
    work_id: str | None
    error: str | None
    stored_count: int


class SlotStory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One slot. `business_status` None: its outcome is not known yet."""

    id: str
    status: str
    business_status: str | None
    cells: tuple[CellStory, ...]


class DeliveryStory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One promise to one route. `error`: of the last attempt. `next_attempt_at`: ISO UTC; None: none will come."""

    route: str
    work_id: str
    status: str
    key: str
    remote_id: str | None
    attempts: int
    error: str | None
    next_attempt_at: str | None


class Story(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The newest of everything, newest first. `files`: absolute paths.

    `open_slots`, `owed_rows`: how much is owed in all. `held`: why nothing is searched or delivered, see `hold`.
    """

    held: str | None = None
    open_slots: int
    owed_rows: int
    slots: tuple[SlotStory, ...]
    files: tuple[str, ...]
    deliveries: tuple[DeliveryStory, ...]


def story(path: Path, at_most: int = NEWEST) -> Story | None:
    """Read a ledger that may be in use, and change nothing of it; None where there is none yet.

    Errors: `LedgerRefused` for a file that is not ours, is newer than this program, or cannot be opened; `Unavailable`
    for one that the next start has to bring to this program's schema; `LedgerLost` when it cannot be read.
    """
    newest = shipped()[-1].number
    try:
        version = version_found(path, newest)
        if 0 < version < newest:
            words = f"{path} has schema {version}; the next start of the daemon brings it to {newest}"
            raise Unavailable(words, cause=Cause.LEDGER)
        if version == 0 and was_here(path):
            raise LedgerRefused(
                path, "a ledger has been here, and it is gone or empty: put it back, or start the daemon"
            )
        if version == 0:
            return None
        with closing(look(path, in_use=path.with_name(f"{path.name}-shm").exists())) as db:  # or this would make one
            told: Story = read_once(db, told_by, (at_most,), {})
        return msgspec.structs.replace(told, held=Hold(path).why)
    except (sqlite3.Error, LedgerLost) as error:
        if isinstance(ours := translated(error), Unavailable):
            raise ours from error
        raise LedgerRefused(path, f"it cannot be read: {error.__cause__ or error}") from error


def told_by(db: Db, at_most: int) -> Story:
    """The story in the rows of one snapshot."""
    limit = {"at_most": at_most}
    owed = owed_count(db)
    return Story(
        open_slots=owed.active_slots,
        owed_rows=owed.pending_outbox + owed.processing_outbox,
        slots=tuple(_slot(db, *row) for row in db.execute(SLOTS, limit).fetchall()),
        files=tuple(row[0] for row in db.execute(FILES, limit).fetchall()),
        deliveries=tuple(_delivery(*row) for row in db.execute(DELIVERIES, limit).fetchall()),
    )


def _slot(db: Db, slot_id: str, status: str, detail: str | None) -> SlotStory:
    outcome = json.loads(detail)["outcome"] if detail else {}
    rows = db.execute(CELLS, {"slot": slot_id}).fetchall()
    return SlotStory(
        id=slot_id,
        status=status,
        business_status=outcome.get("business_status"),
        cells=tuple(
            CellStory(
                target_id=row[0],
                status=row[1],
                work_id=row[2],
                error=stored_text(row[3], CELL_ERROR_MAX),
                stored_count=row[4],
            )
            for row in rows
        ),
    )


def _delivery(
    route: str,
    work_id: str,
    status: str,
    key: str,
    remote_id: str | None,
    attempts: int,
    error: str | None,
    next_at: int | None,
) -> DeliveryStory:
    return DeliveryStory(
        route=route,
        work_id=work_id,
        status=status,
        key=key,
        remote_id=remote_id,
        attempts=attempts,
        error=error,
        next_attempt_at=iso(next_at) if next_at is not None else None,
    )
