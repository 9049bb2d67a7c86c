"""All promises over one life."""

from collections.abc import Mapping

from tests.promises import accepted, consistent, hints, kept, liveness, moves, once, origins, parts, secrets
from tests.promises.evidence import Evidence, Judge

JUDGES: Mapping[str, Judge] = {
    "accepted means kept": accepted.judge,
    "nothing doubled": once.judge,
    "nothing lost": kept.judge,
    "legal moves only": moves.judge,
    "a timeout ends a slot, a shutdown never does": origins.judge,
    "a live run is never swept, a dead one always is": liveness.judge,
    "hints are only hints": hints.judge,
    "no secret anywhere": secrets.judge,
    "files are whole or not at all": parts.judge,
    "the ledger is consistent": consistent.judge,
}


def verdict(evidence: Evidence) -> list[str]:
    """Every violation of every promise, the promise named first."""
    return [f"{promise}: {fault}" for promise, judge in JUDGES.items() for fault in judge(evidence)]
