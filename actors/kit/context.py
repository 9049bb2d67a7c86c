"""What an actor is given: a name, a clock, two hooks, and the word that it is time to stop."""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import trio

from actors.kit.cancel import BoundedScope, CancelOrigin
from actors.kit.clock import Clock, SystemClock
from actors.kit.mailbox import Letter, Mailbox

M = TypeVar("M")

Note = Callable[..., None]  # called with an event's name in the past tense and its fields, never a secret among them
Point = Callable[[str], None]  # a named crash point; in production it does nothing


@dataclass(frozen=True, slots=True)
class Hooks:
    """What reaches every actor of a tree from outside."""

    clock: Clock = field(default_factory=SystemClock)
    note: Note = lambda event, **fields: None
    point: Point = lambda name: None
    settle_ms: int = 5_000
    """What a settling write gets once its actor has been cancelled."""


class Context:
    """One life of one actor. A restart gets a fresh one."""

    def __init__(self, name: str, hooks: Hooks, ready: trio.Event | None = None) -> None:
        self.name, self.hooks = name, hooks
        self.clock, self.point = hooks.clock, hooks.point
        self.ready = trio.Event() if ready is None else ready
        self._stop = trio.Event()
        self._waits: dict[trio.CancelScope, None] = {}
        self._scopes: dict[BoundedScope, None] = {}
        self._inner: dict[Context, None] = {}

    def note(self, event: str, /, **fields: object) -> None:
        """Say what happened, in this actor's name."""
        self.hooks.note(event, actor=self.name, **fields)

    def started(self) -> None:
        """The actor does its work from here on; whoever comes after it in the tree may start."""
        self.ready.set()

    @property
    def stopping(self) -> bool:
        """Finish what is in your hands and return."""
        return self._stop.is_set()

    async def wait_stopping(self) -> None:
        """Until it is time to stop."""
        await self._stop.wait()

    @contextmanager
    def bounded(self, scope: BoundedScope) -> Iterator[BoundedScope]:
        """A block during which `scope` ends with SHUTDOWN when this actor is told to stop. The caller enters it."""
        self._scopes[scope] = None
        if self.stopping:
            scope.end(CancelOrigin.SHUTDOWN, "stopping")
        try:
            yield scope
        finally:
            self._scopes.pop(scope, None)

    @contextmanager
    def inner(self, name: str) -> Iterator["Context"]:
        """The context of an actor inside this one, told to stop and cut together with it."""
        context = Context(name, self.hooks)
        self._inner[context] = None
        if self.stopping:
            context.stop()
        try:
            yield context
        finally:
            self._inner.pop(context, None)

    def settling(self) -> AbstractContextManager[trio.CancelScope]:
        """A short scope that no cancellation reaches, for the write that settles what was done.

        Errors: `trio.TooSlowError` when it takes longer than `settle_ms`.
        """
        return trio.fail_after(self.hooks.settle_ms / 1000, shield=True)

    @contextmanager
    def waiting(self, at_most_ms: float = math.inf) -> Iterator[trio.CancelScope]:
        """A scope for idle waiting: it ends, without an error, after `at_most_ms` or when it is time to stop."""
        with trio.move_on_after(at_most_ms / 1000) as scope:
            self._waits[scope] = None
            if self.stopping:
                scope.cancel(reason="stopping")
            try:
                yield scope
            finally:
                self._waits.pop(scope, None)

    async def next_letter(self, mailbox: Mailbox[M], at_most_ms: float = math.inf) -> Letter[M] | None:
        """The next letter of `mailbox`; None when none came within `at_most_ms` or it is time to stop."""
        with self.waiting(at_most_ms):
            return await mailbox.take()
        return None

    def stop(self) -> None:
        """The first step: say that it is time, and end every bounded scope with SHUTDOWN."""
        self._stop.set()
        for wait in self._waits:
            wait.cancel(reason="stopping")
        for scope in self._scopes:
            scope.end(CancelOrigin.SHUTDOWN, "stopping")
        for context in self._inner:
            context.stop()

    def cut(self) -> None:
        """Before the second step: let every bounded scope know that what comes now comes from above."""
        for scope in self._scopes:
            scope.cut()
        for context in self._inner:
            context.cut()
