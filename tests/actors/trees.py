"""Actors that write down when they begin, are up, are told to stop and are gone, and a tree of them that runs."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from actors.kit import Child, Context, GiveUp, Supervisor
from actors.kit.supervisor import Actor
from actors.kit.testing import Probe


@dataclass
class Log:
    """What happened, in order, with trio's seconds."""

    lines: list[tuple[str, str, float]] = field(default_factory=list)

    def say(self, actor: str, word: str) -> None:
        self.lines.append((actor, word, round(trio.current_time(), 3)))

    def order(self, word: str) -> list[str]:
        """The actors that said so, oldest first."""
        return [actor for actor, said, _ in self.lines if said == word]

    def at(self, actor: str, word: str) -> list[float]:
        return [at for who, said, at in self.lines if (who, said) == (actor, word)]


def steady(log: Log, name: str, *, starting_s: float = 0, stopping_s: float = 0) -> Child:
    """An actor that does as it is told."""

    async def actor(ctx: Context) -> None:
        log.say(name, "begins")
        await trio.sleep(starting_s)
        log.say(name, "up")
        ctx.started()
        await ctx.wait_stopping()
        log.say(name, "told")
        await trio.sleep(stopping_s)
        log.say(name, "gone")

    return Child(name, actor)


def failing(log: Log, name: str, *, after_s: float = 0, starts: bool = True) -> Actor:
    """An actor that fails in each of its lives, after it has started or before."""

    async def actor(ctx: Context) -> None:
        log.say(name, "begins")
        if starts:
            ctx.started()
        await trio.sleep(after_s)
        raise RuntimeError(name)

    return actor


def ignoring(log: Log, name: str) -> Actor:
    """An actor that hears nothing but a real cancellation."""

    async def actor(ctx: Context) -> None:
        ctx.started()
        try:
            await trio.sleep_forever()
        finally:
            log.say(name, "gone")

    return actor


def wedged_until(log: Log, name: str, release: trio.Event) -> Actor:
    """An actor that not even a real cancellation ends."""

    async def actor(ctx: Context) -> None:
        ctx.started()
        with trio.CancelScope(shield=True):
            await release.wait()
        log.say(name, "gone")

    return actor


@dataclass
class Tree:
    """A supervisor at work, and how it ended."""

    supervisor: Supervisor
    probe: Probe
    over: trio.Event = field(default_factory=trio.Event)
    failure: GiveUp | None = None

    async def stop(self) -> None:
        self.supervisor.stop()
        await self.over.wait()


@asynccontextmanager
async def growing(
    *children: Child,
    stuck: Callable[[list[str], bool], object] = lambda names, failed: None,
) -> AsyncIterator[Tree]:
    """The tree inside the block, which need not be up yet; stopped at its end."""
    probe = Probe()
    tree = Tree(Supervisor(children, probe.hooks(), stuck=stuck), probe)

    async def live() -> None:
        try:
            await tree.supervisor.run()
        except GiveUp as failure:
            tree.failure = failure
        finally:
            tree.over.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(live)
        yield tree
        tree.supervisor.stop()
