"""The door's sockets, bound before anything of the work is imported, or taken from whoever held them while we slept."""

import os
import socket
from collections.abc import MutableMapping
from typing import Final

from pixivflow.errors import ConfigError

BACKLOG: Final = 128
"""How many callers wait while nobody serves yet."""
FIRST_FD: Final = 3
"""Where a service manager puts the first socket that it hands over."""


def listening(host: str, port: int, environ: MutableMapping[str, str]) -> list[socket.socket]:
    """The sockets to serve on: those that were handed over to this very process, else one bound to `host` and `port`.

    The variables of a hand-over are taken out of `environ`, so that no child believes they are meant for it. With
    port 0 the system chooses.
    Errors: `ConfigError` naming the setting when nothing can be bound there, or what was not handed over as announced.
    """
    handed, meant_for = environ.pop("LISTEN_FDS", ""), environ.pop("LISTEN_PID", "")
    environ.pop("LISTEN_FDNAMES", None)
    count = int(handed) if handed.isascii() and handed.isdecimal() else 0
    if meant_for != str(os.getpid()) or not count:
        return [_bound(host, port)]
    return [_handed_over(FIRST_FD + number, handed) for number in range(count)]


def _handed_over(descriptor: int, handed: str) -> socket.socket:
    try:
        return socket.socket(fileno=descriptor)
    except OSError as error:
        raise ConfigError("LISTEN_FDS", handed, f"descriptor {descriptor}: {error.strerror}") from error


def _bound(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        taken = socket.socket(family, kind, protocol)
        try:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # `::` serves both families
            taken.bind(address)
            taken.listen(BACKLOG)
        except BaseException:
            taken.close()
            raise
    except OSError as error:
        hint = f"cannot listen on {host} port {port}: {error.strerror or error}"
        raise ConfigError("schedulerRuntime.trigger.port", port, hint) from error
    return taken
