"""What a fault does to an answer: to its body, and to the way it is sent."""

from enum import Enum
from random import Random
from typing import Any, Final, assert_never

import msgspec

from pixivflow.sandbox import faults as f
from pixivflow.sandbox.api import LISTS
from pixivflow.sandbox.envelope import DELETED, error_reply, oauth_reply
from pixivflow.sandbox.hosts import Bases
from pixivflow.sandbox.message import Reply, Request, json_of, with_query
from pixivflow.sandbox.pictures import picture
from pixivflow.sandbox.rules import Seen

PAGE: Final = b"<!DOCTYPE html><html><head><title>One moment</title></head><body>Please wait.</body></html>"


class Ending(Enum):
    """What becomes of the connection."""

    KEPT = "kept"
    CLOSED = "closed"
    STALLED = "stalled"
    RESET = "reset"


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """How an answer is sent."""

    delay_ms: int = 0
    bytes_per_s: int = 0
    """How fast the body goes out; 0: as fast as can be."""
    is_silent: bool = False
    """Nothing is sent, not even a head."""
    cut_at: int | None = None
    """How much of the body is sent; None: all of it."""
    length: int | None = None
    """What `Content-Length` says, where that is not the length of the body."""
    ending: Ending = Ending.KEPT
    shut_ms: int = 0
    """For how long nobody listens afterwards."""

    @property
    def is_lost(self) -> bool:
        """Whether the sender of the request cannot have got a whole answer."""
        return self.is_silent or self.cut_at is not None or self.length is not None

    @property
    def closes(self) -> bool:
        """Whether the connection cannot be used again."""
        return self.ending is not Ending.KEPT


PLAIN: Final = Wire()


def instead(fault: f.Instead) -> Reply:
    """The answer that stands in place of the service's."""
    match fault:
        case f.Status():
            typed = {"Content-Type": "text/plain; charset=UTF-8", **fault.headers}
            return Reply(status=fault.code, headers=tuple(typed.items()), body=fault.body.encode())
        case f.Rate403():
            return error_reply(403, "Rate Limit")
        case f.Rate429():
            return _limited(429, fault.retry_after)
        case f.Burst():
            return _limited(fault.status, fault.retry_after)
        case f.Oauth400():
            return oauth_reply(fault.reason)
        case f.Redirect():
            return Reply(status=302, headers=(("Location", fault.to),))
        case f.Error200():
            return error_reply(200, fault.message, fault.user_message)
        case f.Vanish():
            return error_reply(404, "", DELETED)
        case _:
            assert_never(fault)


def _limited(status: int, retry_after: int | str | None) -> Reply:
    after = None if retry_after is None else str(retry_after)
    return error_reply(status, "Rate Limit").with_headers(retry_after=after)


def asked(fault: f.Fault | None, request: Request) -> Request:
    """The request as a service with that fault understands it: one that cannot do ranges does not see them."""
    match fault:
        case f.NoRange():
            unseen: tuple[str, ...] = ("range", "if-range")
        case f.EtagChange() if "if-range" in request.headers:
            unseen = ("range", "if-range")  # the validator that the client knows is an old one
        case _:
            return request
    headers = {name: value for name, value in request.headers.items() if name not in unseen}
    return msgspec.structs.replace(request, headers=headers)


def way(fault: f.OnTheWire, reply: Reply, rng: Random) -> tuple[Reply, Wire]:
    """The answer and how it is sent."""
    size = len(reply.body)
    match fault:
        case f.Latency():
            return reply, Wire(delay_ms=fault.ms + rng.randint(0, fault.jitter_ms))
        case f.SlowBody():
            return reply, Wire(bytes_per_s=fault.bytes_per_s)
        case f.Stall():
            return reply, _cut(fault.after_bytes, Ending.STALLED)
        case f.Reset():
            return reply, _cut(fault.after_bytes, Ending.RESET)
        case f.Truncate(honest_length=True):
            short = msgspec.structs.replace(reply, body=reply.body[: fault.after_bytes])
            return short, Wire(ending=Ending.CLOSED)
        case f.Truncate():
            return reply, Wire(cut_at=fault.after_bytes, ending=Ending.CLOSED)
        case f.WrongLength():
            return reply, Wire(length=max(0, size + fault.delta), ending=Ending.CLOSED)
        case f.Refuse():
            return reply, Wire(is_silent=True, ending=Ending.RESET, shut_ms=fault.ms)
        case _:
            assert_never(fault)


def _cut(after_bytes: int | None, ending: Ending) -> Wire:
    return Wire(is_silent=after_bytes is None, cut_at=after_bytes, ending=ending)


def spoiled(fault: f.InTheBody, reply: Reply, rng: Random, seen: Seen, bases: Bases, page_size: int) -> Reply:
    """The answer with something else in it. What is not JSON keeps its body where the fault is about JSON."""
    match fault:
        case f.Empty():
            return msgspec.structs.replace(reply, status=200, body=b"")
        case f.Html():
            kept = reply.header("Content-Type") if fault.as_image else None
            return Reply(headers=(("Content-Type", kept or "text/html; charset=UTF-8"),), body=PAGE)
        case f.BadMagic():
            junk = rng.randbytes(len(reply.body)).replace(reply.body[:1], b"\0") if reply.body else b""
            return msgspec.structs.replace(reply, body=junk)
        case f.WrongFormat():
            other = picture(fault.format, 64, 64, len(reply.body), f"wrong/{seen.place.path}")
            return msgspec.structs.replace(reply, body=other)
        case f.EtagChange():
            return reply.with_headers(etag=f'"{rng.getrandbits(64):016x}"', last_modified=None)
        case f.NoRange():
            return reply.with_headers(accept_ranges=None)
        case f.BadJson():
            return msgspec.structs.replace(reply, body=reply.body[: len(reply.body) // 2])
        case f.DropFields():
            return _edited(reply, lambda told: _without(told, frozenset(fault.fields)))
        case f.EmptyPage():
            following = _cursor(seen, bases, seen_offset(seen) + page_size)
            return _edited(reply, lambda told: {**told, **_emptied(told), "next_url": following})
        case f.StuckCursor():
            following = _cursor(seen, bases, seen_offset(seen) or page_size)
            return _edited(reply, lambda told: {**told, "next_url": following})
        case f.CursorCycle():
            following = _cursor(seen, bases, 0 if seen_offset(seen) else page_size)
            return _edited(reply, lambda told: {**told, "next_url": following})
        case f.ForeignCursor():
            following = _cursor(seen, bases, seen_offset(seen) + page_size)
            foreign = following.replace("//127.0.0.1", "//localhost").replace(".pixiv.net/", ".pixiv.example/")
            return _edited(reply, lambda told: {**told, "next_url": foreign})
        case _:
            assert_never(fault)


def seen_offset(seen: Seen) -> int:
    """Where the asked page begins."""
    offset = seen.query.get("offset", "0")
    return int(offset) if offset.isascii() and offset.isdecimal() else 0


def _cursor(seen: Seen, bases: Bases, offset: int) -> str:
    return with_query(bases.app + seen.place.path, tuple(seen.query.items()), offset=offset)


def _edited(reply: Reply, edit: Any) -> Reply:
    try:
        told = json_of(reply.body)
    except ValueError:
        return reply
    return msgspec.structs.replace(reply, body=msgspec.json.encode(edit(told))) if isinstance(told, dict) else reply


def _emptied(told: dict[str, Any]) -> dict[str, Any]:
    return {key: [] for key in LISTS if key in told}


def _without(told: Any, fields: frozenset[str]) -> Any:
    """The JSON without those keys, wherever they stand."""
    match told:
        case dict():
            return {key: _without(value, fields) for key, value in told.items() if key not in fields}
        case list():
            return [_without(each, fields) for each in told]
        case _:
            return told
