"""Requests and replies as plain values, so that everything between them can be a function."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode

import msgspec

JSON_TYPE: Final = "application/json; charset=UTF-8"
Pairs = tuple[tuple[str, str], ...]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request, read to its end.

    `headers`: lower-case names; of a repeated one the last stands. `body` is empty when it was too large to keep.
    """

    method: str
    path: str
    """Decoded; `target` is what stood on the request line."""
    target: str
    query: Pairs = ()
    headers: Mapping[str, str] = {}
    body: bytes = b""
    tls: bool = False
    is_whole: bool = True
    """Whether as many bytes came as were announced."""
    is_oversized: bool = False

    @property
    def params(self) -> dict[str, str]:
        """The query by name; of a repeated one the last stands."""
        return dict(self.query)

    @property
    def bearer(self) -> str | None:
        """The access token, or None without one. `Bearer` alone is an empty token."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token if scheme == "Bearer" else None


def request(
    method: str, target: str, headers: Mapping[str, str] | None = None, body: bytes = b"", **facts: bool
) -> Request:
    """A request from what stands on the wire. `headers`: lower-case names. `facts`: the remaining fields by name."""
    path, query = split_target(target)
    return Request(method=method, path=path, target=target, query=query, headers=headers or {}, body=body, **facts)


@lru_cache(maxsize=4_096)
def split_target(target: str) -> tuple[str, Pairs]:
    """Path and query of a request line; an absolute address, as sent to a proxy, loses its host."""
    if not target.startswith("/"):
        target = "/" + target.partition("//")[2].partition("/")[2]
    path, _, query = target.partition("?")
    return unquote(path), tuple(parse_qsl(query, keep_blank_values=True))


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One answer. `headers` carry no `Content-Length`: the wire adds it, also where a fault makes it lie."""

    status: int = 200
    headers: Pairs = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """The value of the first header of that name, whatever its case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def with_headers(self, **changed: str | None) -> "Reply":
        """The same with headers replaced or added; None takes one out. `content_type` stands for `Content-Type`."""
        names = {key.replace("_", "-").lower(): value for key, value in changed.items()}
        kept = [(key, value) for key, value in self.headers if key.lower() not in names]
        added = [(key.title(), value) for key, value in names.items() if value is not None]
        return msgspec.structs.replace(self, headers=(*kept, *added))


class Refused(Exception):
    """An answer that ends the handling of a request early."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(f"answered {reply.status}")
        self.reply = reply


def json_reply(value: Any, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Reply:
    """`value` as JSON, its keys in their order. `msgspec.Raw` inside stands as it is."""
    return Reply(status=status, headers=(("Content-Type", JSON_TYPE), *headers), body=msgspec.json.encode(value))


def json_of(body: bytes) -> Any:
    """The value that the JSON stands for. Errors: `ValueError` for what is none, or is nested without end."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error


def form_of(req: Request) -> dict[str, str]:
    """The fields of a form-encoded body; none when the body says that it is something else."""
    if not req.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return {}
    return dict(parse_qsl(req.body.decode("utf-8", "replace"), keep_blank_values=True))


def with_query(address: str, query: Pairs, **changed: object) -> str:
    """`address` with `query`, whose `changed` parameters are moved behind the others."""
    kept = [(key, value) for key, value in query if key not in changed]
    return f"{address}?{urlencode([*kept, *changed.items()])}"
