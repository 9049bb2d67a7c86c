"""Which addresses a request may be made to, decided where the connection is made.

A name is looked up once, every address behind it is judged, and the connection goes to one of those very addresses. So
no second look-up can differ from the one that was judged, and no spelling of an address can hide it.
"""

import ipaddress
import math
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import httpcore
import trio
from httpcore._backends.trio import TrioBackend

from pixivflow.providers.race import first_of
from pixivflow.providers.streams import Stream

Allow = Callable[[str], bool]
"""Whether a request may be made to this address, a literal of IPv4 or IPv6."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host name or of any spelling of an address. Errors: `OSError`."""

MOST_ADDRESSES: Final = 8
"""How many addresses of one host are tried."""

_GLOBAL_UNICAST: Final = ipaddress.ip_network("2000::/3")
_TRANSLATED: Final = ipaddress.ip_network("64:ff9b::/96")
"""An IPv4 address, as networks without IPv4 spell it."""
_TUNNELLED: Final = (ipaddress.ip_network("2002::/16"), ipaddress.ip_network("2001::/32"))
"""An IPv4 address inside an IPv6 one, sent on by a relay that nobody knows."""


class Refused(httpcore.ConnectError):
    """The host has an address that no request may go to. Nothing was sent."""

    def __init__(self, host: str) -> None:
        super().__init__(f"{host} has an address that requests must not be made to")


def public_only(address: str) -> bool:
    """Whether the address belongs to the open internet: not this machine, its networks, a relay or a group."""
    where = ipaddress.ip_address(address)
    if isinstance(where, ipaddress.IPv6Address):
        if where.ipv4_mapped is not None:
            return public_only(str(where.ipv4_mapped))
        if where in _TRANSLATED:
            return public_only(str(ipaddress.IPv4Address(where.packed[-4:])))
        if where not in _GLOBAL_UNICAST or any(where in network for network in _TUNNELLED):
            return False
    return where.is_global and not where.is_multicast


def anywhere(_address: str) -> bool:
    """Every address; for receivers and endpoints that the operator chose, which may well be next door."""
    return True


class Guard(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were looked up and allowed here, each connection anew."""

    def __init__(self, allow: Allow, resolve: Resolve | None = None) -> None:
        self._inner, self._allow = TrioBackend(), allow
        self._resolve = resolve or resolver()

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """The addresses of the host. Errors: `Refused` when any of them is not allowed; `httpcore.ConnectError`."""
        try:
            found = list(dict.fromkeys(await self._resolve(host, port)))
        except OSError as error:
            raise httpcore.ConnectError(f"{host} has no address: {error.strerror or 'not found'}") from error
        if not found:
            raise httpcore.ConnectError(f"{host} has no address")
        if not all(self._allow(address) for address in found):
            raise Refused(host)
        return found[:MOST_ADDRESSES]

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.AsyncNetworkStream:
        async def connect(address: str) -> httpcore.AsyncNetworkStream:
            return await self._inner.connect_tcp(address, port, None, local_address, socket_options)

        with trio.move_on_after(math.inf if timeout is None else timeout):
            return Stream(await first_of(await self.addresses(host, port), connect))
        raise httpcore.ConnectTimeout(f"no connection to {host} within {timeout} s")

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)


def resolver() -> Resolve:
    """Look-ups by the operating system, in threads of their own: names that hang must not stop files or pictures."""
    limiter = trio.CapacityLimiter(8)

    async def resolve(host: str, port: int) -> Sequence[str]:
        name = host.encode("ascii")  # bytes: a text would be read as a name of another spelling, and may be refused
        try:
            return _literal(name, port)
        except socket.gaierror:
            infos = await trio.to_thread.run_sync(_look_up, name, port, abandon_on_cancel=True, limiter=limiter)
            return _addresses(infos)

    return resolve


def _literal(name: bytes, port: int) -> Sequence[str]:
    """The address that is spelt out, in whatever way the system understands."""
    return _addresses(socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST))


def _look_up(name: bytes, port: int) -> list[Any]:
    return socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)


def _addresses(infos: Sequence[Any]) -> Sequence[str]:
    return [str(info[4][0]) for info in infos]
