"""What libraries say through Python's own logging becomes lines like all others: redacted, and only if it matters."""

import logging

from pixivflow.observe.levels import Level
from pixivflow.observe.log import Log


def hear_libraries(log: Log) -> None:
    """From now on warnings and errors of libraries are lines of `log`; whatever is quieter holds whole addresses."""
    root = logging.getLogger()
    root.handlers[:] = [_Ear(log)]
    root.setLevel(logging.WARNING)


class _Ear(logging.Handler):
    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        level: Level = "error" if record.levelno >= logging.ERROR else "warn"
        fields: dict[str, object] = {"library": record.name, "text": _text(record)}
        if record.exc_info is not None and record.exc_info[1] is not None:
            fields["error"] = record.exc_info[1]
        self._log.say(level, "library.spoke", **fields)


def _text(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:
        return str(record.msg)
