"""A stop that somebody asked for is told by the name of the signal that asked."""

import signal

import pytest

from actors.kit import Child, Context, Hooks, Supervisor
from pixivflow.daemon.lifecycle import live


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_first_signal_is_the_one_that_ended_it(number: signal.Signals) -> None:
    heard = list[str]()

    async def asks_twice(ctx: Context) -> None:
        ctx.started()
        signal.raise_signal(number)
        signal.raise_signal(signal.SIGTERM)
        await ctx.wait_stopping()

    assert (
        await live(Supervisor([Child("asks twice", asks_twice)], Hooks()), stopped_by=heard.append, is_last=False) == 0
    )
    assert heard == [number.name]


async def test_a_tree_that_ends_by_itself_was_ended_by_no_signal() -> None:
    heard = list[str]()

    async def leaves(ctx: Context) -> None:
        ctx.started()
        supervisor.stop()
        await ctx.wait_stopping()

    supervisor = Supervisor([Child("leaves", leaves)], Hooks())
    assert await live(supervisor, stopped_by=heard.append, is_last=False) == 0
    assert heard == []
