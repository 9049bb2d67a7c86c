"""The log of a process, as its settings and its environment want it."""

from collections.abc import Mapping
from typing import TextIO

from pixivflow.config.model import Settings
from pixivflow.observe.known import known_secrets
from pixivflow.observe.libraries import hear_libraries
from pixivflow.observe.log import Log, format_of
from pixivflow.observe.redact import Redactor


def opened(settings: Settings, environ: Mapping[str, str], stream: TextIO) -> Log:
    """A log on `stream` that knows the secrets of `settings`, and through which the libraries speak as well."""
    redactor = Redactor(known_secrets(settings, environ))
    log = Log(stream, level=settings.log_level, form=format_of(environ), redactor=redactor)
    hear_libraries(log)
    return log
