"""One request on the run route, from its arrival to the one event that says how it ended."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import trio

from pixivflow.config.texts import spellings_of, without
from pixivflow.control import labels
from pixivflow.control.ports import Asked, Parts, Reply
from pixivflow.ids import ScheduleId
from pixivflow.ledger.triggers import Arrival, End
from pixivflow.scheduling.disposition import ANSWERS, NO_ANSWER, Disposition
from pixivflow.scheduling.occurrence import Occurrence
from pixivflow.times import iso

PATH_MAX: Final = 200
"""How much of a path is told: who is not let in decides how long it is."""

ID_MAX: Final = 64
"""The longest name that a plan can have."""

_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ends. `reason`: for the log and the journal, one of a few words."""

    disposition: Disposition
    reply: Reply
    reason: str | None = None

    @property
    def http_status(self) -> int:
        return self.reply.http_status


GONE: Final = Outcome(Disposition.ERROR, Reply(NO_ANSWER, None), "caller_gone")
"""The caller left before it was answered, or this process did. What was committed by then stays."""


@dataclass(slots=True)
class Visit:
    """What is known of the request so far. `journal`: its row, once it has one. `began_s`: on trio's clock."""

    parts: Parts
    method: str
    path: str
    schedule_id: ScheduleId
    attempt_id: str | None
    provider: str | None
    received_at: int
    began_s: float = field(default_factory=trio.current_time)
    occurrence: Occurrence | None = None
    journal: int | None = None

    @classmethod
    def of(cls, parts: Parts, asked: Asked, schedule_id: str) -> "Visit":
        """The visit that begins now."""
        secret = parts.runtime().trigger.token.reveal()
        return cls(
            parts=parts,
            method=asked.method,
            path=_without_secret(asked.path, secret)[:PATH_MAX],
            schedule_id=_bounded(_without_secret(schedule_id, secret)),
            attempt_id=labels.attempt_id(asked.header("x-schedule-attempt-id"), asked.header("x-attempt-id"), secret),
            provider=labels.provider(asked.header("x-schedule-provider"), secret),
            received_at=parts.clock.now_ms(),
        )

    def discreet(self, text: str) -> str:
        """`text` without the token that opens this door, sent in the wrong place."""
        return _without_secret(text, self.parts.runtime().trigger.token.reveal())

    @property
    def elapsed_ms(self) -> int:
        """Since it arrived."""
        return round((trio.current_time() - self.began_s) * 1000)

    @property
    def arrival(self) -> Arrival:
        """The request as the journal keeps it."""
        return Arrival(
            received_at=self.received_at,
            schedule_id=self.schedule_id or None,
            slot_id=self.occurrence.slot_id if self.occurrence else None,
            occurrence_at=self.occurrence.at if self.occurrence else None,
            attempt_id=self.attempt_id,
            provider=self.provider,
        )

    def end(self, outcome: Outcome) -> End:
        """How it ended, as the journal keeps it."""
        return End(
            disposition=outcome.disposition,
            http_status=outcome.http_status,
            reason=outcome.reason,
            elapsed_ms=self.elapsed_ms,
        )

    def tell_received(self) -> None:
        """Before anybody asks who it is: a clock that is refused must not look like one that never came."""
        self.tell("schedule.trigger_received")

    def tell_outcome(self, outcome: Outcome) -> None:
        """The one event that says how it ended."""
        self.tell(
            ANSWERS[outcome.disposition].event,
            http_status=outcome.http_status,
            slot_id=self.occurrence.slot_id if self.occurrence else None,
            occurrence_at=self._occurrence_text(),
            disposition=outcome.disposition.value,
            reason=outcome.reason,
            trigger_source="http",
        )

    def tell(self, event: str, **fields: object) -> None:
        """Say it with what is known of the request. Whatever is wrong with the log changes no answer."""
        known: dict[str, object] = {
            "attempt_id": self.attempt_id,
            "provider": self.provider,
            "path": self.path,
            "method": self.method,
            "elapsed_ms": self.elapsed_ms,
            "schedule_id": self.schedule_id,
        }
        with suppress(Exception):
            self.parts.note(event, **{key: value for key, value in (known | fields).items() if value is not None})

    def tell_fault(self, fault: str | Exception | None) -> None:
        """Say that the journal could not be written, if so."""
        if fault is not None:
            self.tell("schedule.journal_failed", error=fault)

    def _occurrence_text(self) -> str | None:
        """The instant for people; one that cannot be shown is left out."""
        with suppress(ValueError, OverflowError, OSError):
            return iso(self.occurrence.at) if self.occurrence else None
        return None


def _without_secret(text: str, secret: str) -> str:
    return without(text, spellings_of(secret))


def _bounded(asked_for: str) -> ScheduleId:
    """The plan that was asked for. What can be no plan's name is cut and cleaned to something that still is none."""
    if len(asked_for) > ID_MAX:
        asked_for = asked_for[:ID_MAX] + "..."
    return ScheduleId(_UNPRINTABLE.sub("?", asked_for))
