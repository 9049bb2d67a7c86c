"""What must hold within one target, and between targets."""

from collections.abc import Iterator

from pixivflow.config.mask import shown
from pixivflow.config.validate.findings import Finding
from pixivflow.config.validate.rules.reading import Document, error, members, section, warning
from pixivflow.config.validate.shape import Place
from pixivflow.config.validate.words import DAY_WORDS

_NAMES_WORKS = ("illustId", "novelId", "seriesId", "userId")


def target_rules(document: Document) -> Iterator[Finding]:
    """Every rule about what targets look for."""
    seen: set[object] = set()
    for at, target in members(document, "targets"):
        yield from _unique(at, target, seen)
        yield from _selector(at, target)
        yield from _kind(at, target)
        yield from _dates(at, target)
        yield from _restrict(at, target)


def _unique(at: Place, target: Document, seen: set[object]) -> Iterator[Finding]:
    name = target.get("id")
    if isinstance(name, str) and name in seen:
        yield error("TARGET_ID_INVALID", (*at, "id"), f"another target is called {shown((), name)}")
    seen.add(name)


def _selector(at: Place, target: Document) -> Iterator[Finding]:
    """Each mode has something that it cannot do without."""
    match target.get("mode", "search"):
        case "search" if not any(key in target for key in ("tag", *_NAMES_WORKS)):
            yield error("TARGET_TAG_REQUIRED", (*at, "tag"), "is required, or one of " + ", ".join(_NAMES_WORKS))
        case "series" if "seriesId" not in target:
            yield error("TARGET_MODE_INVALID", (*at, "mode"), "the mode series needs a seriesId")
        case "topic" if "topic" not in target and "primary" not in section(target, "topicProfile"):
            yield error("TARGET_TOPIC_REQUIRED", (*at, "topic"), "is required, or a topicProfile.primary")
        case _:
            return


def _kind(at: Place, target: Document) -> Iterator[Finding]:
    for key, kind in (("illustId", "illustration"), ("novelId", "novel")):
        if key in target and target.get("type") in ("illustration", "novel") and target["type"] != kind:
            yield error("FIELD_INVALID", (*at, key), f"belongs to a target of type {kind}")


def _dates(at: Place, target: Document) -> Iterator[Finding]:
    """A date and a word can only be compared on the day of the run."""
    start, end = target.get("startDate"), target.get("endDate")
    if not isinstance(start, str) or not isinstance(end, str) or (start in DAY_WORDS) != (end in DAY_WORDS):
        return
    if start in DAY_WORDS and end in DAY_WORDS:
        backwards = DAY_WORDS.index(start) > DAY_WORDS.index(end)
    else:
        backwards = start > end
    if backwards:
        yield error("TARGET_DATE_RANGE_INVALID", (*at, "startDate"), f"lies after the endDate {end}")


def _restrict(at: Place, target: Document) -> Iterator[Finding]:
    if "restrict" in target and target.get("mode", "search") not in ("follow", "bookmarks"):
        yield warning("FIELD_IGNORED", (*at, "restrict"), "is read by the modes follow and bookmarks only")
