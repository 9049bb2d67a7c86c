"""The log of this process: an event with fields goes in, one redacted line comes out on a stream.

structlog carries the context of a run to every task of it and passes the event along; it is imported when somebody
carries one, without the coloured renderers that it would bring with it.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, TextIO

from pixivflow.observe.faults import is_expected, stack
from pixivflow.observe.levels import RANKS, Level, level_of
from pixivflow.observe.lines import Event, json_line, stamped, text_line
from pixivflow.observe.redact import Redactor
from pixivflow.observe.stream import Stream
from pixivflow.observe.structured import bound_logger, carried

Format = Literal["text", "json"]

OWN = frozenset({"event", "level", "timestamp", "message", "service"})
"""What a line says about itself; a field of such a name gets a line below it."""


def format_of(environ: Mapping[str, str]) -> Format:
    """What `PIXIV_LOG_FORMAT` asks for: lines of JSON, or text."""
    return "json" if environ.get("PIXIV_LOG_FORMAT", "").strip().lower() == "json" else "text"


@contextmanager
def inherited(**fields: object) -> Iterator[None]:
    """A block in which every line of this task, and of the tasks that it starts, carries these fields too."""
    with carried(**fields):
        yield


class Log:
    """Says what happened. Its redactor may learn secrets, and its level may change, at any time.

    `clock`: epoch seconds.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        level: Level = "info",
        form: Format = "text",
        redactor: Redactor | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.redactor = Redactor() if redactor is None else redactor
        self._least, self._clock, self._stream = RANKS[level], clock, Stream(stream)
        self._render = json_line if form == "json" else text_line
        self._write = bound_logger(self._stream, self._line)

    def set_level(self, level: Level) -> None:
        """From now on say nothing below `level`."""
        self._least = RANKS[level]

    def note(self, event: str, /, **fields: object) -> None:
        """Say that `event` happened; its name tells how loud. Never raises, and waits for nothing but the stream."""
        self.say(level_of(event), event, **fields)

    def say(self, level: Level, event: str, /, **fields: object) -> None:
        """Say it at a level of one's own."""
        if RANKS[level] < self._least:
            return
        named = {f"{key}_" if key in OWN else key: value for key, value in fields.items()}
        try:
            self._write(event, level=level, **named)
        except Exception as error:  # whatever a field was made of: work never ends for a line
            self._stream.complain(f"a line was lost: {type(error).__name__}")

    def _line(self, event: Event) -> str:
        told = {key: self.redactor.field(value, (key,)) for key, value in event.items() if key not in OWN}
        if "actor" in told:
            told["component"] = told.pop("actor")
        if "exception" not in told and (error := self._puzzling(event)) is not None:
            told["exception"] = self.redactor.text(stack(error))
        stamp = stamped(self._clock())
        return self._render({"timestamp": stamp, "level": event["level"], "event": event["event"], **told})

    def _puzzling(self, event: Event) -> BaseException | None:
        """The error among the fields whose place must be told: one that nobody raised on purpose."""
        errors = (value for value in event.values() if isinstance(value, BaseException))
        always = self._least <= RANKS["debug"]
        return next((error for error in errors if always or not is_expected(error)), None)
