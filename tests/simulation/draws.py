"""What hypothesis draws from when everybody acts in any order."""

from hypothesis import strategies as st

from actors.kit import CancelOrigin, Crashed, Ended, Finished
from pixivflow.delivery.model import (
    Accepted,
    DuplicateExisting,
    IdempotentReplay,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
)
from pixivflow.ids import Owner, RouteName, ScheduleId, SlotId, TargetId, WorkId
from pixivflow.slots.model import BoundWork, WorkType
from pixivflow.slots.stall import Budgets
from pixivflow.slots.target import (
    Duplicate,
    Enqueued,
    NoCandidate,
    Scan,
    Stored,
    Submitted,
    TargetFailed,
    TargetOutcome,
)
from tests.fixtures.slots import HOUR, MINUTE, a_plan, plans

PLANS = plans(a_plan(), a_plan(id=ScheduleId("q")))
SCHEDULED = tuple(SlotId(name) for name in ("p@2026-09-08T1000", "p@2026-09-08T1100", "q@2026-09-08T1000"))
TARGETS = tuple(TargetId(name) for name in "abc")
ROUTES = tuple(RouteName(name) for name in ("r1", "r2", "r3"))
WORKS = tuple(BoundWork(work_id=WorkId(name), work_type=WorkType.ILLUSTRATION) for name in "1234")
PUMPS = (Owner("worker-1-00000001"), Owner("worker-2-00000002"))

picks = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 5, 8])
"""Which of several: mostly the first, since what follows upon one another goes deeper than what does not."""

memberships = st.lists(st.sampled_from(TARGETS), min_size=1, unique=True)
works = st.sampled_from(WORKS)
Works = list[BoundWork]
choices = st.lists(works, max_size=len(TARGETS))
"""A work for each of the first cells of a slot, now and then the same for two."""
pumps = st.sampled_from(PUMPS)
routes = st.lists(st.sampled_from(ROUTES), min_size=1, max_size=3, unique=True)
budgets = st.integers(1, 3)
chances = st.sampled_from([0.0, 0.999])

limits = st.sampled_from([Budgets(), Budgets(queued_ms=MINUTE, stalled_ms=MINUTE)])
waits = st.sampled_from([1, 999, MINUTE, 2 * MINUTE, 3 * MINUTE, 15 * MINUTE, 30 * MINUTE, 7 * HOUR])
clock_steps = st.sampled_from([0, 0, 0, 0, -7 * HOUR, -61_000, -MINUTE, -1, MINUTE, HOUR])

ends = st.sampled_from(
    [Finished(None), Crashed(RuntimeError("a bug")), Ended(None), *(Ended(origin, "why") for origin in CancelOrigin)]
)

answers = st.sampled_from(
    [
        Accepted(remote_id="7"),
        IdempotentReplay(remote_id="7"),
        DuplicateExisting(remote_id="7"),
        DuplicateExisting(remote_id="7", matched_key="another"),
        RemoteFailed(remote_status="rejected", error="not for us"),
        RetryableFailure(error="answered HTTP 503", http_status=503),
        RetryableFailure(error="nothing came back", answer_unknown=True),
        RetryableFailure(error="later", http_status=429, retry_after_ms=12 * HOUR),
        PermanentFailure(error="answered HTTP 400", http_status=400),
        PermanentFailure(error="answered HTTP 409", http_status=409),
    ]
)

NOTHING: tuple[TargetOutcome, ...] = (
    NoCandidate(text="nothing"),
    NoCandidate(text="all seen", scan=Scan(skips=("duplicate",))),
    Duplicate(text="seen"),
    TargetFailed(error="HTTP 429", retryable=True),
    TargetFailed(error="HTTP 500", retryable=False),
)
"""What a target may tell that published nothing."""

Something = Stored | Submitted | Enqueued | Duplicate
"""What a target may tell that holds a work."""

nothing = st.sampled_from(NOTHING)
something = st.sampled_from([None, Stored, Submitted, Enqueued, Duplicate])
