"""What the actors say to one another, and what they ask of the outside.

Messages are hints or questions, never facts: an actor that hears one looks at the rows. Every port call is one
transaction that decides from the rows it reads; if one transaction would need three of them, the port is cut wrong.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol, TypeVar

from actors.kit import Asks, CancelOrigin, End

W_co = TypeVar("W_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Busy:
    """One run that was admitted and has not ended: waiting or running."""

    slot: str
    plan: str
    lane: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """The slot may run `delay_ms` from now, once `lane` has one of its `capacity` permits, for at most `timeout_ms`."""

    plan: str
    lane: str
    capacity: int
    timeout_ms: int
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """The slot may not run now; `reason` is a word of the store's."""

    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The slot is somebody else's, and nothing was written."""


@dataclass(frozen=True, slots=True)
class Settled:
    """There was nothing left to run: the slot was settled, as `status`, in the transaction that looked."""

    status: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The slot's status after its run was recorded."""

    status: str


@dataclass(frozen=True, slots=True)
class Run:
    """The identity of one run, fresh for each. `started_at`: epoch ms of its claim."""

    slot: str
    owner: str
    started_at: int


@dataclass(frozen=True, slots=True)
class Offer(Asks[Admitted | Refused]):
    """Run this slot, if the guards allow it. Everybody who wants a slot run asks here."""

    slot: str


@dataclass(frozen=True, slots=True)
class Cancel(Asks[bool]):
    """End the run of this slot in the name of `origin`. The answer: whether it had begun; one that waits just goes."""

    slot: str
    origin: CancelOrigin
    reason: str = ""


class SlotStore(Protocol[W_co]):
    """What the runner asks of the ledger; each call is one transaction that decides from the rows it reads."""

    async def admit(self, slot: str, busy: tuple[Busy, ...], now: int) -> Admitted | Refused: ...

    async def begin(self, slot: str, owner: str, now: int) -> W_co | Settled | Lost: ...

    async def beat(self, slot: str, owner: str, now: int) -> bool:
        """False when the lease is somebody else's. A ledger that has no time now is no such answer, and no error."""
        ...

    async def finish(self, run: Run, end: End, now: int) -> Verdict | Lost: ...

    async def abandon(self, run: Run, end: End, now: int) -> Verdict | Lost: ...


@dataclass(frozen=True, slots=True)
class Tick:
    """Look now for what nobody owns, instead of at the next tick."""


class Course(enum.Enum):
    """What an unfinished slot that nobody owns needs."""

    DISPATCH = "dispatch"  # a run, through the normal admission
    SETTLE = "settle"  # its deliveries have decided: write that down
    WAIT = "wait"  # its deliveries are on their way: nothing


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A slot without a live lease that has not ended. `about`: by what people know it, for the log."""

    slot: str
    course: Course
    about: Mapping[str, object] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Swept:
    """What became of a slot beyond rescue. `about`: by what people know it, and how it ended, for the log."""

    reason: str
    about: Mapping[str, object] = field(default_factory=dict, compare=False)


class SweepStore(Protocol):
    """What the sweeper asks of the ledger. `not_in`: slots that are spared whatever their rows say."""

    async def unfinished(self, now: int, not_in: frozenset[str]) -> Sequence[Unfinished]: ...

    async def settle_only(self, slot: str, now: int) -> None: ...

    async def stalled(self, now: int, not_in: frozenset[str]) -> Sequence[str]:
        """Slots that look beyond rescue, oldest first."""
        ...

    async def end_stalled(self, slot: str, now: int) -> Swept | None:
        """End the slot, if it is still beyond rescue and nobody has claimed it meanwhile; None: it was not."""
        ...


@dataclass(frozen=True, slots=True)
class Wake:
    """Rows may have become due."""


@dataclass(frozen=True, slots=True)
class Drained:
    """What a drain did: how many rows it took up and ended, or put off with a reason."""

    rows: int


@dataclass(frozen=True, slots=True)
class Drain(Asks[Drained]):
    """Attempt what is due, at most `rounds` batches of every route, and say when that is done."""

    rounds: int


@dataclass(frozen=True, slots=True)
class Due:
    """`routes` have rows due now; `next_at` is the next instant (epoch ms) at which another row becomes due."""

    routes: tuple[str, ...]
    next_at: int | None


class Row(Protocol):
    """A claimed outbox row."""

    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Row)
A_contra = TypeVar("A_contra", contravariant=True)
Y_contra = TypeVar("Y_contra", contravariant=True)


class OutboxStore(Protocol[R, A_contra, Y_contra]):
    """What the pump asks of the ledger; each call is one transaction, and none speaks to a receiver."""

    async def missed(self, now: int) -> Sequence[str]:
        """Finished slots that nobody has rolled up or reported yet, the oldest; the others keep for the next look."""
        ...

    async def roll_up(self, slot: str, now: int) -> None:
        """Add such a slot up and report it, if it is still one."""
        ...

    async def due(self, now: int) -> Due: ...

    async def claim(self, route: str, n: int, owner: str, now: int) -> Sequence[R]:
        """Up to `n` due rows of the route, oldest first, now leased to `owner`."""
        ...

    async def defer(self, route: str, n: int, why: Y_contra, now: int) -> None:
        """The `n` rows that would have been claimed wait, as they are, for the reason that their receiver gave."""
        ...

    async def cleared(self, row: R, owner: str, now: int) -> bool:
        """The last look before the send: still ours, and wanted. One that is no longer wanted is ended here."""
        ...

    async def renew(self, ids: Sequence[str], owner: str, now: int) -> None:
        """Keep the leases. A ledger that has no time now is no error here: the lease has two more chances."""
        ...

    async def record(self, row: R, ack: A_contra, owner: str, now: int) -> None:
        """Everything that the answer changes, the cell included."""
        ...

    async def release(self, ids: Sequence[str], owner: str, now: int) -> None:
        """Rows that were claimed and not sent: pending again, no attempt counted."""
        ...


@dataclass(frozen=True, slots=True)
class Reload:
    """The plans may have changed."""


@dataclass(frozen=True, slots=True)
class Fire:
    """One fire of one plan, `at` epoch ms."""

    plan: str
    at: int
    source: str = "cron"


class Ticks(Protocol):
    """What the scheduler asks of the plans that fire by themselves."""

    def between(self, since: int, now: int) -> Sequence[Fire]:
        """The latest fire of each plan after `since`, up to and including `now`."""
        ...

    def next_at(self, now: int) -> int | None:
        """The next fire of any plan after `now`, None when there is none."""
        ...


class Fires(Protocol):
    """What the scheduler asks of the ledger."""

    async def missed(self, now: int) -> Sequence[Fire]:
        """What catch-up owes at the start: at most the latest fire of each plan."""
        ...

    async def open(self, fire: Fire, now: int) -> str | Refused:
        """The slot of the fire, its row written; a plan that is busy opens none."""
        ...


@dataclass(frozen=True, slots=True)
class LookAgain:
    """Something has ended; perhaps nothing is owed any more."""


@dataclass(frozen=True, slots=True)
class Owed:
    """What holds the daemon awake. False when nothing does."""

    active_slots: int = 0
    processing_outbox: int = 0
    pending_outbox: int = 0
    active_executions: int = 0
    waiting_for_resource: int = 0

    def counters(self) -> dict[str, int]:
        """The five counters by name."""
        return asdict(self)

    def __bool__(self) -> bool:
        return any(self.counters().values())
