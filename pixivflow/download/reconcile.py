"""What an earlier life of this process, or another process that died, left half-written.

named by a row of the last 24 h ──▶ stays: the next attempt goes on from it
named by an older row           ──▶ goes, with its row
named by no row                 ──▶ goes, unless somebody writes to it now: see `living`
a row without its file          ──▶ dropped

Unknown files stay, links are not followed.
"""

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import trio

from pixivflow.download.living import claimed
from pixivflow.download.transfer import hop
from pixivflow.slots.staging import StagedPage, Staging

PART: Final = re.compile(r"\.part-[0-9]+-[0-9]+-[0-9a-f]{12}")
AT_ONCE: Final = 64
"""How many parts are held open together."""

Identity = tuple[int, int]
"""Of a file, whatever its path is called: a base may be reached by another name than when the row was written."""


async def reconcile(bases: Iterable[Path], staging: Staging, now: int, threads: trio.CapacityLimiter) -> int:
    """Remove what nobody goes on with below the bases, and forget the rows of what is gone; how many parts there were.

    To be called before anything is fetched; other processes may be at work on the same folders. `now`: epoch ms.
    Errors: `OSError`; those of `staging`.
    """
    old = [Path(row.part) for row in await staging.all_staged() if not row.is_fresh(now)]
    found, count = await hop(threads, _parts, tuple(bases), old), 0
    for start in range(0, len(found), AT_ONCE):
        with ExitStack() as open_files:
            batch = found[start : start + AT_ONCE]
            taken = await trio.to_thread.run_sync(_taken, batch, open_files, limiter=threads)
            rows = await staging.all_staged()  # now: whoever wrote to one of them has said so before it let it go
            fresh = [row for row in rows if row.is_fresh(now)]
            count += await trio.to_thread.run_sync(_removed, taken, fresh, limiter=threads)
    rows = await staging.all_staged()
    if lost := await hop(threads, _lost, rows):
        await staging.drop(lost)
    return count


def _parts(bases: tuple[Path, ...], old: Sequence[Path]) -> list[Path]:
    """Every part below the bases, and those that old rows name elsewhere."""
    named = [path for path in old if PART.fullmatch(path.name)]
    return list(dict.fromkeys([*_walked(bases), *named]))


def _walked(bases: tuple[Path, ...]) -> Iterator[Path]:
    for base in dict.fromkeys(bases):
        for folder, _, names in os.walk(base):
            yield from (Path(folder, name) for name in names if PART.fullmatch(name))


def _taken(paths: Sequence[Path], open_files: ExitStack) -> list[tuple[Path, io.FileIO]]:
    """Those that nobody writes to, held until `open_files` is closed."""
    files = [(path, claimed(path)) for path in paths]
    return [(path, open_files.enter_context(file)) for path, file in files if file is not None]


def _removed(taken: Sequence[tuple[Path, io.FileIO]], fresh: Sequence[StagedPage]) -> int:
    kept = {identity for row in fresh if (identity := _identity(Path(row.part))) is not None}
    nobodys = [path for path, file in taken if _of(os.fstat(file.fileno())) not in kept]
    for path in nobodys:
        path.unlink(missing_ok=True)
    return len(nobodys)


def _lost(rows: Sequence[StagedPage]) -> list[str]:
    """The parts that rows name and that are not there."""
    return [row.part for row in rows if _identity(Path(row.part)) is None]


def _identity(path: Path) -> Identity | None:
    try:
        return _of(path.lstat())
    except OSError:
        return None


def _of(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino
