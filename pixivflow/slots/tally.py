"""What one turn of a target went through, counted: an empty day says what it passed over and why."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from pixivflow.config.texts import stored_text
from pixivflow.errors import Cause
from pixivflow.slots.nothing import nothing_new
from pixivflow.slots.ports import Choice, Skip, SkipCode
from pixivflow.slots.target import Scan
from pixivflow.slots.texts import REPORT_MAX

EXAMPLES: Final = 16
"""How many of the works that were passed over a report names; all of them are counted."""

REASON_CHARS: Final = 160


@dataclass(slots=True)
class Tally:
    """The counts of one turn.

    `read`: works in lists; `outages`: what made the whole search impossible, in order; `cause`: why the turn failed.
    """

    stage: int = 0
    bound: int = 0
    read: int = 0
    attempted: int = 0
    skips: list[Skip] = field(default_factory=list)
    outages: list[str] = field(default_factory=list)
    cause: Cause | None = None

    def chosen(self, choice: Choice) -> None:
        """A search has brought its works."""
        self.bound, self.read = choice.bound, choice.read
        self.skips.extend(choice.skips)

    @property
    def retryable(self) -> Skip | None:
        """The last work that was passed over for no fault of its own."""
        return next((skip for skip in reversed(self.skips) if skip.code is SkipCode.UNAVAILABLE), None)

    @property
    def scan(self) -> Scan:
        """What verdicts are read from."""
        return Scan(
            attempted=self.attempted, skips=tuple(skip.code for skip in self.skips), outages=tuple(self.outages)
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many works were passed over, by code."""
        return dict(Counter(skip.code.value for skip in self.skips))

    def sentence(self) -> str:
        """What became of a search that brought nothing, for people."""
        return nothing_new(self.read, self.skips)

    def report(self) -> str:
        """All of it as JSON that is never too long to be kept: rather fewer examples than none of the counts.

        Shape: `skipped[{code, workId, reason}]`, what was tried last comes first.
        """
        examples = [
            {"code": skip.code.value, "workId": skip.work_id, "reason": stored_text(skip.reason, REASON_CHARS)}
            for skip in reversed(self.skips)
        ][:EXAMPLES]
        while len(text := self._json(examples)) > REPORT_MAX and examples:
            examples.pop()
        return text

    def _json(self, examples: list[dict[str, str]]) -> str:
        told = {
            "stage": self.stage,
            "bound": self.bound,
            "read": self.read,
            "attempted": self.attempted,
            "counts": self.counts,
            "outages": self.outages,
            "cause": self.cause,
            "skipped": examples,
        }
        return json.dumps(told, ensure_ascii=False)


class Told(msgspec.Struct, frozen=True):
    """What a kept report says of a failure. `is_ours`: a turn of this program wrote it; `cause` None: it had not
    failed then, or for a cause that is not known here."""

    cause: Cause | None = None
    outages: tuple[str, ...] = ()
    is_ours: bool = False


def told_in(report: str | None) -> Told:
    """What a kept report tells, nothing for one of another program that means something else."""
    try:
        kept = msgspec.json.decode(report or "", type=_Kept)
    except msgspec.MsgspecError:
        return Told()
    known = kept.cause if isinstance(kept.cause, str) and kept.cause in frozenset(Cause) else None
    return Told(cause=Cause(known) if known else None, outages=kept.outages, is_ours=kept.cause is not UNSET)


class _Kept(msgspec.Struct, frozen=True):
    cause: str | UnsetType | None = UNSET
    outages: tuple[str, ...] = ()
