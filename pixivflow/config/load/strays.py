"""What is wrong with a document as written, before anybody asks what it means: doubled keys, halves of characters."""

from collections.abc import Iterator

from pixivflow.config.load.document import Doubled
from pixivflow.config.validate.findings import Finding, Level
from pixivflow.config.validate.shape import Place, finding


def strays(document: object, at: Place = ()) -> Iterator[Finding]:
    """Every key that stands twice in its object, and every text that cannot be written down as UTF-8."""
    if isinstance(document, dict):
        for key in document.doubled if isinstance(document, Doubled) else ():
            yield finding(Level.ERROR, "DUPLICATE_KEY", (*at, key), "stands more than once")
        for key, item in document.items():
            yield from strays(item, (*at, key))
            yield from _halves(key, (*at, key))
    elif isinstance(document, list):
        for position, item in enumerate(document):
            yield from strays(item, (*at, position))
    else:
        yield from _halves(document, at)


def _halves(value: object, at: Place) -> Iterator[Finding]:
    if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        yield finding(Level.ERROR, "TEXT_INVALID", at, "holds half of a surrogate pair, which is no character")
