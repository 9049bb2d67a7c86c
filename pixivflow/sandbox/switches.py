"""The shapes and moods of the service that can be changed while it runs (`POST /_ctl/options`)."""

from typing import Any, Literal

import msgspec

SHAPED = ("webhook", "submissions")
Toggle = Literal["on", "off"]
ShapeName = Literal[
    "default", "queued", "weird", "failed_200", "duplicate", "duplicate_other", "conflict", "empty", "fallback"
]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """How a sink route answers an arrival. `n`: for how many arrivals `queued` is queued."""

    shape: ShapeName = "default"
    n: int = 3


class SinkSwitches(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    webhook: Shape = Shape()
    submissions: Shape = Shape()
    secret: str | None = None


class Switches(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    auth_status: Literal[400, 401] = 400
    """With what an expired token is refused."""
    premium: Toggle = "on"
    """Whether the account may sort by popularity."""
    autocomplete_shape: Literal["new", "old"] = "new"
    detail_type_key: Literal["type", "illust_type"] = "type"
    token_ttl_s: int = 3_600
    sink: SinkSwitches = SinkSwitches()


def switched(now: Switches, changes: dict[str, Any]) -> Switches:
    """`now` with the named switches set; within `sink` only the named ones too. A shape may be said by its name alone.

    Errors: `msgspec.ValidationError` naming the switch.
    """
    known = msgspec.to_builtins(now)
    sink = changes.get("sink")
    if isinstance(sink, dict):
        changes = {**changes, "sink": {**known["sink"], **{name: _spelt(name, sink[name]) for name in sink}}}
    return msgspec.convert({**known, **changes}, Switches)


def _spelt(name: str, value: Any) -> Any:
    """A shape that was said by its name alone, in full; anything else as it is."""
    return {"shape": value} if name in SHAPED and isinstance(value, str) else value
