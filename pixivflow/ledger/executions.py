"""How often the plans ran and how that went: one row a run that had begun, numbered for each plan."""

from pixivflow.config.texts import stored_text
from pixivflow.ids import ScheduleId
from pixivflow.ledger.connection import Db
from pixivflow.scheduling.admission import PlanFacts
from pixivflow.scheduling.model import Plan
from pixivflow.slots.machine import ExecutionStatus
from pixivflow.slots.texts import EXECUTION_ERROR_MAX
from pixivflow.times import from_utc_text, iso, utc_text

STREAK_MAX = 100
"""How far back failures in a row are counted."""

RECORD = """
INSERT INTO scheduler_executions (execution_number, schedule_id, status, start_time, end_time, duration_ms,
                                  error_message, items_downloaded, created_at)
SELECT COALESCE(MAX(execution_number), 0) + 1, :schedule_id, :status, :start_time, :end_time, :duration_ms,
       :error, :items, :created_at
FROM scheduler_executions WHERE schedule_id = :schedule_id
"""

NUMBER = "SELECT MAX(execution_number) FROM scheduler_executions WHERE schedule_id = ?"

SINCE = """
SELECT COUNT(*) FROM (
  SELECT start_time FROM scheduler_executions WHERE schedule_id = :schedule_id
  ORDER BY execution_number DESC LIMIT :at_most
) WHERE start_time >= :since
"""

NEWEST = """
SELECT status, start_time FROM scheduler_executions WHERE schedule_id = :schedule_id AND status <> 'skipped'
ORDER BY execution_number DESC LIMIT :at_most
"""

LAST_END = """
SELECT MAX(end_time) FROM scheduler_executions WHERE schedule_id = ? AND status <> 'skipped'
"""


def record(
    db: Db,
    schedule_id: ScheduleId,
    status: ExecutionStatus,
    started_at: int,
    now: int,
    *,
    error: str | None = None,
    items: int | None = None,
) -> int:
    """Add the row of a run that ends now, and return its number. `items`: works downloaded, None where not known."""
    db.execute(
        RECORD,
        {
            "schedule_id": schedule_id,
            "status": status,
            "start_time": iso(started_at),
            "end_time": iso(now),
            "duration_ms": max(0, now - started_at),
            "error": stored_text(error, EXECUTION_ERROR_MAX),
            "items": items,
            "created_at": utc_text(now),
        },
    )
    [(number,)] = db.execute(NUMBER, (schedule_id,)).fetchall()
    return int(number)


def facts(db: Db, plan: Plan) -> PlanFacts:
    """How `plan` fared, as far as its guards ask; the executions are counted no further than its own limit."""
    since = iso(plan.armed_at or 0)
    asked = {"schedule_id": plan.id, "since": since, "at_most": plan.max_executions or 0}
    [(executions,)] = db.execute(SINCE, asked).fetchall()
    newest = db.execute(NEWEST, {"schedule_id": plan.id, "at_most": STREAK_MAX}).fetchall()
    streak = failures_in_a_row([status for status, _ in newest])
    return PlanFacts(
        executions=executions,
        failures=streak,
        failures_since_armed=sum(start >= since for _, start in newest[:streak]),
        last_start_at=_instant(newest[0][1]) if newest else None,
    )


def failures_in_a_row(newest_first: list[str]) -> int:
    """How many of the newest runs failed or ran out of time before one did not. The list holds no skipped runs."""
    for n, status in enumerate(newest_first):
        if status not in (ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT):
            return n
    return len(newest_first)


def last_end(db: Db, schedule_id: ScheduleId) -> int | None:
    """When the plan's newest run that counts ended, epoch ms; None before the first. Catch-up alone asks."""
    [(end,)] = db.execute(LAST_END, (schedule_id,)).fetchall()
    return _instant(end)


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else from_utc_text(text)
    except ValueError:
        return None
