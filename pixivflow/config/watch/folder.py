"""Notices that a file is another than before.

The folder is watched and not the file: editors put a new file in the old one's place, and a watched file is lost with
that. What then counts is the file itself, looked at whenever the folder stirs and once a second besides, so that a
file system that tells nothing, or a link that turns elsewhere, costs a second and no more.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import trio

Signature = tuple[int, int, int]


async def changes(path: Path, stop: trio.Event, *, look_ms: int, step_ms: int) -> AsyncGenerator[None, None]:
    """Yields whenever the file at `path` differs from when it was last looked at, the first time at once.

    `look_ms`: between two looks where nothing stirs. Ends within `step_ms` after `stop` is set; whoever cancels this
    must set it too, since the thread inside cannot be interrupted.
    Errors: `OSError` when the folder cannot be watched.
    """
    async with aclosing(differences(path, _stirs(path.parent, stop, look_ms, step_ms))) as found:
        async for _ in found:
            yield


async def differences(path: Path, stirs: AsyncGenerator[object, None]) -> AsyncGenerator[None, None]:
    """Yields at once, and then for each of `stirs` after which the file at `path` is another than before."""
    seen = signature(path)
    yield
    async with aclosing(stirs):
        async for _ in stirs:
            before, seen = seen, signature(path)
            if seen != before:
                yield


async def _stirs(folder: Path, stop: trio.Event, look_ms: int, step_ms: int) -> AsyncGenerator[object, None]:
    with trio.move_on_after(look_ms / 1000):
        await stop.wait()  # who has just started, or leaves at once, has better to do than to load what follows
    awatch = await trio.to_thread.run_sync(_watching, limiter=trio.CapacityLimiter(1), abandon_on_cancel=True)
    stirring = awatch(
        folder,
        watch_filter=None,
        stop_event=stop,
        rust_timeout=look_ms,
        step=step_ms,
        debounce=step_ms,
        yield_on_timeout=True,
        recursive=False,
    )
    async with aclosing(stirring):
        async for stir in stirring:
            yield stir


def _watching() -> Callable[..., AsyncGenerator[object, None]]:
    from watchfiles import awatch  # loads a native library, anyio, and asyncio with it

    return awatch


def signature(path: Path) -> Signature | None:
    """What tells one state of a file from the next; None while there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
