"""From a configuration file to a living daemon.

The sockets are bound before the rest of the program is imported, so that callers wait in the backlog and are not sent
away while a cold interpreter warms up.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pixivflow import failpoints
from pixivflow.config.load import Loaded, load
from pixivflow.config.model import Settings
from pixivflow.daemon.sockets import listening

if TYPE_CHECKING:
    from pixivflow.daemon.program import Program
    from pixivflow.observe.log import Log

SWITCH_INTERVAL_S = 0.001
"""A thread of pure Python keeps the event loop waiting no longer than this."""


def start(path: Path, environ: MutableMapping[str, str]) -> int:
    """Run the daemon that the file describes, until it is stopped or leaves. The process's exit code.

    Errors: `ConfigError` naming the setting.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a reload of what is only being loaded is none, and no end either
    loaded = load(path, environ)
    sockets = sockets_for(loaded.settings, environ)
    import trio  # not before the sockets are bound

    sys.setswitchinterval(SWITCH_INTERVAL_S)
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # httpx's own command line: 50 ms, unused
    return trio.run(serve, loaded, sockets, environ, sys.stderr)


def sockets_for(settings: Settings, environ: MutableMapping[str, str]) -> list[socket.socket]:
    """The door's sockets; none when the door stays shut. Errors: `ConfigError`."""
    trigger = settings.scheduler_runtime.trigger
    return listening(trigger.host, trigger.port, environ) if trigger.enabled else []


async def serve(
    loaded: Loaded, sockets: Sequence[socket.socket], environ: MutableMapping[str, str], stream: TextIO
) -> int:
    """Live until the tree has stopped. Lines about what happens go to `stream`."""
    return await prepared(loaded, sockets, environ, stream).live()


class Daemon:
    """A daemon that is joined and not started yet."""

    def __init__(self, program: "Program", log: "Log") -> None:
        self._program, self._log = program, log
        self._failed, self._signal = False, ""

    @property
    def exit_reason(self) -> str:
        """Why it left: `idle`, `max-lifetime`, the name of a signal, or `failed` when it could not go on."""
        return self._program.exit_reason or ("failed" if self._failed else self._signal)

    async def live(self, *, is_last: bool = True) -> int:
        """Until the tree has stopped. The process's exit code. `is_last`: the process ends after it."""
        from pixivflow.daemon.lifecycle import live

        program = self._program
        code = await live(program.supervisor, reload=program.reload, stopped_by=self._stopped_by, is_last=is_last)
        self._failed = code != 0
        await self._program.aclose()
        self._log.note("daemon.left", reason=self.exit_reason, exit_code=code)
        return code

    def _stopped_by(self, name: str) -> None:
        self._signal = name


def prepared(
    loaded: Loaded, sockets: Sequence[socket.socket], environ: MutableMapping[str, str], stream: TextIO
) -> Daemon:
    """Join a daemon. Inside trio. Errors: `ConfigError` for crash points or test timings that cannot be."""
    from actors.kit import Hooks, SystemClock
    from pixivflow.config.watch.watcher import warn
    from pixivflow.daemon.gaps import with_gaps
    from pixivflow.daemon.program import Program
    from pixivflow.daemon.resolved import retries_of
    from pixivflow.delivery.backoff import policy_of
    from pixivflow.observe.opened import opened

    settings = loaded.settings
    points = failpoints.load(environ)
    timings = failpoints.load_timings(environ, points)
    log = opened(settings, environ, stream)
    warn(log.note, with_gaps(loaded))
    hooks = Hooks(clock=SystemClock(), note=log.note, point=points.point, settle_ms=timings.settle_ms)
    log.note(
        "daemon.starting",
        pid=os.getpid(),
        mode=settings.scheduler_runtime.mode,
        listening=[address_of(each) for each in sockets],
        has_schedule_token=bool(settings.scheduler_runtime.trigger.token.reveal()),
        ledger=str(settings.storage.database_path),
    )
    tested = policy_of(timings) if points.enabled else None  # a test's durations go before the file's
    program = Program(
        loaded,
        sockets,
        hooks,
        timings,
        environ,
        published=following(log, environ),
        retries=lambda settings: tested or retries_of(settings),
    )
    return Daemon(program, log)


def following(log: "Log", environ: Mapping[str, str]) -> Callable[[Settings], None]:
    """What a snapshot that comes in force changes about the log."""
    from pixivflow.observe.known import known_secrets

    def follow(settings: Settings) -> None:
        log.set_level(settings.log_level)
        log.redactor.learn(*known_secrets(settings, environ))

    return follow


def address_of(door: socket.socket) -> str:
    """Where a door is: `127.0.0.1:8090`, `[::1]:8090`, or the path of a local one."""
    name = door.getsockname()
    if isinstance(name, str | bytes):
        return os.fsdecode(name)
    return f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}"
