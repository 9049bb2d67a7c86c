"""The plans that a daemon of these tests is configured with: one slot each, and an act instead of a search.

    publish   bind a work of its own choosing, promise it to the routes, come back
    wait      the same, once the gate of the stage stands open
    stubborn  ignore its cancellation until the drain window is over, then try to publish all the same
    overrun   never come back: its plan's time ends it
    raise     fail by a fault of its own
    empty     find nothing

Every target has a route, so that every publication can be seen on the wire.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

ACTS = ("publish", "wait", "stubborn", "overrun", "raise", "empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedPlan:
    """`targets`: the routes of each target. `pause_ms`: between its steps."""

    id: str
    act: str = "publish"
    timeout_ms: int = 60_000
    pause_ms: int = 0
    targets: dict[str, list[str]] = field(default_factory=lambda: {"t0": ["r0"]})

    @property
    def slot(self) -> str:
        """The one occurrence that is ever asked for."""
        return f"{self.id}@2026-01-15T0300"


def write_plans(path: Path, plans: Iterable[PlayedPlan]) -> None:
    """Put them where a daemon reads them."""
    path.write_text(json.dumps([asdict(plan) for plan in plans]))


def read_plans(path: Path) -> dict[str, PlayedPlan]:
    """The plans as `write_plans` left them, by id."""
    return {each["id"]: PlayedPlan(**each) for each in json.loads(path.read_text())}
