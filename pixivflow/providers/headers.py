"""The headers of a request: what the operator configured, and what no configuration can replace."""

from collections.abc import Mapping, Sequence
from typing import Final

from pixivflow.config.headers import is_header_name, is_header_value
from pixivflow.config.mask import Secret
from pixivflow.errors import ConfigError
from pixivflow.providers.reveal import Reveal

Headers = Sequence[tuple[str, bytes]]
"""In the order in which they are sent, each name once."""

_FRAMING: Final = frozenset({"content-length", "transfer-encoding", "host", "connection"})
"""Ours alone: another value would make the receiver read another request than was sent."""


def configured(headers: Mapping[str, Secret], reveal: Reveal) -> Headers:
    """The headers of a route, their references filled.

    Errors: `ConfigError` for a variable that is not set, and for a name or value that cannot be sent.
    """
    found = [(name, header_value(name, reveal.header(name, value))) for name, value in headers.items()]
    for name, _ in found:
        if not is_header_name(name):
            raise ConfigError("headers", name, "this is no name of a header")
    return [(name, value) for name, value in found if name.lower() not in _FRAMING]


def header_value(name: str, value: str) -> bytes:
    """The value as it is sent. Errors: `ConfigError` naming the header whose value holds a control character."""
    if not is_header_value(value):
        raise ConfigError(f"headers.{name}", None, "a value must not hold line breaks or other control characters")
    return value.strip().encode("utf-8", "replace")


def merged(below: Headers, above: Headers) -> Headers:
    """Both, but of those below only what is not above under any spelling of its name."""
    taken = {name.lower() for name, _ in above}
    return [*above, *((name, value) for name, value in below if name.lower() not in taken)]
