"""What arrived at the sink: every arrival counted, one effect a key."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Receipt:
    """All that is known of one key of one route."""

    kind: str
    key: str
    number: int
    first_ms: int
    last_ms: int = 0
    arrivals: int = 0
    bodies: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def effect_id(self) -> str:
        return f"e-{self.number}"

    @property
    def is_known(self) -> bool:
        """Whether the key had arrived before this arrival."""
        return self.arrivals > 1

    def view(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "key": self.key,
            "effect_id": self.effect_id,
            "arrivals": self.arrivals,
            "bodies": [{"sha256": sha256, "count": count} for sha256, count in self.bodies.items()],
            "first_ms": self.first_ms,
            "last_ms": self.last_ms,
            "statuses": dict(self.statuses),
        }


class Receipts:
    """The book of the sink. What is refused is no arrival; three reasons for it are counted."""

    def __init__(self) -> None:
        self._book: dict[tuple[str, str], Receipt] = {}
        self.keyless = self.bad_signature = self.stale = 0

    def arrive(self, kind: str, key: str, sha256: str, now: int) -> Receipt:
        """Count an arrival. `sha256`: of what was sent."""
        receipt = self._book.get((kind, key))
        if receipt is None:
            receipt = self._book[kind, key] = Receipt(kind, key, len(self._book) + 1, now)
        receipt.arrivals += 1
        receipt.last_ms = now
        receipt.bodies[sha256] += 1
        return receipt

    def view(self, kind: str | None = None, key: str | None = None) -> dict[str, Any]:
        """The receipts of a kind and key, or all; the counters are always of all."""
        chosen = [each.view() for each in self._book.values() if kind in (None, each.kind) and key in (None, each.key)]
        counters = {"keyless": self.keyless, "bad_signature": self.bad_signature, "stale": self.stale}
        return {"receipts": chosen, "effects": len(self._book), **counters}
