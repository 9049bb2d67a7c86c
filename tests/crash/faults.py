"""What the receiver does to which arrival.

An act is a word. These are about the request:

    accept   take it and say so; one that is known already is told apart (see `receiver`)
    busy     say 503 without taking it
    refuse   say 400 for good, unless the work was taken before

and these about the wire:

    lost     take it, and close the connection without a word
    mute     close the connection without taking it
    hang     take it, and say nothing until the sender gives up
    late     accept it after `late_s`
    hold     do not take it, and say 503 only after another arrival of the same key was answered
    early    do not take it, and say 503 as soon as another arrival of the same key has come
    slow     take it, and say so only a while after the answer to an earlier one was read, or when a third one has come
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

ACTS = ("accept", "busy", "refuse", "lost", "mute", "hang", "late", "hold", "early", "slow")
AT_RANDOM = ("accept", "accept", "busy", "busy", "refuse", "lost", "lost", "mute", "hang", "late")


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The acts of one receiver. An arrival is named by route, slot, target and how many there were before it.

    `seed` None accepts everything. From the `calm_after`-th arrival on everything is accepted, so that all work ends.
    `orders`: acts for `<slot>/<target>` by number, which go before chance. `secret`: quoted in every refusal.
    """

    seed: int | None = None
    calm_after: int = 3
    orders: dict[str, list[str]] = field(default_factory=dict)
    secret: str = ""
    late_s: float = 0.15

    def act(self, route: str, slot: str, target: str, before: int) -> str:
        """What happens to this arrival."""
        ordered = self.orders.get(f"{slot}/{target}", [])
        if before < len(ordered):
            return ordered[before]
        if self.seed is None or before >= self.calm_after:
            return "accept"
        return Random(f"{self.seed}:{route}:{slot}:{target}:{before}").choice(AT_RANDOM)

    def write(self, path: Path) -> None:
        """Put it where a receiver reads it."""
        path.write_text(json.dumps(asdict(self)))


def read_script(path: Path) -> Script:
    """A script as `write` left it."""
    return Script(**json.loads(path.read_text()))
