"""The room's door: what a target is to be tried with, asked of Pixiv, filtered, and cut to a window.

illustId       that work alone, whatever the filters say
search         a walk for the words, or one a word where any of them will do
ranking        the list of its day, in Pixiv's order; with a filter tag a search of that day, by popularity
"""

from collections.abc import Callable
from random import Random

import msgspec

from pixivflow.config.model import Target
from pixivflow.errors import ConfigError, ItemError
from pixivflow.selection import filters, identity, planner
from pixivflow.selection.model import WorkDetail
from pixivflow.selection.ports import Source
from pixivflow.selection.ranking import by_popularity, by_sort, fetch_limit, search_limit
from pixivflow.selection.target import Window, monday, ranking_day, unserved, window_of
from pixivflow.selection.walk import Walked, kept, new_count, together, walk
from pixivflow.slots.model import BoundWork
from pixivflow.slots.ports import Choice, Look, Seen, Skip, SkipCode, Unfit, Wish


class Candidates:
    """`slots.ports.Selection`, over one account's `source`.

    `scan_limit`: works tried for a wanted one where the target says nothing. `chance`: for targets that ask for any.
    """

    def __init__(self, source: Source, scan_limit: int, chance: Callable[[], Random] = Random) -> None:
        self._source, self._scan_limit, self._chance = source, scan_limit, chance

    def wish(self, target: Target) -> Wish:
        if (refusal := unserved(target)) is not None:
            raise ConfigError(f"targets[].{refusal.key}", refusal.value, refusal.hint)
        return Wish(limit=identity.limit_of(target), is_single=identity.is_single(target))

    async def choose(self, target: Target, wanted: int, stage: int, now: int, look: Look) -> Choice:
        if (named := identity.pinned(target)) is not None:
            return await _named(named, look)
        scans, window = planner.scan_limit(target, self._scan_limit, stage), window_of(target, now)
        walked = await self._read(target, wanted, scans, window, now, look)
        return planner.plan(
            walked.works, walked.seen, target, window, wanted=wanted, scans=scans, chance=self._chance()
        )

    async def detail(self, work: BoundWork) -> WorkDetail:
        if not (work.work_id.isascii() and work.work_id.isdecimal()):
            raise Unfit(work.work_id, SkipCode.INVALID_METADATA, "not the number of any work")
        found = await self._source.detail(work)
        if not found.is_visible:
            raise Unfit(work.work_id, SkipCode.ACCESS_DENIED, "Pixiv shows a placeholder to this account")
        return found

    def declined(self, target: Target, detail: WorkDetail) -> Skip | None:
        return filters.declined(detail, target)

    async def _read(
        self, target: Target, wanted: int, scans: int, window: Window | None, now: int, look: Look
    ) -> Walked:
        enough = max(wanted, scans)
        if target.mode == "ranking" and not target.filter_tag:
            ranked = await self._ranking(target, enough, now, look)
            return Walked(works=kept(ranked.works, ranked.seen, enough), seen=ranked.seen)
        if target.mode == "ranking":
            of_the_day = msgspec.structs.replace(target, tag=target.filter_tag, sort="date_desc", tag_relation="and")
            found = await self._search(of_the_day, max(wanted * 20, 100), window, look)
            return Walked(works=kept(by_popularity(found.works), found.seen, enough), seen=found.seen)
        return await self._search(target, search_limit(wanted, target.sort), window, look)

    async def _search(self, target: Target, limit: int, window: Window | None, look: Look) -> Walked:
        words = (target.tag or "").split() if target.tag_relation == "or" else [target.tag or ""]
        enough = fetch_limit(limit, target, in_window=window is not None)
        found = Walked()
        for word in words:
            pages = self._source.search(msgspec.structs.replace(target, tag=word))
            found = together(found, await walk(pages, target.sort, window, enough, look))
            if new_count(found) >= enough:
                break
        return Walked(works=kept(by_sort(found.works, target.sort), found.seen, limit), seen=found.seen)

    async def _ranking(self, target: Target, enough: int, now: int, look: Look) -> Walked:
        """A week's list is refused for days on which it is not made yet; then an earlier one serves."""
        tries = [(target, ranking_day(target, now))]
        if target.ranking_mode == "week":
            by_day = msgspec.structs.replace(target, ranking_mode="day")
            tries += [(target, monday(now)), (by_day, monday(now, weeks_ago=1))]
        for asked, day in tries[:-1]:
            try:
                return await walk(self._source.ranking(asked, day), "", None, enough, look)
            except ItemError:
                continue
        asked, day = tries[-1]
        return await walk(self._source.ranking(asked, day), "", None, enough, look)


async def _named(work: BoundWork, look: Look) -> Choice:
    """A work that is asked for by name is fetched again if its files are gone, but goes to no route twice."""
    seen = await look([work])
    skip = planner.known(work.work_id, Seen(served=seen.served))
    return Choice(queue=() if skip else (work,), bound=1, skips=(skip,) if skip else (), read=1)
