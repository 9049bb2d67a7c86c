"""What a target asks for at the instant its run starts: the days it means, and whether anybody here can serve it.

Days are Pixiv's: they begin and end at midnight in Japan, whatever the host's clock says. `TODAY` and `YESTERDAY` are
resolved for each run anew, or a daemon would fetch the day of its own start for ever.
"""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Final, NamedTuple

import msgspec

from pixivflow.config.model import Target

JAPAN: Final = timezone(timedelta(hours=9))
DAY: Final = timedelta(days=1)


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """The instants that a work may have been made at, epoch ms, both ends included; None: no limit on that side."""

    start_at: int | None = None
    end_at: int | None = None

    def holds(self, created_at: int | None) -> bool:
        """Whether a work of that instant lies inside; one without an instant does not."""
        return created_at is not None and not self.is_before(created_at) and not self.is_after(created_at)

    def is_before(self, at: int) -> bool:
        """Whether `at` is older than all of the window."""
        return self.start_at is not None and at < self.start_at

    def is_after(self, at: int) -> bool:
        """Whether `at` is newer than all of the window."""
        return self.end_at is not None and at > self.end_at


def today(now: int) -> date:
    """The day in Japan at `now`, epoch ms."""
    return datetime.fromtimestamp(now / 1000, UTC).astimezone(JAPAN).date()


def day_of(text: str, now: int) -> date:
    """The day that a setting means: `YYYY-MM-DD`, `TODAY` or `YESTERDAY`. Errors: `ValueError` for anything else."""
    match text:
        case "TODAY":
            return today(now)
        case "YESTERDAY":
            return today(now) - DAY
        case _:
            return date.fromisoformat(text)


def day_window(first: date | None, last: date | None) -> Window | None:
    """From the first instant of `first` to the last of `last`; None where neither is given."""
    if first is None and last is None:
        return None
    return Window(
        start_at=None if first is None else _midnight(first),
        end_at=None if last is None else _midnight(last + DAY) - 1,
    )


def window_of(target: Target, now: int) -> Window | None:
    """The days that the target wants works of; None: any."""
    if target.mode == "ranking" and target.filter_tag:
        day = day_of(target.ranking_date or "TODAY", now)
        return day_window(day, day)
    first, last = (None if text is None else day_of(text, now) for text in (target.start_date, target.end_date))
    return day_window(first, last)


def ranking_day(target: Target, now: int) -> str | None:
    """The day whose ranking is meant; None, the newest there is, where the target names none.

    Pixiv refuses today's date by name until the day is ranked, and serves it when no date is asked for.
    """
    return None if target.ranking_date is None else day_of(target.ranking_date, now).isoformat()


def monday(now: int, *, weeks_ago: int = 0) -> str:
    """The Monday of this week in Japan, or of an earlier one."""
    day = today(now)
    return (day - day.weekday() * DAY - weeks_ago * 7 * DAY).isoformat()


class Unserved(NamedTuple):
    """The setting that asks for what nobody here can do: its key within the target, its value, and what can be done."""

    key: str
    value: object
    hint: str


def unserved(target: Target) -> Unserved | None:
    """Why nobody here can serve the target; None: it can be served."""
    if target.type == "novel":
        return Unserved("type", target.type, f"unsupported target type {target.type}")
    if target.illust_id is not None:
        return None
    asked = ("mode", target.mode), ("seriesId", target.series_id), ("userId", target.user_id)
    for key, value in asked:
        if value not in (None, "search", "ranking"):
            return Unserved(key, value, "this program finds works by search, ranking and illustId")
    return None


def _midnight(day: date) -> int:
    return round(datetime(day.year, day.month, day.day, tzinfo=JAPAN).timestamp() * 1000)
