"""The whole sandbox as a function from a request to an answer and the way it is sent. No socket is needed."""

import re
from typing import Final

import msgspec

from pixivflow.sandbox import control, imagehost, sink, spoil
from pixivflow.sandbox.hosts import Place, locate
from pixivflow.sandbox.journal import Record
from pixivflow.sandbox.message import Reply, Request
from pixivflow.sandbox.mishaps import met
from pixivflow.sandbox.options import Options
from pixivflow.sandbox.parts import served
from pixivflow.sandbox.rules import Seen
from pixivflow.sandbox.spoil import Wire
from pixivflow.sandbox.state import State

IN_PATH: Final = re.compile(r"/([0-9]{1,19})_(?:p([0-9]{1,4})|ugoira)|/(?:illust|novel)/([0-9]{1,19})")
WORK_PARAMS: Final = ("illust_id", "novel_id")
RECEIPTS: Final = "/sink/receipts"
"""To read what arrived is no arrival: no rule is met there, and it is not counted."""
BODY_BYTES: Final = 1 << 20
SINK_BYTES: Final = 64 << 20


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """An answer and how to send it. `record`: None for what is no traffic."""

    reply: Reply
    wire: Wire = spoil.PLAIN
    record: Record | None = None


class Service:
    """Answers requests in three steps, between which time may pass: they arrive, are answered, and leave.

    Times `t_ms` are on a clock that never stands still, whatever the sandbox's own clock does.
    """

    def __init__(self, options: Options, port: int) -> None:
        self.state = State(options, port)

    def limit(self, request: Request) -> int:
        """How many bytes of the body are kept."""
        return SINK_BYTES if locate(request).kind == "sink" else BODY_BYTES

    def arrive(self, request: Request, t_ms: float) -> tuple[Place, Record | None]:
        """Where the request goes, and its record."""
        place = locate(request)
        if place.kind == "ctl" or place.full == RECEIPTS:
            return place, None
        record = self.state.journal.arrive(request, place, t_ms)
        _count(self.state, request, record)
        return place, record

    def answer(self, request: Request, place: Place, record: Record | None, t_ms: float) -> Exchange:
        """The answer to a request that has arrived and was held long enough."""
        if place.full == RECEIPTS:
            return Exchange(reply=served(self.state, request, place))
        if record is None:
            return Exchange(reply=control.answer(self.state, request, place.path, t_ms))
        reply, wire = self._answered(request, place, record, t_ms)
        if self.state.options.latency_ms and not wire.delay_ms:
            wire = msgspec.structs.replace(wire, delay_ms=self.state.options.latency_ms)
        record.status = None if wire.is_silent else reply.status
        return Exchange(reply=reply, wire=wire, record=record)

    def _answered(self, request: Request, place: Place, record: Record, t_ms: float) -> tuple[Reply, Wire]:
        """The answer before the latency that every answer has."""
        if self.state.rules:
            seen = _seen(self.state, request, place, t_ms)
            if (rule := self.state.rules.choose(seen)) is not None:
                record.fault = rule.order.id
                return met(self.state, request, seen, rule)
        return served(self.state, request, place), spoil.PLAIN

    def leave(self, exchange: Exchange, sent: int, t_ms: float, *, left: bool) -> None:
        """Write down how the exchange ended. `sent`: bytes of the body. `left`: the other side went away."""
        record = exchange.record
        if record is not None:
            lost = "dropped" if exchange.wire.is_lost else "answered"
            record.bytes, record.outcome = sent, "left" if left else lost
            self.state.journal.leave(record, t_ms)


def _count(state: State, request: Request, record: Record) -> None:
    journal, kind = state.journal, record.place.kind
    record.token_leak = kind in ("img", "web") and "authorization" in request.headers
    journal.token_leaks += record.token_leak
    journal.token_requests += kind == "oauth"
    journal.static_hits += kind == "static"
    journal.missing_referer += kind == "img" and not imagehost.is_referred(request)


def _seen(state: State, request: Request, place: Place, t_ms: float) -> Seen:
    params = request.params
    match = IN_PATH.search(place.path) if place.kind in ("img", "web") else None
    work = next((params[name] for name in WORK_PARAMS if name in params), (match[1] or match[3]) if match else "")
    return Seen(
        place=place,
        query=params,
        work=int(work) if work.isascii() and work.isdecimal() else None,
        page=int(match[2]) if match and match[2] else None,
        key=sink.key_of(request, place.path) if place.kind == "sink" and state.rules.ask_for_keys else None,
        token=request.bearer or "",
        at_ms=t_ms,
    )
