"""What time it is at the service, and the days it counts in: always Japanese ones."""

import time
from datetime import UTC, date, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Final, Literal

JST: Final = timezone(timedelta(hours=9))
DAY_MS: Final = 86_400_000
MANUAL_START: Final = int(datetime(2026, 1, 15, 3, tzinfo=UTC).timestamp() * 1000)

END: Final = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000)


class Clock:
    """Wall time as epoch ms; a manual one stands still until it is moved."""

    def __init__(self, kind: Literal["real", "manual"] = "real") -> None:
        self.kind = kind
        self._at: int | None = MANUAL_START if kind == "manual" else None

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 if self._at is None else self._at

    def set(self, at_ms: int) -> None:
        """Stand at `at_ms` from now on. Errors: `ValueError` for a clock that is real, or an instant out of reach."""
        if self._at is None:
            raise ValueError("the clock is real: start with --clock manual to move it")
        self._at = reachable(at_ms)


def jst(at_ms: int) -> datetime:
    """The instant in Japan."""
    return datetime.fromtimestamp(at_ms / 1000, JST)


def jst_day(at_ms: int) -> date:
    """The day in Japan."""
    return jst(at_ms).date()


def day_number(at_ms: int) -> int:
    """Which Japanese day it is, counted from some day on."""
    return (at_ms + 9 * 3_600_000) // DAY_MS


def day_start_ms(day: date) -> int:
    """The instant at which that day begins in Japan."""
    return int(datetime(day.year, day.month, day.day, tzinfo=JST).timestamp() * 1000)


def jst_text(at_ms: int) -> str:
    """`2026-01-14T12:00:00+09:00`, the shape of every date in the service's answers."""
    return jst(at_ms).isoformat(timespec="seconds")


def from_text(text: str) -> int:
    """Epoch ms of an ISO instant; without a zone it is Japanese. Errors: `ValueError` for one that is out of reach."""
    instant = datetime.fromisoformat(text)
    return reachable(int((instant if instant.tzinfo else instant.replace(tzinfo=JST)).timestamp() * 1000))


def reachable(at_ms: int) -> int:
    """The instant itself, if every calendar here can show it. Errors: `ValueError`."""
    if not 0 <= at_ms < END:
        raise ValueError("an instant must lie between 1970 and 2100")
    return at_ms


def http_date(at_ms: int) -> str:
    """The instant as HTTP headers carry it."""
    return format_datetime(datetime.fromtimestamp(at_ms // 1000, UTC), usegmt=True)
