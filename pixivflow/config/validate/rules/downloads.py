"""What must hold between the numbers of `download`."""

from collections.abc import Iterator

from pixivflow.config.model import Download
from pixivflow.config.validate.findings import Finding
from pixivflow.config.validate.rules.reading import Document, section, warning

_DEFAULTS = Download()


def download_rules(document: Document) -> Iterator[Finding]:
    """The least concurrency is not above the concurrency; where it is, the concurrency counts."""
    download = section(document, "download")
    least = download.get("minConcurrency", _DEFAULTS.min_concurrency)
    most = download.get("concurrency", _DEFAULTS.concurrency)
    if isinstance(least, int) and isinstance(most, int) and least > most:
        at = ("download", "minConcurrency")
        yield warning("DOWNLOAD_MIN_CONCURRENCY_INVALID", at, f"should be at most concurrency; {most} is used")
