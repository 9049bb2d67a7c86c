"""Variables of the environment that stand for keys of the file. An empty variable counts as unset."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from pixivflow.config.load.document import Document
from pixivflow.config.validate.findings import Finding, Level
from pixivflow.config.validate.shape import finding

TRIGGER: Final = ("schedulerRuntime", "trigger")


class Override(msgspec.Struct, frozen=True):
    """One variable and its key. `read`: the key's value; `ValueError` for a value that is ignored.

    `yields`: what the file says counts more. `quiet`: a bad value is ignored without a word.
    """

    name: str
    at: tuple[str, ...]
    read: Callable[[str], object] = str
    yields: bool = False
    quiet: bool = True


def _positive(text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdecimal() and 0 < int(text) < 2**31):
        raise ValueError("not a number of at least 1")
    return int(text)


def _port(text: str) -> int:
    if _positive(text) > 65_535:
        raise ValueError("not a port")
    return int(text)


def _level(text: str) -> str:
    if text.strip().lower() not in ("debug", "info", "warn", "error"):
        raise ValueError("not a level")
    return text.strip().lower()


OVERRIDES: Final = (
    Override("PIXIV_REFRESH_TOKEN", ("pixiv", "refreshToken"), str.strip),
    Override("PIXIV_CLIENT_ID", ("pixiv", "clientId")),
    Override("PIXIV_CLIENT_SECRET", ("pixiv", "clientSecret")),
    Override("PIXIV_DATABASE_PATH", ("storage", "databasePath")),
    Override("PIXIV_DOWNLOAD_DIR", ("storage", "downloadDirectory")),
    Override("PIXIV_ILLUSTRATION_DIR", ("storage", "illustrationDirectory")),
    Override("PIXIV_NOVEL_DIR", ("storage", "novelDirectory")),
    Override("PIXIV_LOG_LEVEL", ("logLevel",), _level),
    Override("PIXIV_SCHEDULER_ENABLED", ("scheduler", "enabled"), lambda text: text.strip().lower() == "true"),
    Override("PIXIV_CANDIDATE_SCAN_LIMIT", ("download", "candidateScanLimit"), _positive, quiet=False),
    Override("SCHEDULER_TRIGGER_TOKEN", (*TRIGGER, "token"), str.strip, yields=True),
    Override("SCHEDULER_TRIGGER_HOST", (*TRIGGER, "host"), str.strip),
    Override("PORT", (*TRIGGER, "port"), _port, yields=True),
    Override("SCHEDULER_TRIGGER_PORT", (*TRIGGER, "port"), _port),
)


def overridden(document: Document, environ: Mapping[str, str]) -> tuple[Document, list[Finding]]:
    """The document with the environment's say, and a warning for each value that was not worth following."""
    findings = []
    for row in OVERRIDES:
        if not (text := environ.get(row.name, "")).strip():
            continue
        try:
            value = row.read(text)
        except ValueError as error:
            if not row.quiet:
                findings.append(finding(Level.WARNING, "ENVIRONMENT_IGNORED", (row.name,), f"is ignored: {error}"))
            continue
        document = with_value(document, row.at, value, yields=row.yields)
    return document, findings


def with_value(document: Document, at: tuple[str, ...], value: object, *, yields: bool = False) -> Document:
    """A copy with `value` at a place, unless something that is no object stands in the way.

    `yields`: whatever is written there already stays.
    """
    key, *rest = at
    inner = document.get(key)
    if not rest:
        return document if yields and inner is not None else {**document, key: value}
    if not isinstance(inner, dict | None):
        return document
    return {**document, key: with_value(inner or {}, tuple(rest), value, yields=yields)}
