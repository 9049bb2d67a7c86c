"""The other end of the wire, in memory and outliving every life: what arrived, what it took, what it said."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Final

import trio

from pixivflow.delivery.model import (
    Accepted,
    Ack,
    DuplicateExisting,
    IdempotentReplay,
    OutboxRow,
    PermanentFailure,
    RemoteFailed,
    RetryableFailure,
)
from tests.simulation.story import Story

PATIENCE_S: Final = 300.0
"""How long an attempt waits for an answer."""

LOST: Final = RetryableFailure(error="no answer came back", answer_unknown=True)
UNREACHED: Final = RetryableFailure(error="could not connect")

GRIM: Final = ("accept", "accept", "late", "busy", "busy", "unreached", "lost", "mute", "hang", "ours", "refuse", "bad")
"""What may happen to an attempt while the receiver is in no good mood."""


@dataclass(slots=True)
class Arrival:
    """One request. `life`: its sender's; `said`: the answer that was read, "" when none was."""

    at_s: float
    life: int
    route: str
    key: str
    digest: str
    slot: str | None
    target: str | None
    work: str
    taken: bool = False
    said: str = ""


@dataclass(slots=True)
class Receiver:
    """All routes lead here. `taken`: key -> the name of what it published under it."""

    story: Story
    arrivals: list[Arrival] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)
    _attempts: dict[str, int] = field(default_factory=dict)

    async def attempt(self, row: OutboxRow, life: int, now_s: float) -> Ack:
        """One network attempt of life number `life`, at `now_s` of the story."""
        context = json.loads(row.payload_json)["context"]
        key = context["idempotencyKey"]
        nth = self._attempts[key] = self._attempts.get(key, 0) + 1
        chance = self.story.chance("receiver", key, nth)
        mood = chance.choice(GRIM) if nth <= self.story.calm_after else "accept"
        if mood == "unreached":
            await trio.sleep(chance.uniform(0, 10))
            return UNREACHED
        arrival = Arrival(
            at_s=now_s,
            life=life,
            route=row.route,
            key=key,
            digest=hashlib.sha256(row.payload_json.encode()).hexdigest(),
            slot=context["slotId"],
            target=context["targetId"],
            work=context["pixivId"],
        )
        self.arrivals.append(arrival)
        answer = await self._answer(arrival, mood, chance.uniform(0, 60))
        arrival.said = type(answer).__name__ if answer is not LOST else ""
        return answer

    async def _answer(self, arrival: Arrival, mood: str, delay_s: float) -> Ack:
        if mood in ("lost", "hang", "late", "accept"):
            known = arrival.key in self.taken
            self.taken.setdefault(arrival.key, f"review-{len(self.taken) + 1}")
            arrival.taken = True
        match mood:
            case "lost" | "mute":
                await trio.sleep(delay_s)
                return LOST
            case "hang":
                await trio.sleep(PATIENCE_S)
                return LOST
            case "busy":
                await trio.sleep(delay_s / 10)
                return RetryableFailure(
                    error="answered HTTP 503", http_status=503, retry_after_ms=round(delay_s * 1000)
                )
            case "late" | "accept":
                await trio.sleep(delay_s if mood == "late" else delay_s / 100)
                name = self.taken[arrival.key]
                return IdempotentReplay(remote_id=name) if known else Accepted(remote_id=name)
        await trio.sleep(delay_s / 100)
        return self._verdict(arrival, mood)

    def _verdict(self, arrival: Arrival, mood: str) -> Ack:
        """An answer that ends it; who has the work already never says that it will not take it."""
        if arrival.key in self.taken:
            arrival.taken = True
            return DuplicateExisting(remote_id=self.taken[arrival.key], matched_key=arrival.key)
        match mood:
            case "ours":
                return DuplicateExisting(remote_id="older", matched_key="somebody-elses")
            case "refuse":
                return PermanentFailure(error="answered HTTP 400", http_status=400)
            case _:
                return RemoteFailed(remote_status="rejected", error="not for us")
