"""Triggers, as clocks outside send them, and what was answered."""

import http.client
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read. `status` 0: nothing came, so that nobody knows."""

    status: int = 0
    body: dict[str, Any] = field(default_factory=dict)
    retry_after: str | None = None

    @property
    def slot(self) -> str:
        """The slot that the answer names; empty when it names none."""
        named: str = self.body.get("schedule", {}).get("slotId", "")
        return named


NOTHING = Answer()


def call(port: int, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Answer:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    with suppress(OSError, http.client.HTTPException, ValueError):
        try:
            sent = None if body is None else json.dumps(body).encode()
            connection.request(method, path, sent, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, json.loads(answer.read() or b"{}"), answer.getheader("retry-after"))
        finally:
            connection.close()
    return NOTHING


def trigger(port: int, plan: str, token: str | None) -> Answer:
    """Ask for a run of `plan`. `token` None: none is shown."""
    shown = {} if token is None else {"Authorization": f"Bearer {token}"}
    return call(port, "POST", f"/internal/schedules/{plan}/run", {}, shown)
