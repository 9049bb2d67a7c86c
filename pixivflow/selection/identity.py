"""Whether a cell belongs to one work, and how many new works a target wants of one run.

A cell of one work is bound to it before anything else happens, and whatever interrupts it, that work goes on. A cell of
many works is bound to none: each run looks for what is still missing.
"""

from typing import Final

from pixivflow.config.model import Target
from pixivflow.ids import WorkId
from pixivflow.slots.model import BoundWork, WorkType

LIMIT_DEFAULT: Final = 10


def pinned(target: Target) -> BoundWork | None:
    """The one work that the target names by its id, if it does."""
    by_id = target.novel_id if target.type == "novel" else target.illust_id
    return None if by_id is None else BoundWork(work_id=WorkId(str(by_id)), work_type=WorkType(target.type))


def is_single(target: Target) -> bool:
    """Whether one work owns the target's cell: asked for one, pinned to one, or a topic that asks for no number."""
    if target.limit is not None and target.limit > 0:
        return target.limit == 1
    is_topic = target.mode == "topic" and target.user_id is None and target.series_id is None
    return pinned(target) is not None or is_topic


def limit_of(target: Target) -> int:
    """How many new works the target wants of one run."""
    if target.limit is not None and target.limit > 0:
        return target.limit
    return 1 if is_single(target) else LIMIT_DEFAULT
