"""What choosing works needs from outside: somebody who asks Pixiv."""

from collections.abc import AsyncGenerator
from typing import Protocol

from pixivflow.config.model import Target
from pixivflow.selection.model import WorkDetail
from pixivflow.slots.model import BoundWork

Pages = AsyncGenerator[tuple[WorkDetail, ...], None]
"""A list, one page of works after the other, in the order of the reply. Whoever walks it closes it."""


class Source(Protocol):
    """Pixiv, as the rooms see it: works of lists, and one work by its id.

    Paging, pacing, login and the retries of a single request are the source's own business. It never asks for the same
    page twice in one walk, ends a walk at an empty page, and leaves out items without an id.

    Errors of all three, translated once: `Gone` and `Rejected` for one work or a request that Pixiv will never serve;
    `AuthNeeded` when the login is dead; `Outage` when Pixiv as a whole does not serve (502, 503, 504 that stay);
    `Unavailable` for everything else that may pass: a limit, a lost connection, a deadline, an answer that is no JSON.
    An answer that cannot be read is never an empty list. A cancellation passes through as it is.
    """

    def search(self, target: Target) -> Pages:
        """Works that match `target.tag` as one query, by its `search_target`, `sort` and `r18`; dates are not asked
        for."""
        ...

    def ranking(self, target: Target, date: str | None) -> Pages:
        """The ranking `target.ranking_mode` of the day `date`, `YYYY-MM-DD` in Japan; None: the newest there is."""
        ...

    async def detail(self, work: BoundWork) -> WorkDetail:
        """One work. A placeholder comes back with `is_visible` False; a work that is no more raises `Gone`."""
        ...
