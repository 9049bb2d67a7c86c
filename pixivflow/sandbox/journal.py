"""Every request that came, as records and as figures. Control requests are no traffic and do not stand here."""

import hashlib
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import msgspec

from pixivflow.sandbox.hosts import Place
from pixivflow.sandbox.message import Request
from pixivflow.sandbox.rules import is_route

KEPT: Final = 100_000
ROUTES: Final = 500
SAMPLES: Final = 4_096
"""How many of a route's last durations its percentiles are taken from."""


@dataclass(slots=True, eq=False)
class Record:
    """One request. It is there from its arrival on; what is known at its end is None until then.

    `outcome`: `answered`, `dropped` (a fault cut the answer), `left` (the other side went away). `bytes`: of the body.
    """

    n: int
    t_ms: float
    place: Place
    request: Request
    figures: "Figures"
    status: int | None = None
    fault: str | None = None
    bytes: int = 0
    ms: float | None = None
    outcome: str | None = None
    token_leak: bool = False

    def view(self) -> dict[str, Any]:
        """The record as it is shown: secrets as the beginning of their hash."""
        return {
            "n": self.n,
            "t_ms": round(self.t_ms, 3),
            "kind": self.place.kind,
            "method": self.request.method,
            "path": self.request.path,
            "route": self.place.full,
            "query": self.request.params,
            "headers": {name: _shown(name, value) for name, value in self.request.headers.items()},
            "status": self.status,
            "fault": self.fault,
            "bytes": self.bytes,
            "ms": None if self.ms is None else round(self.ms, 3),
            "outcome": self.outcome,
            "token_leak": self.token_leak,
        }


def _shown(name: str, value: str) -> str:
    if name in ("authorization", "cookie", "proxy-authorization"):
        return f"sha256:{hashlib.sha256(value.encode()).hexdigest()[:12]}"
    return value


@dataclass(slots=True)
class Figures:
    """What is counted of one route."""

    count: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    bytes: int = 0
    durations: deque[float] = field(default_factory=lambda: deque(maxlen=SAMPLES))
    running: int = 0
    max_concurrent: int = 0
    last_ms: float | None = None
    min_gap_ms: float | None = None

    def arrive(self, t_ms: float) -> None:
        gap = None if self.last_ms is None else t_ms - self.last_ms
        self.min_gap_ms = gap if self.min_gap_ms is None or gap is None else min(gap, self.min_gap_ms)
        self.last_ms = t_ms
        self.count += 1
        self.running += 1
        self.max_concurrent = max(self.max_concurrent, self.running)

    def leave(self, record: Record) -> None:
        self.running -= 1
        self.statuses[record.status or 0] += 1
        self.bytes += record.bytes
        self.durations.append(record.ms or 0.0)

    def view(self) -> dict[str, Any]:
        ordered = sorted(self.durations)
        ranks = {f"p{part}_ms": _at(ordered, part) for part in (50, 95, 99)}
        return {
            "count": self.count,
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "bytes": self.bytes,
            **ranks,
            "max_concurrent": self.max_concurrent,
            "min_gap_ms": None if self.min_gap_ms is None else round(self.min_gap_ms, 3),
        }


def _at(ordered: list[float], part: int) -> float | None:
    return round(ordered[min(len(ordered) - 1, len(ordered) * part // 100)], 3) if ordered else None


class Journal:
    """The records of the last requests, and figures over all of them."""

    def __init__(self) -> None:
        self._ring: deque[Record] = deque(maxlen=KEPT)
        self._routes: dict[str, Figures] = {}
        self._count = 0
        self.token_requests = self.token_leaks = self.static_hits = self.missing_referer = 0

    def arrive(self, request: Request, place: Place, t_ms: float) -> Record:
        """Write down that a request came. `t_ms`: on a clock that never stands still."""
        self._count += 1
        bare = msgspec.structs.replace(request, body=b"") if request.body else request
        figures = self._figures(label(place))
        record = Record(self._count, t_ms, place, bare, figures)
        self._ring.append(record)
        figures.arrive(t_ms)
        return record

    def _figures(self, route: str) -> "Figures":
        """The figures of a route; whoever asks for ever new addresses is counted under one name."""
        if route not in self._routes and len(self._routes) >= ROUTES:
            route = "others"
        return self._routes.setdefault(route, Figures())

    def leave(self, record: Record, t_ms: float) -> None:
        """Write down that it is over; the record already tells how."""
        record.ms = t_ms - record.t_ms
        record.figures.leave(record)

    def records(self, since: int = 0, kind: str | None = None, route: str | None = None) -> Iterator[Record]:
        """The records after number `since`, oldest first, of that kind and route glob."""
        for record in self._ring:
            if record.n > since and kind in (None, record.place.kind) and (not route or is_route(route, record.place)):
                yield record

    def view(self) -> dict[str, Any]:
        return {
            "routes": {name: self._routes[name].view() for name in sorted(self._routes)},
            "token_requests": self.token_requests,
            "token_leaks": self.token_leaks,
            "static_hits": self.static_hits,
            "missing_referer": self.missing_referer,
        }

    def unmet(self, expected: Iterable[tuple[str, int, int | None]]) -> list[dict[str, Any]]:
        """What the records do not meet of `(route, at least, at most)`, each with how many were `found`."""
        missed = []
        for route, least, most in expected:
            found = sum(1 for _ in self.records(route=route))
            if found < least or (most is not None and found > most):
                missed.append({"route": route, "min": least, "max": most, "found": found})
        return missed


@lru_cache(maxsize=8_192)
def label(place: Place) -> str:
    """The route that a request is counted under: ids are left out, and of pictures all but their kind."""
    if place.kind == "img":
        return f"{place.base}/{place.path[1:].partition('/')[0]}/*"
    return re.sub(r"/[0-9]+(?=/|$)", "/*", place.full)
