"""Works that end in every way a work can: what they do is their name."""

from collections.abc import Awaitable, Callable

import trio

Work = Callable[[], Awaitable[object]]


class Broken(Exception):
    """What a transport raises when it is torn apart."""


async def for_ever() -> object:
    """Ends only by cancellation, and lets it pass."""
    await trio.sleep_forever()
    return None


async def catching_every_exception() -> object:
    while True:
        try:
            await trio.sleep_forever()
        except Exception:
            raise AssertionError("a cancellation is no Exception") from None


async def breaking_when_cancelled() -> object:
    try:
        await trio.sleep_forever()
    finally:
        raise Broken("in the clean-up")


async def raising_a_mixed_group() -> object:
    """A cancellation and an error, side by side."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(for_ever)
        nursery.start_soon(breaking_when_cancelled)
    return None


def cleaning_up_for(seconds: float) -> Work:
    """A work whose clean-up no cancellation shortens."""

    async def work() -> object:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(seconds)
        return None

    return work


def wedged(release: trio.Event) -> Work:
    """A work that hears nothing until it is released, and then comes back as if nothing had happened."""

    async def work() -> object:
        with trio.CancelScope(shield=True):
            await release.wait()
        return "late"

    return work
