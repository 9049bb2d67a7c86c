"""Files of older versions, brought up to date in memory. Nothing is ever taken away from one."""

from typing import Final

from pixivflow.config.validate.findings import Finding, Level
from pixivflow.config.validate.judges import is_whole
from pixivflow.config.validate.shape import finding

VERSION: Final = 1
"""What `schemaVersion` says in a file of this program; a file without it is 0."""

_KEY: Final = "schemaVersion"


def migrated(document: dict[str, object]) -> tuple[dict[str, object], list[Finding]]:
    """The document as this version writes it. A version that cannot be read leaves it as it is, with an error."""
    version = document.get(_KEY, 0)
    if not isinstance(version, int) or not is_whole(version) or version < 0:
        return document | {_KEY: VERSION}, [_error("INVALID", "must be a whole number of at least 0")]
    if version > VERSION:
        hint = f"is {version}; this program knows {VERSION} at most and leaves the file alone"
        return document | {_KEY: VERSION}, [_error("UNSUPPORTED", hint)]
    return document | {_KEY: VERSION}, []


def _error(code: str, hint: str) -> Finding:
    return finding(Level.ERROR, f"SCHEMA_VERSION_{code}", (_KEY,), hint)
