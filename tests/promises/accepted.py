"""Accepted means kept: once a client has read the acceptance, slot and cells are in the ledger, whatever dies."""

import json

from tests.promises.evidence import Evidence, Snapshot


def judge(evidence: Evidence) -> list[str]:
    """An accepted slot that a later look does not find, or finds without the cells it was accepted with."""
    faults: list[str] = []
    for look in evidence.snapshots:
        for acceptance in evidence.acceptances:
            if acceptance.at <= look.at:
                faults += _missing(look, acceptance.slot)
    return sorted(set(faults))


def _missing(look: Snapshot, slot: str) -> list[str]:
    row = look["schedule_slots"].get(slot)
    if row is None:
        return [f"slot {slot} was accepted and has no row"]
    targets = json.loads(row["target_ids"] or "[]")
    absent = [target for target in targets if f"{slot}/{target}" not in look["schedule_slot_items"]]
    return [f"slot {slot} was accepted with target {target} and has no cell for it" for target in absent]
