"""What the walk of one run needs from outside: works to try, their files, and its cells in the ledger.

`W` is a work as the room of choosing knows it; this room hands it on and never looks inside. Errors are the families of
`pixivflow.errors`, translated by whoever stands at the edge. Whoever is cancelled raises the cancellation and nothing
else: a cancelled request is never told as an empty list, a missing work or a failure.
"""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

import msgspec
import trio

from pixivflow.config.model import Target
from pixivflow.errors import Cause, Conflict, Rejected, Unavailable
from pixivflow.ids import SlotId, TargetId, WorkId
from pixivflow.slots.model import BoundWork, Cell
from pixivflow.slots.target import TargetOutcome

W = TypeVar("W")
W_contra = TypeVar("W_contra", contravariant=True)


class SkipCode(StrEnum):
    """Why a work was passed over. `UNAVAILABLE` is no fact about the work: it may serve another time."""

    DUPLICATE = "duplicate"
    DELETED = "deleted"
    ACCESS_DENIED = "access_denied"
    UNSUPPORTED_MEDIA = "unsupported_media"
    INVALID_METADATA = "invalid_metadata"
    UNAVAILABLE = "unavailable"
    FILTERED = "filtered"


class Skip(msgspec.Struct, frozen=True, kw_only=True):
    """One work that was passed over; `reason` is for people. `cause`: what the matter was; None: a fact about it."""

    code: SkipCode
    work_id: WorkId
    reason: str
    cause: Cause | None = None


class Unfit(Rejected):
    """A work that cannot be used for a reason of its own, which `code` names."""

    def __init__(self, work_id: WorkId, code: SkipCode, hint: str) -> None:
        super().__init__(work_id, "work", hint)
        self.code = code


class LedgerBusy(Unavailable):
    """The ledger could not be asked now; nothing is known of what was to be written."""

    cause = Cause.LEDGER


class NotOurs(Conflict):
    """The slot is not this run's any more, or the run was given up: nothing was written, and nothing more may be."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How much a target wants. `limit`: new works a run; `is_single`: the cell is one work's, from bind to end."""

    limit: int
    is_single: bool


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What a search brought.

    `queue`: to be tried in this order, and no others; `bound`: how many may be tried at most; `skips`: what was passed
    over before anything was tried; `read`: how many works the lists held.
    """

    queue: tuple[BoundWork, ...] = ()
    bound: int = 0
    skips: tuple[Skip, ...] = ()
    read: int = 0


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Those of some works that are not new. `stored`: downloaded before; `served`: no route of the target wants them,
    or another cell of the slot holds them."""

    stored: frozenset[WorkId] = frozenset()
    served: frozenset[WorkId] = frozenset()


Look = Callable[[Sequence[BoundWork]], Awaitable[Seen]]
"""Asks which of some works are not new to the target."""


class Selection(Protocol[W]):
    """The room of choosing. A search asks `Source` (`selection.ports`) and passes its errors on."""

    def wish(self, target: Target) -> Wish:
        """Errors: `ConfigError` for a target that nobody here can serve, naming the setting."""
        ...

    async def choose(self, target: Target, wanted: int, stage: int, now: int, look: Look) -> Choice:
        """The works to be tried for `wanted` new ones. `stage`: how often the cell has looked before in this slot."""
        ...

    async def detail(self, work: BoundWork) -> W:
        """The work as Pixiv has it now. Errors: `Rejected` for one that Pixiv does not show; the source's."""
        ...

    def declined(self, target: Target, detail: W) -> Skip | None:
        """Why the target does not want this work after all; None: it does."""
        ...


class FetchedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a work, verified, fsynced and under its final name, its folder fsynced too.

    Shape: `path` is absolute; `page` counts from 1, as in the file's name and row; `size` in bytes; `sha256` of the
    whole file, in hex; `mime` and `format` (`jpeg`, `png`, …) by its content. `degraded`: a smaller rendering.
    """

    page: int
    path: str
    size: int
    sha256: str
    mime: str
    format: str
    degraded: bool = False


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A whole work on the disk; every page is there. `files` in the order of the pages."""

    files: tuple[FetchedFile, ...]


class Fetcher(Protocol[W_contra]):
    """Brings the files of works to the disk."""

    async def fetch(
        self, detail: W_contra, target: Target, known: Sequence[FetchedFile], threads: trio.CapacityLimiter
    ) -> Fetched:
        """All files of the work, in the folder that storage and `target.label` name: complete, or an error.

        `known`: what is recorded of the work. What of it is still whole on the disk, and what an earlier attempt left
        there, is used without a request; what is missing is fetched, from where an earlier attempt was cut. Pages are
        staged, verified and fsynced first, and get their names when all are there. Blocking calls go to threads of
        `threads`, abandoned when cancelled.
        Errors: `Gone`, `Rejected` (`Unfit` with its code); `StorageFailed`; `AuthNeeded`, `Outage`, `Unavailable`. None
        of them leaves a file under a final name.
        """
        ...


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """`won`: the cell is bound to the work that was asked for. `work`: what the cell is bound to now, by whomever."""

    won: bool
    work: BoundWork | None


class Entry(msgspec.Struct, Generic[W], frozen=True, kw_only=True):
    """One work to be recorded, whole.

    `binds`: the cell is this one work's. `resumed`: the cell held the work before this run. `report`: what the search
    went through, as JSON, to be kept with a verdict.
    """

    target: Target
    target_id: TargetId
    work: BoundWork
    detail: W
    files: tuple[FetchedFile, ...]
    binds: bool
    resumed: bool = False
    report: str | None = None


class Recorded(StrEnum):
    """What became of an entry. A cell that is one work's has moved accordingly, in the same transaction."""

    STORED = "stored"
    """Files recorded; the target delivers nowhere."""
    ENQUEUED = "enqueued"
    """Files recorded, and promised to every route that was in want of the work."""
    DUPLICATE = "duplicate"
    """Files recorded; every route has the work. A cell that held it before has ended, another one is free again."""


class RunCells(Protocol[W]):
    """The cells of one slot in the ledger, as its run writes to them. Each call is one transaction.

    Errors: `NotOurs`, of all that write, when another owner has the slot, it was ended, or the run was given up;
    `LedgerBusy`; `StorageFull`; `LedgerLost`. What is cancelled may have been written; the rows tell.
    """

    @property
    def slot_id(self) -> SlotId: ...

    async def seen(self, target: Target, target_id: TargetId, works: Sequence[BoundWork]) -> Seen:
        """Which of `works` are not new to the target."""
        ...

    async def delivered(self, target: Target, work: BoundWork) -> bool:
        """Whether every route of the target has the work already; False for a target without any."""
        ...

    async def recorded(self, work: BoundWork) -> tuple[FetchedFile, ...]:
        """The files that are recorded of a work, whether or not they are still there."""
        ...

    async def bind(self, target_id: TargetId, work: BoundWork) -> Binding:
        """Bind the cell before the first side effect, unless it is bound or another cell of the slot has the work."""
        ...

    async def release(self, target_id: TargetId, work: BoundWork) -> bool:
        """Give back a work that produced nothing. False: the cell holds another one, or this one is under way."""
        ...

    async def apply(self, target_id: TargetId, outcome: TargetOutcome) -> Cell | None:
        """Make an outcome a state of its cell, or its next fallback stage; the cell as it stands then."""
        ...

    async def record(self, entry: Entry[W]) -> Recorded:
        """Files, promises with their rows, and the cell's move, or nothing of it. Not cut by a cancellation."""
        ...
