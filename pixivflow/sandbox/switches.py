"""The shapes and moods of the service that can be changed while it runs (`POST /_ctl/options`)."""

from typing import Any, Literal

import msgspec

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
    sink = dict(changes.get("sink") or {})
    for route in ("webhook", "submissions"):
        if isinstance(sink.get(route), str):
            sink[route] = {"shape": sink[route]}
    return msgspec.convert({**known, **changes, "sink": {**known["sink"], **sink}}, Switches)
