"""What tests of actors need: a wall clock joined to trio's, an ear for notes and points, a life in a `with` block."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from actors.kit.context import Context, Hooks


class VirtualClock:
    """Wall time that advances with trio's clock, virtual or not, and can be stepped like a real one."""

    def __init__(self, start_ms: int = 1_768_446_000_000) -> None:
        self._start_ms = start_ms

    def now_ms(self) -> int:
        return self._start_ms + round(trio.current_time() * 1000)

    def step(self, by_ms: int) -> None:
        """Set the wall clock forward or back; nothing that waits takes notice."""
        self._start_ms += by_ms


@dataclass
class Probe:
    """Hears every note and every point."""

    notes: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    _changed: trio.lowlevel.ParkingLot = field(default_factory=trio.lowlevel.ParkingLot)

    def note(self, event: str, /, **fields: object) -> None:
        self.notes.append((event, fields))
        self._changed.unpark_all()

    def point(self, name: str, /) -> None:
        self.points.append(name)

    def heard(self, event: str) -> list[dict[str, object]]:
        """The fields of every note of that name, oldest first; an error among them as its `repr`, to be compared."""
        return [{key: _comparable(each) for key, each in told.items()} for name, told in self.notes if name == event]

    async def until(self, event: str, times: int = 1) -> None:
        """Until the note has been heard so often."""
        while len(self.heard(event)) < times:
            await self._changed.park()

    def hooks(self) -> Hooks:
        """Hooks that end in this probe, on a virtual clock."""
        return Hooks(clock=VirtualClock(), note=self.note, point=self.point)


def _comparable(value: object) -> object:
    return repr(value) if isinstance(value, BaseException) else value


@asynccontextmanager
async def running(actor: Callable[[Context], Awaitable[None]], hooks: Hooks) -> AsyncIterator[Context]:
    """`actor` at work inside the block, told to stop at its end and waited for."""
    context = Context("under-test", hooks)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(actor, context)
        await context.ready.wait()
        yield context
        context.stop()
