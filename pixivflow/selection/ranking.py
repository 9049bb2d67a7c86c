"""In which order works are tried, and how many of a list are read for it."""

from collections.abc import Iterable
from typing import Final

from pixivflow.config.model import Target
from pixivflow.selection.model import WorkDetail

FEW: Final = 5
"""Up to so many wanted works, a list is read generously: most of its works may turn out not to be wanted."""


def popularity(work: WorkDetail) -> tuple[float, int, int]:
    """The order of popularity: bookmarks, a thousand views for one; then the newer work, then the larger id."""
    liked = max(0, work.bookmarks) + max(0, work.views) / 1000
    return liked, work.created_at or 0, int(work.id) if work.id.isdecimal() else 0


def by_popularity(works: Iterable[WorkDetail]) -> list[WorkDetail]:
    """The most popular first."""
    return sorted(works, key=popularity, reverse=True)


def by_sort(works: Iterable[WorkDetail], sort: str) -> list[WorkDetail]:
    """In the order that a target asks for; works of one instant stay as they came."""
    match sort:
        case "popular_desc":
            return by_popularity(works)
        case "date_asc":
            return sorted(works, key=lambda work: work.created_at or 0)
        case _:
            return sorted(works, key=lambda work: -(work.created_at or 0))


def search_limit(wanted: int, sort: str) -> int:
    """How many new works a search looks for to find `wanted` that pass."""
    many, least = (20, 100) if sort == "popular_desc" else (10, 50)
    return max(wanted * many, least) if wanted <= FEW else wanted * 2


def fetch_limit(limit: int, target: Target, *, in_window: bool) -> int:
    """How many new works are read before the best `limit` of them are kept.

    A list by date comes in the order that is kept, so nothing is read beyond; one by popularity is only known to be in
    order for accounts that pay, so more of it is read and sorted here.
    """
    if target.sort != "popular_desc":
        return limit
    if limit < 50:
        return max(limit * (10 if in_window else 5), 100)
    return max(limit * (3 if in_window else 2), 200)
