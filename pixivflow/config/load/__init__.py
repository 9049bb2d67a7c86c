"""From a file and its environment to a snapshot, or to everything that stands in the way.

    read -> migrate -> environment -> paths -> validate -> resolve

Nothing is written: a file that needs mending is mended in memory, with a warning.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from pixivflow.config.load.discover import discover
from pixivflow.config.load.document import Document, read_document
from pixivflow.config.load.overrides import overridden
from pixivflow.config.load.paths import base_of, with_paths
from pixivflow.config.load.proxies import at_home, in_container, with_proxy
from pixivflow.config.load.resolve import resolved
from pixivflow.config.load.strays import strays
from pixivflow.config.load.unreadable import ConfigUnreadable
from pixivflow.config.migrate import migrated
from pixivflow.config.model import Settings
from pixivflow.config.validate import Checked, ConfigInvalid, Finding, Report, validate

__all__ = ["ConfigInvalid", "ConfigUnreadable", "Finding", "Loaded", "Report", "discover", "examine", "load"]

MANUAL_TOKEN = "PIXIVFLOW_REFETCH_TOKEN"  # noqa: S105 - the variable's name


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration in force. `warnings`: what should be looked at. `document`: the file as it is written."""

    path: Path
    settings: Settings
    warnings: tuple[Finding, ...] = ()
    document: Mapping[str, object] = {}


def load(path: Path, environ: Mapping[str, str], *, generation: int = 1) -> Loaded:
    """The snapshot that the file at `path` describes.

    Errors: `ConfigUnreadable`, when there is no document; `ConfigInvalid`, naming every fault of it.
    """
    document = read_document(path)
    checked = _checked(path, document, environ)
    if checked.report.errors:
        raise ConfigInvalid(path, checked.report.findings)
    settings = resolved(checked.used, generation=generation, manual_token=environ.get(MANUAL_TOKEN, ""))
    return Loaded(path=path, settings=settings, warnings=checked.report.warnings, document=document)


def examine(path: Path, environ: Mapping[str, str]) -> Report:
    """Everything found in the file at `path`, faults and warnings.

    Errors: `ConfigUnreadable`.
    """
    return _checked(path, read_document(path), environ).report


def _checked(path: Path, document: Document, environ: Mapping[str, str]) -> Checked:
    findings = list(strays(document))
    for step in (migrated, lambda each: overridden(each, environ), lambda each: with_proxy(each, environ)):
        document, found = step(document)
        findings += found
    document = at_home(document, in_container=in_container(environ))
    document, found = with_paths(document, base_of(path.absolute()))
    checked = validate(document, manual_token=bool(environ.get(MANUAL_TOKEN, "").strip()))
    return msgspec.structs.replace(checked, report=Report(findings=(*findings, *found, *checked.report.findings)))
