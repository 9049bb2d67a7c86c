"""A row is a fact, a message is a hint: what is due is found by looking, so a lost message never leaves it lying.

Judged over the file as a life left it, after every process had its polls: whatever is due there was overlooked.
"""

from tests.promises.evidence import NEWEST, Evidence, rows

OVERLOOKED = {
    "slot {} waits and no run holds it": f"""SELECT id FROM schedule_slots s WHERE status IN ('pending', 'running')
        AND (lease_until IS NULL OR lease_until <= {NEWEST})
        AND EXISTS (SELECT 1 FROM schedule_slot_items c WHERE c.slot_id = s.id
                    AND c.status IN ('pending', 'selected'))""",
    "slot {} is decided in all its cells and nobody has rolled it up": """SELECT id FROM schedule_slots s
        WHERE status IN ('pending', 'running') AND NOT EXISTS (SELECT 1 FROM schedule_slot_items c
            WHERE c.slot_id = s.id AND c.status IN ('pending', 'selected', 'artifact_ready', 'delivery_pending'))""",
    "outbox row {} is due and nobody has claimed it": f"""SELECT id FROM outbox
        WHERE status IN ('pending', 'retry_wait') AND next_attempt_at <= {NEWEST}""",
    "outbox row {} was claimed by somebody who is gone": f"""SELECT id FROM outbox
        WHERE status = 'processing' AND lease_until <= {NEWEST}""",
}


def judge(evidence: Evidence) -> list[str]:
    """Work that lies due in the file."""
    return [sentence.format(row["id"]) for sentence, sql in OVERLOOKED.items() for row in rows(evidence.ledger, sql)]
