"""The sandbox as something that runs: beside other tasks, inside a test, or as a process of its own."""

import contextlib
import signal
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import trio

from pixivflow.sandbox.doors import Door, Hall
from pixivflow.sandbox.hosts import Bases, local_bases
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.service import Service
from pixivflow.sandbox.tls import credentials

ORDINARY: Final = Options()


class Sandbox:
    """A sandbox that answers. `ca`: what to trust on the TLS port, a file that goes when the sandbox does."""

    def __init__(self, service: Service, port: int, tls_port: int | None, ca: Path | None) -> None:
        self.service, self.port, self.tls_port, self.ca = service, port, tls_port, ca
        self._stop = trio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def endpoints(self) -> Bases:
        """What `pixiv.endpoints` of a configuration must be: `app` is its `api`, `img` its `image`."""
        return local_bases(self.port)

    def stop(self) -> None:
        """Take no more requests, answer those that are here, and let `serve` return."""
        self._stop.set()

    async def stopped(self) -> None:
        """Until somebody called `stop`."""
        await self._stop.wait()


async def serve(
    options: Options = ORDINARY, *, task_status: trio.TaskStatus[Sandbox] = trio.TASK_STATUS_IGNORED
) -> None:
    """Serve until the sandbox that is handed to `task_status` is stopped, or until cancelled.

    Errors: `ConfigError` for a port that somebody else has, or a fixture that cannot be taken.
    """
    with _tls(options) as (context, ca):
        doors = [Door(options.port)]
        if context is not None:
            doors.append(Door(options.tls_port or 0, context))
        try:
            for door in doors:
                await door.bind()
            service = Service(options, doors[0].port)
            sandbox = Sandbox(service, doors[0].port, doors[1].port if context else None, ca)
            await _serve(sandbox, doors, task_status)
        finally:
            for door in doors:
                door.close()


async def _serve(sandbox: Sandbox, doors: list[Door], task_status: trio.TaskStatus[Sandbox]) -> None:
    async with trio.open_nursery() as peers:
        hall = Hall(sandbox.service, peers, doors)
        async with trio.open_nursery() as listening:
            for door in doors:
                listening.start_soon(door.serve, hall)
            task_status.started(sandbox)
            await sandbox.stopped()
            listening.cancel_scope.cancel()
        await hall.close()
        peers.cancel_scope.cancel()


@contextlib.contextmanager
def _tls(options: Options) -> Iterator[tuple[ssl.SSLContext | None, Path | None]]:
    if options.tls_port is None:
        yield None, None
    else:
        with credentials() as (context, ca):
            yield context, ca


@contextlib.asynccontextmanager
async def running_sandbox(options: Options = ORDINARY) -> AsyncIterator[Sandbox]:
    """A sandbox for as long as the block lasts.

    Errors: those of `serve`, and what the block raises; both come out as they are, not in a group.
    """
    raised: Exception | None = None
    async with trio.open_nursery() as nursery:
        try:
            sandbox: Sandbox = await nursery.start(serve, options)
            try:
                yield sandbox
            finally:
                sandbox.stop()
        except Exception as error:
            raised = error
    if raised is not None:
        raise raised


async def run(options: Options) -> None:
    """Serve as a process: say where, and stop in order at SIGINT or SIGTERM."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with running_sandbox(options) as sandbox:
            if sandbox.tls_port is not None:
                print(f"TLS {sandbox.tls_port}\nCA {sandbox.ca}")
            print(f"READY {sandbox.port}", flush=True)
            async for _ in signals:
                break


def main(options: Options) -> None:
    """The command `pixivflow sandbox`, its options read. Errors: `ConfigError`, for the command line to tell."""
    trio.run(run, options)
