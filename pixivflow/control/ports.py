"""What the door asks of the process behind it, and how a request and its answer look to a route."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from actors.kit import Clock, Note, Point
from actors.ports import Admitted, Owed, Refused
from pixivflow.config.model import SchedulerRuntime
from pixivflow.ids import ScheduleId, TargetId
from pixivflow.ledger.interface import Ledger
from pixivflow.scheduling.model import Plan


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answers. `commit`: of the build, `unknown` where nobody said. `started_at`: epoch ms."""

    version: str
    commit: str
    pid: int
    started_at: int


@dataclass(frozen=True, slots=True)
class Parts:
    """What the routes work with. What is a call is asked afresh for each request.

    `offer` asks slot_runner. `owed` counts at once, without waiting for anything. `leaving`: whether the process has
    decided to go. `targets`: every configured target.
    """

    ledger: Ledger
    offer: Callable[[str], Awaitable[Admitted | Refused]]
    plans: Callable[[], Mapping[ScheduleId, Plan]]
    targets: Callable[[], Sequence[TargetId]]
    runtime: Callable[[], SchedulerRuntime]
    owed: Callable[[], Awaitable[Owed]]
    leaving: Callable[[], bool]
    identity: Identity
    clock: Clock
    note: Note
    body_ms: int
    point: Point = lambda name: None


class Asked(Protocol):
    """One request as a route sees it. `path` is as it was sent, without its query."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...

    def header(self, name: str) -> str | None:
        """The value of a header that was sent once; of one that was sent several times the first."""
        ...

    async def body(self) -> bytes:
        """The whole body. Errors: `Failed` when it is too large, or does not come."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. `body` becomes JSON."""

    http_status: int
    body: object
    headers: Mapping[str, str] = field(default_factory=dict)


class Failed(Exception):
    """A request that is answered with an error, in the door's own words."""

    def __init__(self, http_status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.http_status, self.text, self.headers = http_status, text, dict(headers or {})
