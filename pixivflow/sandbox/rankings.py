"""The ranked lists: one for each mode and day, from the seed unless it was set by hand."""

import hashlib
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from pixivflow.sandbox.clock import DAY_MS, day_start_ms
from pixivflow.sandbox.model import Visibility, Work, World

LENGTH: Final = 500
DAYS: Final = 14
"""How many days before its start the service has lists of."""


def _open(work: Work) -> bool:
    return work.x_restrict == 0


def _r18(work: Work) -> bool:
    return work.x_restrict == 1


def _half(work: Work) -> bool:
    return work.id % 2 == 0


MODES: Final[dict[str, Callable[[Work], bool]]] = {
    "day": _open,
    "week": _open,
    "month": _open,
    "day_male": lambda work: _open(work) and _half(work),
    "day_female": lambda work: _open(work) and not _half(work),
    "week_original": lambda work: _open(work) and any(tag.name == "オリジナル" for tag in work.tags),
    "week_rookie": lambda work: _open(work) and work.user_id % 10 == 0,
    "day_r18": _r18,
    "day_male_r18": lambda work: _r18(work) and _half(work),
    "day_female_r18": lambda work: _r18(work) and not _half(work),
    "week_r18": _r18,
    "week_r18g": lambda work: work.x_restrict == 2,
    "day_ai": lambda work: _open(work) and work.illust_ai_type == 2,
    "day_r18_ai": lambda work: _r18(work) and work.illust_ai_type == 2,
    "day_manga": lambda work: _open(work) and work.type == "manga",
}
"""Every mode of illustrations and who may stand in it. Nothing generated is rated 2, so that `week_r18g` is empty."""


def ranking(world: World, mode: str, day: date) -> tuple[int, ...]:
    """The ids of that list, the best first; nothing for a day before the data."""
    if (mode, day) in world.rankings:
        return world.rankings[mode, day]
    if day < world.start_day - timedelta(days=DAYS):
        return ()
    if ("ranking", mode, day) not in world.derived:
        world.derived["ranking", mode, day] = tuple(_ranked(world, mode, day))
    ids: tuple[int, ...] = world.derived["ranking", mode, day]
    return ids


def _ranked(world: World, mode: str, day: date) -> list[int]:
    end = day_start_ms(day) + DAY_MS
    fits = MODES[mode]
    there = [work for work in world.works.values() if work.created_at < end and work.visibility is Visibility.SHOWN]
    scores = {work.id: _score(world.seed, mode, day, work, end) for work in there if fits(work)}
    return sorted(scores, key=lambda work: (-scores[work], work))[:LENGTH]


def _score(seed: int, mode: str, day: date, work: Work, end: int) -> float:
    """Popular and fresh works are ahead, with some luck that differs from list to list."""
    luck = hashlib.sha256(f"{seed}/{mode}/{day}/{work.id}".encode()).digest()[0] / 255
    age_days = (end - work.created_at) / DAY_MS
    return (work.total_bookmarks + 1) * (0.5 + luck) / (1 + age_days)
