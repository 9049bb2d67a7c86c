"""Whole pages of works that failed, for another attempt: they are files without a name, and this is who knows them."""

from collections.abc import Mapping
from typing import Final

from pixivflow.download.page import Whole
from pixivflow.ids import WorkId

KEPT_WORKS: Final = 16
"""Of how many works the pages are kept."""


class Kept:
    """The pages by their work, in this process. A later one finds the files and removes them."""

    def __init__(self) -> None:
        self._works: dict[WorkId, dict[int, Whole]] = {}

    def take(self, work_id: WorkId) -> dict[int, Whole]:
        """What is known of the work; from here on it is the caller's."""
        return self._works.pop(work_id, {})

    def keep(self, work_id: WorkId, whole: dict[int, Whole]) -> None:
        """Keep the pages until somebody takes them, or too many works have failed since."""
        if whole:
            self._works[work_id] = whole
        while len(self._works) > KEPT_WORKS:
            removed(self._works.pop(next(iter(self._works))))


def removed(whole: Mapping[int, Whole]) -> None:
    """Remove the files of the pages."""
    for each in whole.values():
        each.part.unlink(missing_ok=True)
