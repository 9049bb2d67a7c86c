"""One nursery a child, ordered start, restarts within a budget, and the two-step stop in reverse order."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import trio

from actors.kit.context import Context, Hooks
from actors.kit.errors import GiveUp, unwrapped
from actors.kit.restart import Budget, Escalate, Kind, LetGo, StartAgain, decide

Actor = Callable[[Context], Awaitable[None]]
Stuck = Callable[[list[str], bool], object]


@dataclass(frozen=True, slots=True)
class Child:
    """An actor and what becomes of it when it ends."""

    name: str
    actor: Actor
    kind: Kind = Kind.PERMANENT
    budget: Budget = field(default_factory=Budget)
    foundation: bool = False
    """Told to stop only when nobody above is left, since they settle through it."""
    farewell: Callable[[], object] = lambda: None
    """Called once the actor is gone for good, not between its lives: to close its mailbox."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a stop waits, ms: before the next child is told too; in all before the second step; and after it."""

    next_ms: int = 400
    grace_ms: int = 4_000
    last_ms: int = 2_500


class _Keeper:
    """A child, its present life, and the cancel scope that only the second step touches."""

    def __init__(self, child: Child, hooks: Hooks) -> None:
        self.child, self.hooks = child, hooks
        self.met, self.gone = trio.Event(), trio.Event()  # met: started, gone, or no longer waited for
        self.context = Context(child.name, hooks, self.met)
        self.scope = trio.CancelScope()
        self._ends: list[int] = []

    async def keep(self) -> Exception | None:
        """Run the child, again and again as its kind and budget say. What it escalates with, or None."""
        while True:
            error = await self._live()
            if self.context.stopping:
                return None
            now = round(trio.current_time() * 1000)
            match decide(self.child.kind, failed=error is not None, ends=self._ends, now=now, budget=self.child.budget):
                case LetGo():
                    return None
                case Escalate():
                    return error or GiveUp(self.child.name)
                case StartAgain(after_ms):
                    self._ends.append(now)
                    self.hooks.note("actor.restarting", actor=self.child.name, after_ms=after_ms)
                    with self.context.waiting(after_ms):
                        await trio.sleep_forever()
                    if self.context.stopping:
                        return None
                    self.context = Context(self.child.name, self.hooks, self.met)

    async def _live(self) -> Exception | None:
        """One life of the child: the error that ended it, None when it returned."""
        error: Exception | None = None
        try:
            await self.child.actor(self.context)
        except* Exception as group:  # a cancellation beside it goes on upward
            inner = unwrapped(group)
            error = inner if isinstance(inner, Exception) else group
            self.context.note("actor.failed", error=error)
        return error

    def leave(self) -> None:
        """Nobody lives here any more: let those hear it who wait for the end, and those who ask."""
        self.child.farewell()
        self.gone.set()
        self.met.set()

    def cut(self) -> None:
        """The second step, and the only place in the kit where an actor is cancelled for real."""
        self.context.note("actor.cut")
        self.context.cut()
        self.scope.cancel(reason="grace is over")


class Supervisor:
    """Runs `children`, started in their order and stopped in the reverse one.

    `stuck` is called with the names of those that neither stop nor cancellation could end, wedged in a shielded scope
    or a thread, and whether the tree had failed; it should end the process, since nothing else will.
    """

    def __init__(
        self, children: Sequence[Child], hooks: Hooks, *, patience: Patience = Patience(), stuck: Stuck = lambda *_: ...
    ) -> None:
        self._keepers = [_Keeper(child, hooks) for child in children]
        self._hooks, self._patience, self._stuck = hooks, patience, stuck
        self._over = trio.Event()
        self._failure: GiveUp | None = None
        self.up = trio.Event()
        """Every child has said that it does its work."""

    @property
    def stopping(self) -> bool:
        """The orderly stop has begun."""
        return self._over.is_set()

    def stop(self) -> None:
        """Begin the orderly stop. Calling it again changes nothing."""
        self._over.set()
        for keeper in self._keepers:
            keeper.met.set()

    async def run(self) -> None:
        """Until the tree has been stopped.

        Errors: `GiveUp`, caused by the last failure, when a child's budget was spent; the others were stopped in order.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._start_in_order, nursery)
            try:
                await self._over.wait()
                await self._stop_in_order()
            except BaseException:  # whoever cancelled the tree told nobody in it; deadlines may pass in the clean-ups
                for keeper in self._keepers:
                    keeper.context.cut()
                raise
        if self._failure is not None:
            raise self._failure

    async def _start_in_order(self, nursery: trio.Nursery) -> None:
        for keeper in self._keepers:
            if self._over.is_set():
                keeper.leave()
            else:
                nursery.start_soon(self._keep, keeper)
                await keeper.met.wait()
        if not self._over.is_set():
            self.up.set()

    async def _keep(self, keeper: _Keeper) -> None:
        try:
            with keeper.scope:
                cause = await keeper.keep()
                if cause is not None:
                    self._give_up(keeper.child.name, cause)
        finally:
            keeper.leave()

    def _give_up(self, child: str, cause: Exception) -> None:
        self._hooks.note("actor.given_up", actor=child, error=cause)
        if self._failure is None:
            self._failure = GiveUp(child)
            self._failure.__cause__ = cause
        self.stop()

    async def _stop_in_order(self) -> None:
        for is_last, patience_ms in ((False, self._patience.grace_ms), (True, self._patience.last_ms)):
            keepers = [k for k in reversed(self._keepers) if k.child.foundation is is_last]
            await self._told_to_stop(keepers, trio.current_time() + patience_ms / 1000)
        wedged = [k for k in self._keepers if not k.gone.is_set()]
        if wedged:
            self._hooks.note("tree.stuck", actors=[k.child.name for k in wedged])
            self._stuck([k.child.name for k in wedged], self._failure is not None)

    async def _told_to_stop(self, keepers: list[_Keeper], deadline: float) -> None:
        for keeper in keepers:
            self._hooks.note("actor.stopping", actor=keeper.child.name)
            keeper.context.stop()
            await _gone(keeper, min(deadline, trio.current_time() + self._patience.next_ms / 1000))
        for keeper in keepers:
            await _gone(keeper, deadline)
            if not keeper.gone.is_set():
                keeper.cut()
                await _gone(keeper, trio.current_time() + self._patience.next_ms / 1000)


async def _gone(keeper: _Keeper, deadline: float) -> None:
    with trio.move_on_at(deadline):
        await keeper.gone.wait()
