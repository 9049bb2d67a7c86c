"""What a valid configuration asks for in vain: said before the first run, since nothing would come of it in silence."""

from collections.abc import Iterator
from typing import Final

from pixivflow.config.model import Settings
from pixivflow.config.model.targets import named_routes
from pixivflow.config.validate import Finding, Level
from pixivflow.config.watch.decide import at, spelled
from pixivflow.selection.target import unserved

UNSERVED: Final[tuple[tuple[str, ...], ...]] = (
    ("initial_delay_ms",),
    ("download", "dynamic_concurrency"),
    ("download", "min_concurrency"),
    ("download", "materialization_policy"),
    ("download", "novel_cover", "unknown"),
    ("download", "novel_cover", "probe_failed"),
    ("download", "novel_epub"),
    ("download", "ugoira_format"),
    ("jobs", "callbacks", "allow_hosts"),
    ("jobs", "callbacks", "allow_http"),
    ("operations", "notification_url"),
)
"""Keys by which nothing is decided in this version: judged and kept, so that a file may hold them already."""

_USUAL: Final = Settings()


def gaps(settings: Settings) -> tuple[Finding, ...]:
    """Each of them as a warning, in the order of the document."""
    return tuple(_gaps(settings))


def _gaps(settings: Settings) -> Iterator[Finding]:
    if not settings.pixiv.has_token:
        yield _warning("pixiv.refreshToken", "TOKEN_MISSING", "no token: Pixiv will answer nobody until there is one")
    for path in UNSERVED:
        if at(settings, path) != at(_USUAL, path):
            yield _warning(spelled(settings, path), "KEY_UNSERVED", "nothing is done about it by this version")
    for place, target in enumerate(settings.targets):
        if (refusal := unserved(target)) is not None:
            key = refusal.key.rpartition(".")[2]
            yield _warning(f"targets[{place}].{key}", "TARGET_UNSERVED", f"not served by this version: {refusal.hint}")
        if named_routes(target.delivery) and not target.routes:
            hint = "delivered nowhere: only a target with storageMode cache goes to receivers"
            yield _warning(f"targets[{place}].delivery", "TARGET_UNDELIVERED", hint)


def _warning(field: str, code: str, message: str) -> Finding:
    return Finding(level=Level.WARNING, code=f"CONFIG_{code}", field=field, message=message)
