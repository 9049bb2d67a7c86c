"""From a configuration file to a living daemon.

The sockets are bound before the rest of the program is imported, so that callers wait in the backlog and are not sent
away while a cold interpreter warms up.
"""

import os
import socket
import sys
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import msgspec

from pixivflow import failpoints
from pixivflow.config.load import Loaded, load
from pixivflow.config.model import Settings
from pixivflow.daemon.sockets import listening
from pixivflow.times import Timings, checked

if TYPE_CHECKING:
    from pixivflow.daemon.program import Program
    from pixivflow.observe.log import Log

SWITCH_INTERVAL_S = 0.001
"""A thread of pure Python keeps the event loop waiting no longer than this."""


def start(path: Path, environ: MutableMapping[str, str]) -> int:
    """Run the daemon that the file describes, until it is stopped or leaves. The process's exit code.

    Errors: `ConfigError` naming the setting.
    """
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

    async def live(self) -> int:
        """Until the tree has stopped. The process's exit code."""
        from pixivflow.daemon.lifecycle import live

        program = self._program
        code = await live(program.supervisor, reload=program.reload, stopped_by=self._stopped_by)
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
    from pixivflow.daemon.gaps import gaps
    from pixivflow.daemon.program import Program
    from pixivflow.observe.known import known_secrets
    from pixivflow.observe.libraries import hear_libraries
    from pixivflow.observe.log import Log, format_of
    from pixivflow.observe.redact import Redactor

    settings = loaded.settings
    points = failpoints.load(environ)
    timings = timings_for(settings, failpoints.load_timings(environ, points), tested=points.enabled)
    log = Log(
        stream,
        level=settings.log_level,
        form=format_of(environ),
        redactor=Redactor(known_secrets(settings, environ)),
    )
    hear_libraries(log)

    def published(changed: Settings) -> None:
        log.set_level(changed.log_level)
        log.redactor.learn(*known_secrets(changed, environ))

    for finding in (*loaded.warnings, *gaps(settings)):
        log.note("config.warning", field=finding.field, code=finding.code, text=finding.message)
    hooks = Hooks(clock=SystemClock(), note=log.note, point=points.point, settle_ms=timings.settle_ms)
    log.note(
        "daemon.starting",
        pid=os.getpid(),
        mode=settings.scheduler_runtime.mode,
        listening=[str(each.getsockname()) for each in sockets],
        has_schedule_token=bool(settings.scheduler_runtime.trigger.token.reveal()),
        ledger=str(settings.storage.database_path),
    )
    return Daemon(Program(loaded, sockets, hooks, timings, environ, published), log)


def timings_for(settings: Settings, timings: Timings, *, tested: bool) -> Timings:
    """The durations in force: the configured pauses between attempts at a delivery, where no test has its own."""
    if tested:
        return timings
    delivery = settings.delivery
    return checked(
        msgspec.structs.replace(
            timings, retry_base_ms=delivery.outbox_retry_base_ms, retry_max_ms=delivery.outbox_retry_max_ms
        )
    )
