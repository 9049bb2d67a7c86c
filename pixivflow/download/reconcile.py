"""What an earlier life of the process left half-written."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import trio

PART: Final = re.compile(r"\.part-[0-9]+-[0-9]+-[0-9a-f]{12}")


async def reconcile(bases: Iterable[Path], threads: trio.CapacityLimiter) -> int:
    """Remove every `.part` file below the bases; how many there were. To be called before anything is fetched.

    Nobody names them any more: what one of them held is fetched afresh. Unknown files stay, links are not followed.
    """
    return await trio.to_thread.run_sync(_removed, tuple(bases), limiter=threads, abandon_on_cancel=True)


def _removed(bases: tuple[Path, ...]) -> int:
    count = 0
    for base in dict.fromkeys(bases):
        for folder, _, names in os.walk(base):
            for name in filter(PART.fullmatch, names):
                Path(folder, name).unlink(missing_ok=True)
                count += 1
    return count
