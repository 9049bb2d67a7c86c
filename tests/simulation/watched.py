"""A ledger in which every commit is held against all laws, and which takes no word from the dead.

A function and its look at the rows are one transaction; what it did counts once it is committed. Inline, so that there
is one function a transaction and nothing in between.
"""

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from pixivflow.ledger.connection import Db
from pixivflow.ledger.inline import InlineLedger
from pixivflow.ledger.ledger import Ledger
from tests.simulation.chronicle import Chronicle
from tests.simulation.look import look
from tests.simulation.steps import Actor, Step
from tests.simulation.ways import Who

P = ParamSpec("P")
T = TypeVar("T")

EPOCH: Final = 10**12
"""Numbers beyond this are instants."""

FACTS: Final = frozenset({"Accepted", "IdempotentReplay", "DuplicateExisting"})


def _run(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Actor:
    return Actor(who=Who.RUN, owner=args[1], slot=args[0])


def _place(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Actor:
    return Actor(who=Who.RUN, owner=args[0].owner, slot=args[0].slot_id)


def _end(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Actor:
    run, end = args[:2]
    return Actor(who=Who.RUN, owner=run.owner, slot=run.slot, end=end)


def _abandon(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Actor:
    run, end = args[:2]
    return Actor(who=Who.RUN, owner=run.owner, slot=run.slot, end=end, forced=True)


def _rows(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Actor:
    return Actor(who=Who.PUMP, owner=args[1], rows=tuple(args[0]))


def _record(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Actor:
    row, ack, owner = args[:3]
    return Actor(who=Who.PUMP, owner=owner, rows=(row,), fact=type(ack).__name__ in FACTS)


ACTORS: Final[Mapping[str, Callable[[tuple[Any, ...], Mapping[str, Any]], Actor]]] = {
    "open_slot": lambda args, kwargs: Actor(who=Who.TRIGGER),
    "admit": lambda args, kwargs: Actor(who=Who.TRIGGER),
    "begin": lambda args, kwargs: Actor(who=Who.RUN, owner=args[1]),
    "beat": _run,
    "bind": _place,
    "bring": _place,
    "apply": _place,
    "finish": _end,
    "abandon": _abandon,
    "settle_only": lambda args, kwargs: Actor(who=Who.SWEEPER, owner=args[1]),
    "end_stalled": lambda args, kwargs: Actor(who=Who.SWEEPER),
    "roll_up_missed": lambda args, kwargs: Actor(who=Who.RECONCILER),
    "claim": lambda args, kwargs: Actor(who=Who.PUMP, owner=args[2]),
    "cleared": lambda args, kwargs: Actor(who=Who.PUMP, owner=args[1], rows=(args[0],)),
    "renew": _rows,
    "release": _rows,
    "record": _record,
    "cancel_slot": lambda args, kwargs: Actor(who=Who.CONSUMER),
    "revive": lambda args, kwargs: Actor(who=Who.OPERATOR),
}
"""Who speaks when a function is called, from its name and its arguments."""


class Process(Protocol):
    """What a watched ledger asks of the process that has it open."""

    async def awake(self) -> None:
        """Come back once the process is not frozen. Errors: it is dead."""
        ...

    def busy(self, fn: str) -> None:
        """Raise `Unavailable` if another process keeps the file from `fn`."""
        ...

    def committed(self, step: Step) -> None:
        """Hear of a commit."""
        ...


class Watched(Ledger):
    """`inner` with an eye on it."""

    def __init__(self, inner: Ledger, process: Process, chronicle: Chronicle) -> None:
        self._inner, self._process, self._chronicle = inner, process, chronicle
        self._done: Step | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def write(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self._process.awake()
        self._process.busy(fn.__name__)

        def watched(db: Db) -> T:
            before = self._chronicle.seen or look(db)
            changes = db.total_changes
            value = fn(db, *args, **kwargs)
            after = look(db) if db.total_changes != changes else before
            at = max([self.lease_now(self._clock.now_ms()), *(n for n in args if isinstance(n, int) and n > EPOCH)])
            actor = ACTORS[fn.__name__](args, kwargs)
            self._done = Step(what=fn.__name__, by=actor, at=at, before=before, after=after)
            return value

        return await self._inner.write(watched)

    async def read(self, fn: Callable[Concatenate[Db, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self._process.awake()
        self._process.busy(fn.__name__)
        return await self._inner.read(fn, *args, **kwargs)

    def cut(self) -> None:
        """Close the file at once, as the end of a process does: what is not committed is rolled back."""
        assert isinstance(self._inner, InlineLedger)
        self._inner._db.close()

    def committed(self) -> None:
        """The commit has happened: what was done in it counts."""
        step, self._done = self._done, None
        if step is not None:
            self._chronicle.seen = step.after
            self._process.committed(step)
