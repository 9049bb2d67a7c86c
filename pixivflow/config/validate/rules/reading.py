"""Reading a document of which parts were refused."""

from collections.abc import Iterator, Mapping

from pixivflow.config.validate.findings import Finding, Level
from pixivflow.config.validate.shape import Place, finding

Document = Mapping[str, object]


def section(document: Document, *keys: str) -> Document:
    """The object below `keys`; an empty one where there is none."""
    for key in keys:
        inner = document.get(key)
        document = inner if isinstance(inner, dict) else {}
    return document


def members(document: Document, key: str) -> Iterator[tuple[Place, Document]]:
    """The objects of the list below `key`, each with the way to it."""
    inner = document.get(key)
    for position, each in enumerate(inner if isinstance(inner, list) else []):
        if isinstance(each, dict):
            yield (key, position), each


def routes(document: Document) -> Iterator[tuple[str, Document]]:
    """The routes that could be read, by name."""
    for name, route in section(document, "delivery", "targets").items():
        if isinstance(route, dict):
            yield name, route


def words(value: object) -> list[str]:
    """The texts of a list, or of one text."""
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def error(code: str, at: Place, message: str) -> Finding:
    """Something that must be mended."""
    return finding(Level.ERROR, code, at, message)


def warning(code: str, at: Place, message: str) -> Finding:
    """Something that should be looked at."""
    return finding(Level.WARNING, code, at, message)
