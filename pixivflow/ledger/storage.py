"""What the ledger knows about room on its disk: after some writes in a row that found none, work is not begun any more.

Pausing keeps a full disk from turning every job into a failed one. It ends by itself: once the pause is over the next
write is a try, which either finds room or pauses again.
"""

from typing import Final

import msgspec

FULL_IN_A_ROW: Final = 3
"""So many writes in a row must find the disk full before work is paused; one alone may have been a large one."""


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """`full_count`: writes in a row that found no room, the last of them at `full_at` (epoch ms)."""

    full_count: int = 0
    full_at: int = 0

    def found_full(self, now: int) -> "Storage":
        """After a write that found no room."""
        return Storage(full_count=self.full_count + 1, full_at=now)

    @property
    def is_full(self) -> bool:
        """Whether so many writes in a row found no room that it is the disk and no single one of them."""
        return self.full_count >= FULL_IN_A_ROW

    def is_paused(self, now: int, pause_ms: int) -> bool:
        """Whether new work should wait. A clock that stepped back does not prolong the pause."""
        return self.is_full and 0 <= now - self.full_at < pause_ms


ROOM: Final = Storage()
"""After a write that changed the file."""
