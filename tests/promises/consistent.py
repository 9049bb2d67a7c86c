"""The file is sound and its rows agree with each other, after every commit: each fault is one question to the file.

A question asks for the rows that break a rule; its name ends the sentence that begins with the row's identity.
"""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from tests.promises.evidence import NEWEST, Evidence, rows

LEASE_MS = 180_000
RETRY_MAX_MS = 21_600_000

CELLS = "(SELECT count(*) FROM schedule_slot_items c WHERE c.slot_id = s.id"
OPEN_CELL = "('pending', 'selected', 'artifact_ready', 'delivery_pending')"
OPEN = f"{CELLS} AND c.status IN {OPEN_CELL})"
UNSELECTED = f"{CELLS} AND c.status IN ('pending', 'selected'))"
SUBMITTED = f"{CELLS} AND c.status = 'submitted')"
OUTCOMES = "(SELECT count(*) FROM delivery_events e WHERE e.event = 'execution.summary' AND e.slot_id = s.id)"
OWED_ROW = """EXISTS (SELECT 1 FROM outbox o WHERE o.delivery_id = d.id
                      AND o.status IN ('pending', 'processing', 'retry_wait'))"""

SLOTS: Mapping[str, str] = {
    "has half a lease": "(lease_owner IS NULL) <> (lease_until IS NULL)",
    "has ended and still holds a lease that was alive then": f"""status IN ('success', 'partial', 'failed')
        AND lease_until > {OUTCOMES.replace("count(*)", "max(ts)")}""",
    "is `pending` and was started": "status = 'pending' AND started_at IS NOT NULL",
    "is `running` and was never started": "status = 'running' AND started_at IS NULL",
    "has ended without an instant": "status IN ('success', 'partial', 'failed') AND completed_at IS NULL",
    "has not ended and bears the instant of its end": f"""completed_at IS NOT NULL
        AND (status = 'pending' OR (status = 'running' AND {OUTCOMES} = 0))""",
    "holds a lease that ends too late": f"lease_until > heartbeat_at + {LEASE_MS}",
    "was never given a legal name": "id = '' OR schedule_id = '' OR manual_request_id = ''",
    "has more than one outcome": f"{OUTCOMES} > 1",
    "was reported without an outcome": f"reported_at IS NOT NULL AND {OUTCOMES} = 0 AND {OPEN} = 0",
    "was never run and has an outcome": f"status = 'pending' AND {OUTCOMES} > 0",
    "has ended over cells that nobody decided": f"status IN ('success', 'partial', 'failed') AND {UNSELECTED} > 0",
    "is `success` over other cells": f"status = 'success' AND ({SUBMITTED} = 0 OR {SUBMITTED} < {CELLS}))",
    "is `partial` over other cells": f"status = 'partial' AND ({OPEN} > 0 OR {SUBMITTED} IN (0, {CELLS})))",
    "is `failed` over published cells alone": f"status = 'failed' AND {SUBMITTED} > 0 AND {SUBMITTED} = {CELLS})",
}
CELL_RULES: Mapping[str, str] = {
    "is final without an instant": f"status NOT IN {OPEN_CELL} AND completed_at IS NULL",
    "is open and bears the instant of its end": f"status IN {OPEN_CELL} AND completed_at IS NOT NULL",
    "was promised or published without a work": """status IN ('artifact_ready', 'delivery_pending', 'submitted')
        AND work_id IS NULL AND stored_count = 0""",
    "is published and bears a reason for failing": "status = 'submitted' AND terminal_reason_code IS NOT NULL",
    "is without a slot": "NOT EXISTS (SELECT 1 FROM schedule_slots s WHERE s.id = c.slot_id)",
    "waits for a delivery that nobody owes": """status = 'delivery_pending'
        AND EXISTS (SELECT 1 FROM deliveries d WHERE d.slot_id = c.slot_id AND d.target_id = c.target_id)
        AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.slot_id = c.slot_id AND d.target_id = c.target_id
                        AND d.status = 'pending')""",
    "has intents for another work": """EXISTS (SELECT 1 FROM deliveries d WHERE d.slot_id = c.slot_id
        AND d.target_id = c.target_id AND d.pixiv_id IS NOT c.work_id)""",
}
INTENTS: Mapping[str, str] = {
    "is `pending` and nobody will send it": f"status = 'pending' AND NOT {OWED_ROW}",
    "is `failed` and would still be sent": f"status = 'failed' AND {OWED_ROW}",
    "is confirmed without an instant": "status IN ('delivered', 'duplicate') AND delivered_at IS NULL",
    "has not exactly one outbox row": "(SELECT count(*) FROM outbox o WHERE o.delivery_id = d.id) <> 1",
    "was given another key than its row": """EXISTS (SELECT 1 FROM outbox o WHERE o.delivery_id = d.id
        AND (o.idempotency_key <> 'outbox:' || d.idempotency_key OR o.delivery_target <> d.delivery_target))""",
}
OUTBOX: Mapping[str, str] = {
    "is `processing` without a whole lease": "status = 'processing' AND (lease_owner IS NULL OR lease_until IS NULL)",
    "holds a lease and is not `processing`": "status <> 'processing' AND lease_owner IS NOT NULL",
    "is leased or put off for too long": f"""(status = 'processing' AND lease_until > {NEWEST} + {LEASE_MS})
        OR (status = 'retry_wait' AND next_attempt_at > {NEWEST} + {RETRY_MAX_MS})""",
    "is `done` without an instant": "status IN ('done', 'cancelled') AND completed_at IS NULL",
    "is owed and bears the instant of its end": """status IN ('pending', 'processing', 'retry_wait')
        AND completed_at IS NOT NULL""",
    "is owed though its attempts are spent": "status IN ('pending', 'retry_wait') AND attempts >= max_attempts",
    "is `done` twice or more": """(SELECT count(*) FROM delivery_events e WHERE e.outbox_id = r.id
        AND e.event = 'outbox.delivered') > 1""",
    "is `done` over an intent that is not confirmed": """status = 'done' AND kind = 'delivery' AND EXISTS (
        SELECT 1 FROM deliveries d WHERE d.id = r.delivery_id AND d.status = 'pending')""",
    "is `dead` over an intent that is not failed": """status = 'dead' AND kind = 'delivery' AND EXISTS (
        SELECT 1 FROM deliveries d WHERE d.id = r.delivery_id AND d.status = 'pending')""",
}
EXECUTIONS: Mapping[str, str] = {
    "repeats a number of its schedule": """EXISTS (SELECT 1 FROM scheduler_executions o
        WHERE o.schedule_id = x.schedule_id AND o.execution_number = x.execution_number AND o.id <> x.id)""",
    "skips a number of its schedule": """execution_number > 1 AND NOT EXISTS (SELECT 1 FROM scheduler_executions o
        WHERE o.schedule_id = x.schedule_id AND o.execution_number = x.execution_number - 1)""",
}

TABLES: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "slot": ("schedule_slots s", "id", SLOTS),
    "cell": ("schedule_slot_items c", "slot_id || '/' || target_id", CELL_RULES),
    "intent": ("deliveries d", "idempotency_key", INTENTS),
    "outbox row": ("outbox r", "id", OUTBOX),
    "execution": ("scheduler_executions x", "id", EXECUTIONS),
}


def judge(evidence: Evidence) -> list[str]:
    """Pages that SQLite finds damaged, references into nothing, and rows that break a rule."""
    damage = _damage(evidence.ledger)
    if damage:
        return damage
    loose = rows(evidence.ledger, "PRAGMA foreign_key_check")
    return [
        *(f"a row of {row['table']} points at no row of {row['parent']}" for row in loose),
        *(
            f"{name} {row['id']} {sentence}"
            for name, (table, identity, questions) in TABLES.items()
            for sentence, condition in questions.items()
            for row in rows(evidence.ledger, f"SELECT {identity} AS id FROM {table} WHERE {condition}")
        ),
    ]


def _damage(ledger: Path) -> list[str]:
    try:
        found = [row["integrity_check"] for row in rows(ledger, "PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        found = [str(error)]
    return [f"the file is damaged: {text}" for text in found if text != "ok"]
