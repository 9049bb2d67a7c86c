"""One event as one line of text or of JSON."""

import json
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any, Final

SERVICE: Final = "pixivflow"

_CONTROLS: Final = {sign: f"\\u{sign:04x}" for sign in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
"""What JSON lets stand in a text although a terminal obeys it, or a reader of lines ends one there."""

Event = MutableMapping[str, Any]


def stamped(at_s: float) -> str:
    """The instant as a line tells it: UTC, ISO 8601, to the millisecond. 0 -> `1970-01-01T00:00:00.000Z`."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def json_line(event: Event) -> str:
    """`{"timestamp": …, "level": …, "message": …, "service": …, …}`: these first, then the fields as they came."""
    when, level, name = event.pop("timestamp"), event.pop("level"), event.pop("event")
    return _encoded({"timestamp": when, "level": level, "message": name, "service": SERVICE, **event})


def text_line(event: Event) -> str:
    """`[2026-01-15T03:00:00.000Z] [INFO] run.finished {"slot": "…"}`: one line whatever the fields hold."""
    when, level, name = event.pop("timestamp"), event.pop("level"), event.pop("event")
    return f"[{when}] [{level.upper()}] {_encoded(name)[1:-1]}" + (f" {_encoded(event)}" if event else "")


def _encoded(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str).translate(_CONTROLS)
