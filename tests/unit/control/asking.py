"""A trigger without a socket: a request as a route sees it, and the words in which tests send one."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from pixivflow.control import triggers
from pixivflow.control.ports import Failed, Reply
from pixivflow.control.refusals import Refusals
from tests.edges.control.doors import RUN, TOKEN, Behind


@dataclass
class Asking:
    """Implements `Asked`. `sent`: the body, or why there is none."""

    sent: bytes | Failed = b""
    headers: dict[str, str] = field(default_factory=dict)
    method: str = "POST"
    path: str = RUN

    def header(self, name: str) -> str | None:
        return self.headers.get(name)

    async def body(self) -> bytes:
        if isinstance(self.sent, Failed):
            raise self.sent
        return self.sent


@dataclass
class Told:
    """An answer, its body as it goes over the wire."""

    status: int
    body: Any
    headers: dict[str, str]


async def trigger(
    process: Behind,
    sent: bytes | Failed = b"",
    *,
    plan: str = "p",
    token: str | None = TOKEN,
    refusals: Refusals | None = None,
    **headers: str,
) -> Told:
    """Trigger the plan. `headers`: underscores stand for dashes."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if token is not None:
        given["authorization"] = f"Bearer {token}"
    asked = Asking(sent, given, path=f"/internal/schedules/{plan}/run")
    return told(await triggers.run(process.parts, refusals or Refusals(process.ledger), asked, plan))


def told(reply: Reply) -> Told:
    """The answer as whoever asked reads it."""
    return Told(reply.http_status, msgspec.json.decode(msgspec.json.encode(reply.body)), dict(reply.headers))


def outcomes(process: Behind) -> list[tuple[str, dict[str, Any]]]:
    """The events that say how requests ended, oldest first, without what no test can know."""
    found = [(event, dict(fields)) for event, fields in process.probe.notes if event.startswith("schedule.trigger_")]
    return [(event, fields) for event, fields in found if "http_status" in fields]
