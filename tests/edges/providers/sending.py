"""Attempts over a real line: a row of a frozen promise, a route, and what came of it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pixivflow.config.model import HttpMultipart, Route, Webhook
from pixivflow.delivery.artifact import Deliverable
from pixivflow.delivery.intents import frozen_payload
from pixivflow.delivery.model import Ack, OutboxRow
from pixivflow.delivery.payload import frozen
from pixivflow.ids import RouteName
from pixivflow.providers import egress
from pixivflow.providers.addresses import anywhere
from pixivflow.providers.attempts import Attempts
from pixivflow.providers.files import size_on_disk
from pixivflow.times import Timings
from tests.fixtures.deliveries import KEY, NOW, a_row
from tests.fixtures.works import a_work, an_occasion

QUICK = Timings(submission_ms=5_000)
PNG = b"\x89PNG\r\n\x1a\n..."


def pages(folder: Path, *names: str, content: bytes = PNG) -> list[str]:
    """Files on the disk, by their absolute paths."""
    for name in names:
        (folder / name).write_bytes(content)
    return [os.fspath(folder / name) for name in names]


def promised(
    work: Deliverable, *, route: str = "a", occasion: Mapping[str, Any] | None = None, **more: Any
) -> OutboxRow:
    """The claimed row of a promise of `work`. `more`: keys that replace those of its payload."""
    fields = more.pop("fields", None)
    whole = frozen(work, an_occasion(**(occasion or {})), size_on_disk, fields=fields)
    return a_row(route=RouteName(route), payload_json=frozen_payload({**whole, **more}, RouteName(route), KEY))


def of_files(*paths: str, **more: Any) -> OutboxRow:
    """The claimed row of a promise of illustration 71 with these pages."""
    return promised(a_work(*paths), **more)


def without(row: OutboxRow, key: str) -> OutboxRow:
    """The same row, its payload without one key."""
    told = json.loads(row.payload_json)
    del told[key]
    return a_row(route=row.route, payload_json=json.dumps(told))


async def attempted(
    row: OutboxRow,
    route: Route | None,
    *,
    environ: Mapping[str, str] | None = None,
    timings: Timings = QUICK,
    now: int = NOW,
    hidden: frozenset[str] = frozenset(),
) -> Ack:
    """One attempt at `row`, whose route `route` is; None: no route of that name. `hidden`: as of `Attempts`."""
    way_out = egress.transport(allow=anywhere, keep_alive=False)
    attempts = Attempts(
        routes=lambda: {} if route is None else {row.route: route},
        way_out=way_out,
        now=lambda: now,
        environ=environ or {},
        timings=timings,
        hidden=hidden,
    )
    try:
        return await attempts(row)
    finally:
        await way_out.aclose()


def gateway(url: str, **options: Any) -> Webhook:
    return Webhook(url=url, **options)


def submissions(url: str, **options: Any) -> HttpMultipart:
    return HttpMultipart(url=url, **options)
