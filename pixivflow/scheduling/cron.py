"""When a cron line fires: what its fields say is cronsim's business, what a clock change does to them is ours.

cronsim walks the wall clock as if no clock were ever changed. Each reading that it names is then given its instants:

    a reading that the day holds once      that instant
    one that it holds twice                both, if the line follows real time; else the first
    one that it skips                      none, if the line follows real time; else the first valid minute after it

A line whose minute or hour field holds `*` follows real time, any other is fixed. Instants are compared in UTC, so what
comes next is always strictly later.
Source: crontab(5) of Debian for the fields and the two kinds of lines; cronsim also takes `L` and `#`.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from pixivflow.times import DAY_MS, MINUTE_MS

NOTHING: Final = timedelta(0)
SECOND: Final = timedelta(seconds=1)

LONGEST: Final = 500
"""A line that lists every minute, hour, day, month and weekday is shorter."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron line on the wall clock of a zone. Made by `cron`. Instants are epoch ms."""

    line: str
    zone: ZoneInfo
    follows_real_time: bool

    def next_after(self, at: int) -> int | None:
        """The earliest fire later than `at`; None when there is none within fifty years."""
        found: list[int] = []
        for reading in CronSim(self.line, self._reading(at) - self._set_back_between(at, at + DAY_MS)):
            instants = self._instants(reading)
            if found and instants and instants[0] >= min(found):
                break
            found += [instant for instant in instants if instant > at]
        return min(found, default=None)

    def latest(self, at: int) -> int | None:
        """The latest fire that is not later than `at`; None when there is none within fifty years."""
        found: list[int] = []
        start = self._reading(at) + self._set_back_between(at - DAY_MS, at) + SECOND
        for reading in CronSim(self.line, start, reverse=True):
            instants = self._instants(reading)
            if found and instants and instants[-1] <= max(found):
                break
            found += [instant for instant in instants if instant <= at]
        return max(found, default=None)

    def _instants(self, reading: datetime) -> tuple[int, ...]:
        """When a wall clock that shows `reading` makes the line fire, in order."""
        first, second = (_ms(reading.replace(tzinfo=self.zone, fold=fold)) for fold in (0, 1))
        if first == second:
            return (first,)
        if first < second:
            return (first, second) if self.follows_real_time else (first,)
        return () if self.follows_real_time else (self._end_of_gap(second, first),)

    def _end_of_gap(self, before: int, after: int) -> int:
        minutes = range(before, after + MINUTE_MS, MINUTE_MS)
        return next(minute for minute in minutes if self._offset(minute) != self._offset(before))

    def _set_back_between(self, earlier: int, later: int) -> timedelta:
        """How far the wall clock is set back meanwhile: so much of it must be looked at a second time."""
        return max(NOTHING, self._offset(earlier) - self._offset(later))

    def _reading(self, at: int) -> datetime:
        return self._local(at).replace(tzinfo=None, fold=0)

    def _offset(self, at: int) -> timedelta:
        return self._local(at).utcoffset() or NOTHING

    def _local(self, at: int) -> datetime:
        return datetime.fromtimestamp(at // 1000, self.zone)


@lru_cache(maxsize=1024)
def cron(line: str, zone: str) -> Cron:
    """The line, checked as `fields_of` does; `zone` is an IANA name.

    Errors: `ValueError` saying what is wrong with it.
    """
    fields = fields_of(line)
    return Cron(" ".join(fields), ZoneInfo(zone), follows_real_time=any("*" in field for field in fields[:2]))


def fields_of(line: str) -> list[str]:
    """The five fields of a line: minute hour day month weekday, each in range, with a day that comes.

    Errors: `ValueError` saying what is wrong with it.
    """
    if len(line) > LONGEST:
        raise ValueError(f"a cron line has at most {LONGEST} characters")
    fields = line.split()
    if len(fields) != 5:
        raise ValueError(f"a cron line has five fields, not {len(fields)}")
    try:
        CronSim(line, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise ValueError(str(error)) from error
    return fields


def is_cron(value: object) -> bool:
    """Whether `value` is a line of which `cron` can be made."""
    if not isinstance(value, str):
        return False
    try:
        fields_of(value)
    except ValueError:
        return False
    return True


def _ms(instant: datetime) -> int:
    return round(instant.timestamp()) * 1000
