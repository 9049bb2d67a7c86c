"""`python -m tests.ledger.filling FOLDER`: fill the small disk at FOLDER through a ledger, make room, go on.

A ballast file stands for whatever else fills disks. Prints one JSON object of what happened; see `main`.
"""

import json
import sys
from pathlib import Path

import trio

from actors.kit import SystemClock
from pixivflow.errors import StorageFull
from pixivflow.ledger.ledger import Ledger, open_ledger
from tests.fixtures.ledgers import kept, put

WIDTH = 3_000
"""Of one row, in bytes: most of a page."""


async def fill(ledger: Ledger, task: int, told: list[str], full: list[str]) -> None:
    """Write until there is no room; what was told to be written, and what was told not to be."""
    for turn in range(10_000):
        name = f"{task}-{turn}-".ljust(WIDTH, "x")
        try:
            told.append(await ledger.write(put, name))
        except StorageFull:
            full.append(name)
            return


async def main(folder: Path) -> dict[str, object]:
    (folder / "ballast").write_bytes(b"x" * 512 * 1024)
    told: list[str] = []
    full: list[str] = []
    more: list[str] = []
    async with open_ledger(folder / "ledger.db", clock=SystemClock()) as ledger:
        async with trio.open_nursery() as nursery:
            for task in range(8):
                nursery.start_soon(fill, ledger, task, told, full)
        for turn in range(100):  # the last of the tasks may have found the room that another one was refused
            if not ledger.paused(SystemClock().now_ms()):
                await fill(ledger, 8 + turn, told, more)
        seen = await ledger.read(kept)
        paused = ledger.paused(SystemClock().now_ms())
        (folder / "ballast").unlink()
        await ledger.write(put, "after")
        return {
            "told": len(told),
            "full": len(full),
            "lost": len(set(told) - set(seen)),
            "half_kept": len({*full, *more} & set(seen)),
            "paused": paused,
            "paused_after": ledger.paused(SystemClock().now_ms()),
            "after": "after" in await ledger.read(kept),
        }


if __name__ == "__main__":
    print(json.dumps(trio.run(main, Path(sys.argv[1]))))
