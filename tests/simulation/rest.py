"""What the daemon's own passes make of a ledger when nobody asks for anything any more and time goes by.

    each round, a while later: recover ─> sweep ─> reconcile ─> drain

Every function here is the program's; only what a receiver answers and whether the plans still exist is a mood. What is
left unfinished at the end nobody would ever have finished.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from actors.kit import Finished
from actors.ports import Admitted, Course, Run
from pixivflow.delivery.model import Accepted, Ack, PermanentFailure, RetryableFailure
from pixivflow.ids import Owner, RouteName, ScheduleId, SlotId
from pixivflow.ledger import outbox, recording, runs, sweeps
from pixivflow.ledger.connection import Db
from pixivflow.scheduling.model import Governance, Plan
from pixivflow.slots.model import Work
from pixivflow.slots.stall import Budgets
from pixivflow.times import PRODUCTION

MINUTE_MS: Final = 60_000
WAITS_MS: Final = (MINUTE_MS, 3 * MINUTE_MS, 31 * MINUTE_MS, *(7 * 60 * MINUTE_MS,) * 4)
"""From round to round: beyond a lease, beyond the budgets of the sweep, and as often beyond the longest retry wait as a
row of these tests has attempts."""

FAR_AHEAD: Final = 10**15
"""An instant, epoch ms, that no rest reaches."""

WORKER: Final = Owner("worker-9-00000009")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mood:
    """What the outside is like while the ledger comes to rest."""

    answer: Callable[[], Ack] = Accepted
    plans: Mapping[ScheduleId, Plan] = field(default_factory=dict)


def moods(plans: Mapping[ScheduleId, Plan]) -> dict[str, Mood]:
    """A kind outside, one that refuses everything, and one where the plans are gone and no receiver answers."""
    return {
        "kind": Mood(plans=plans),
        "refusing": Mood(plans=plans, answer=lambda: PermanentFailure(error="no", http_status=400)),
        "gone": Mood(answer=lambda: RetryableFailure(error="nobody there", answer_unknown=True)),
    }


def come_to_rest(db: Db, now: int, mood: Mood) -> int:
    """Let time go by from `now` on; the instant at which it was over. Call it inside a transaction."""
    owners = (Owner(f"run-9-{n:08x}") for n in itertools.count())
    for wait_ms in WAITS_MS:
        now += wait_ms
        cared_for = frozenset(_recover(db, now, mood, owners))
        for slot in sweeps.stalled(db, now, Budgets(), cared_for):
            sweeps.end_stalled(db, slot.id, Budgets(), now)
        _drain(db, now, mood)
    return now


def _recover(db: Db, now: int, mood: Mood, owners: Iterator[Owner]) -> Iterator[str]:
    for found in sweeps.courses(db, now, (), 100):
        slot, owner = SlotId(found.slot), next(owners)
        match found.course:
            case Course.SETTLE:
                sweeps.settle_only(db, slot, owner, now, PRODUCTION.slot_lease_ms)
                yield found.slot
            case Course.WAIT:
                yield found.slot
            case Course.DISPATCH:
                if isinstance(runs.admit(db, slot, mood.plans, (), Governance(), now), Admitted):
                    _run(db, slot, owner, now, mood)
                    yield found.slot


def _run(db: Db, slot: SlotId, owner: Owner, now: int, mood: Mood) -> None:
    """A run that finds nothing to do about its cells and comes back."""
    if isinstance(runs.begin(db, slot, owner, mood.plans, now), Work):
        runs.finish(db, Run(slot, owner, now), Finished(None), now)


def _drain(db: Db, now: int, mood: Mood) -> None:
    for slot in sweeps.missed_rollups(db, now):
        sweeps.roll_up_missed(db, slot, now)
    for route in outbox.due(db, now).routes:
        for row in outbox.claim(db, RouteName(route), 100, WORKER, now):
            if recording.cleared(db, row.id, WORKER, now):
                recording.record(db, row.id, mood.answer(), WORKER, now, 0.5)
