"""Which works a target does not want, in whatever order. A rule is a row; the first that applies gives the reason."""

from collections.abc import Callable
from typing import Final

from pixivflow.config.model import Target
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.target import Window
from pixivflow.slots.model import WorkType
from pixivflow.slots.ports import Skip, SkipCode

AI_MADE: Final = 2
AI_WORDS: Final = ("生成ai", "ai生成", "generativeai", "aigenerated")
NOT_READ: Final = str.maketrans("", "", " \t\u3000-_()（）【】[]・、")
"""What stands between the letters of a tag without changing what it says."""

Rule = Callable[[WorkDetail, Target, Window | None], bool]

RULES: Final[tuple[tuple[SkipCode, str, Rule], ...]] = (
    (SkipCode.ACCESS_DENIED, "not shown to this account", lambda work, _target, _days: not work.is_visible),
    (SkipCode.FILTERED, "too few bookmarks", lambda work, target, _days: work.bookmarks < (target.min_bookmarks or 0)),
    (SkipCode.FILTERED, "outside the days", lambda work, _target, days: days is not None and not _in(days, work)),
    (SkipCode.FILTERED, "made by a machine", lambda work, target, _days: target.exclude_ai and is_ai(work)),
)


def unwanted(work: WorkDetail, target: Target, window: Window | None) -> Skip | None:
    """Why the target does not want the work; None: it may."""
    for code, reason, applies in RULES:
        if applies(work, target, window):
            return Skip(code=code, work_id=work.id, reason=reason)
    return None


def declined(work: WorkDetail, target: Target) -> Skip | None:
    """Why the target will not have a work that was about to be fetched; None: it will."""
    if target.max_page_count is not None and work.page_count > target.max_page_count:
        reason = f"maxPageCount {target.max_page_count}: the work has {work.page_count} pages"
        return Skip(code=SkipCode.FILTERED, work_id=work.id, reason=reason)
    return None


def is_ai(work: WorkDetail) -> bool:
    """Whether an illustration is said to be made by a machine, by its field or by a tag in any of the usual words."""
    return work.type is WorkType.ILLUSTRATION and (work.ai_type == AI_MADE or any(map(_says_ai, _names(work))))


def _in(days: Window, work: WorkDetail) -> bool:
    return days.holds(work.created_at)


def _names(work: WorkDetail) -> list[str]:
    return [name for tag in work.tags for name in (tag.name, tag.translated or "")]


def _says_ai(name: str) -> bool:
    plain = name.lower().translate(NOT_READ)
    return any(word in plain for word in AI_WORDS)
