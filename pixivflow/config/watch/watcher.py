"""The actor that puts a changed configuration in force, or says why it does not."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, assert_never

import trio

from actors.kit import Context, Mailbox, Note
from actors.kit.mailbox import Asks, Letter
from pixivflow.config.load import ConfigInvalid, Finding, Loaded, load
from pixivflow.config.model import Settings
from pixivflow.config.validate.findings import SHOWN
from pixivflow.config.watch.decide import Keep, Refuse, Reload, Replace, decide
from pixivflow.config.watch.live import Live
from pixivflow.errors import ConfigError

PATIENCE: Final = 20
"""A file that never rests is read after so many times the debounce anyway."""

RETRY_MS: Final = 30_000
"""Until a folder that could not be watched is tried again."""


@dataclass(frozen=True, slots=True)
class Look(Asks["Reload | ConfigError"]):
    """Look at the file. `at_once`: a person asked; otherwise the file has stirred and may not be finished."""

    at_once: bool = True


@dataclass(frozen=True, slots=True)
class Parts:
    """What the watcher works with.

    `read`: the file as it is now, or its `ConfigError`. `published`: hears of every snapshot that comes in force.
    `stirring`: yields when the file may have changed.
    """

    path: Path
    live: Live
    read: Callable[[], Awaitable[Loaded]]
    published: Callable[[Settings], None]
    stirring: Callable[[Path, trio.Event], AsyncGenerator[None, None]]


async def config_watcher(ctx: Context, mailbox: Mailbox[Look], parts: Parts) -> None:
    """Keep the snapshot in force up to date with the file until told to stop."""
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        try:
            if parts.live.current().scheduler_runtime.watch_config:
                nursery.start_soon(_listen, ctx, mailbox, parts, stop)
            ctx.started()
            while (letter := await _next(ctx, mailbox, parts)) is not None:
                with letter.answering():
                    letter.answer(await _look(ctx, parts))
        finally:
            stop.set()
            nursery.cancel_scope.cancel()


def reader(path: Path, environ: Mapping[str, str]) -> Callable[[], Awaitable[Loaded]]:
    """Reads the file in a thread, since a large one would keep everybody else waiting.

    Errors of what it returns: `ConfigError`.
    """
    limiter = trio.CapacityLimiter(1)

    async def read() -> Loaded:
        return await trio.to_thread.run_sync(load, path, environ, limiter=limiter, abandon_on_cancel=True)

    return read


def warn(note: Note, loaded: Loaded) -> None:
    """Say each thing about a configuration in force that should be looked at, the first hundred of them."""
    for finding in islice(loaded.warnings, SHOWN):
        note("config.warning", field=finding.field, code=finding.code, text=finding.message)


async def _listen(ctx: Context, mailbox: Mailbox[Look], parts: Parts, stop: trio.Event) -> None:
    """Leave a hint whenever the file stirs. A folder that cannot be watched is tried again."""
    while not stop.is_set():
        try:
            async with aclosing(parts.stirring(parts.path, stop)) as stirs:
                async for _ in stirs:
                    mailbox.tell(Look(at_once=False))
        except OSError as error:
            ctx.note("config.unwatched", file=str(parts.path), error=error)
        await trio.sleep(RETRY_MS / 1000)


async def _next(ctx: Context, mailbox: Mailbox[Look], parts: Parts) -> Letter[Look] | None:
    """The next letter to act on: somebody asks, or the file has come to rest. None when it is time to stop."""
    debounce_ms = parts.live.current().scheduler_runtime.reload_debounce_ms
    letter = await ctx.next_letter(mailbox)
    with trio.move_on_after(PATIENCE * debounce_ms / 1000):
        while letter is not None and not letter.message.at_once:
            later = await ctx.next_letter(mailbox, debounce_ms)
            if later is None:
                break
            letter = later
    return None if ctx.stopping else letter


async def _look(ctx: Context, parts: Parts) -> Reload | ConfigError:
    """Read the file and do what is decided about it."""
    try:
        loaded = await parts.read()
    except ConfigError as error:
        ctx.note("config.rejected", file=str(parts.path), faults=_faults(error))
        return error
    verdict = decide(parts.live.current(), loaded.settings)
    match verdict:
        case Keep():
            ctx.note("config.unchanged", file=str(parts.path))
        case Refuse(keys):
            ctx.note("config.restart_needed", file=str(parts.path), keys=keys)
        case Replace(settings, waiting):
            parts.live.put(settings)
            ctx.note("config.replaced", generation=settings.generation)
            if waiting:
                ctx.note("config.waits_for_restart", file=str(parts.path), keys=waiting)
            warn(ctx.note, loaded)
            parts.published(settings)
        case _:
            assert_never(verdict)
    return verdict


def _faults(error: ConfigError) -> list[dict[str, str]]:
    if isinstance(error, ConfigInvalid):
        return _plain(error.report.errors)
    return [{"field": error.key, "message": str(error)}]


def _plain(findings: Iterable[Finding]) -> list[dict[str, str]]:
    return [each.plain() for each in islice(findings, SHOWN)]
