"""Several addresses of one host, and the first connection that stands."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import httpcore
import trio

HEAD_START_S: Final = 0.25
"""What one address of a host gets before the next is tried beside it.

Source: the connection attempt delay that RFC 8305 recommends.
"""


async def first_of(
    addresses: Sequence[str], connect: Callable[[str], Awaitable[httpcore.AsyncNetworkStream]]
) -> httpcore.AsyncNetworkStream:
    """The first connection that stands; the next address is tried when one fails or takes longer than its head start.

    Errors: `httpcore.ConnectError` of the last address that failed.
    """
    won: list[httpcore.AsyncNetworkStream] = []
    errors: list[Exception] = []

    async def attempt(address: str, over: trio.Event) -> None:
        try:
            stream = await connect(address)
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            errors.append(error)
            over.set()
        else:
            won.append(stream)
            nursery.cancel_scope.cancel()

    try:
        async with trio.open_nursery() as nursery:
            for address in addresses:
                over = trio.Event()
                nursery.start_soon(attempt, address, over)
                with trio.move_on_after(HEAD_START_S):
                    await over.wait()
    except BaseException:
        await _close(won)
        raise
    await _close(won[1:])
    if not won:
        raise errors[-1]
    return won[0]


async def _close(streams: Sequence[httpcore.AsyncNetworkStream]) -> None:
    with trio.CancelScope(shield=True):
        for stream in streams:
            await stream.aclose()
