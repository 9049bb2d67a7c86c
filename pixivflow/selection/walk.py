"""Walking a list, page by page, until enough new works of the days that are asked for were read.

date_desc    newer than the days: passed      older: the rest is older still, stop
date_asc     older: passed                    newer: stop
others       outside: passed                  never stops for a date
"""

from collections.abc import Sequence
from contextlib import aclosing
from enum import Enum, auto

import msgspec

from pixivflow.ids import WorkId
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.ports import Pages
from pixivflow.selection.target import Window
from pixivflow.slots.ports import Look, Seen


class Step(Enum):
    """What a walk does with one work of its list."""

    TAKE = auto()
    PASS = auto()
    STOP = auto()


class Walked(msgspec.Struct, frozen=True, kw_only=True):
    """The works that were read inside the days, each once, in the order of the list, and which of them are not new."""

    works: tuple[WorkDetail, ...] = ()
    seen: Seen = Seen()


def step(work: WorkDetail, sort: str, window: Window | None) -> Step:
    """What the walk does with `work`."""
    if window is None or window.holds(work.created_at):
        return Step.TAKE
    if work.created_at is None:
        return Step.PASS
    is_beyond = (sort == "date_desc" and window.is_before(work.created_at)) or (
        sort == "date_asc" and window.is_after(work.created_at)
    )
    return Step.STOP if is_beyond else Step.PASS


async def walk(pages: Pages, sort: str, window: Window | None, enough: int, look: Look) -> Walked:
    """Read pages until `enough` new works were met, the list ends, or the rest of it lies beyond the days.

    A work counts as new when `look` has not seen it: what was taken before never eats the limit.
    """
    walked = Walked()
    async with aclosing(pages) as open_pages:
        async for page in open_pages:
            taken, is_over = _taken(page, {work.id for work in walked.works}, sort, window)
            walked = _joined(walked, taken, await look([work.work for work in taken]) if taken else Seen())
            if is_over or new_count(walked) >= enough:
                break
    return walked


def kept(works: Sequence[WorkDetail], seen: Seen, limit: int) -> tuple[WorkDetail, ...]:
    """The first of `works` that hold `limit` new ones; those that are not new stay, to be counted."""
    new = 0
    for place, work in enumerate(works):
        new += not _is_seen(work.id, seen)
        if new > limit:
            return tuple(works[:place])
    return tuple(works)


def together(first: Walked, second: Walked) -> Walked:
    """Both lists as one, each work once."""
    ids = {work.id for work in first.works}
    return _joined(first, [work for work in second.works if work.id not in ids], second.seen)


def new_count(walked: Walked) -> int:
    """How many of the works are new."""
    return sum(not _is_seen(work.id, walked.seen) for work in walked.works)


def _taken(
    page: Sequence[WorkDetail], met: set[WorkId], sort: str, window: Window | None
) -> tuple[list[WorkDetail], bool]:
    taken: list[WorkDetail] = []
    for work in page:
        match step(work, sort, window):
            case Step.STOP:
                return taken, True
            case Step.TAKE if work.id not in met:
                met.add(work.id)
                taken.append(work)
    return taken, False


def _joined(walked: Walked, works: Sequence[WorkDetail], seen: Seen) -> Walked:
    both = Seen(stored=walked.seen.stored | seen.stored, served=walked.seen.served | seen.served)
    return Walked(works=(*walked.works, *works), seen=both)


def _is_seen(work_id: WorkId, seen: Seen) -> bool:
    return work_id in seen.stored or work_id in seen.served
