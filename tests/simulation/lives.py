"""A story played from its first life to its last, and judged.

`python -m tests.simulation.lives SEED` prints a digest of everything that was seen and everything that was left.
"""

import hashlib
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from pixivflow.ledger.connection import connect_plain
from tests.simulation import agreement, seeded
from tests.simulation.chronicle import Chronicle
from tests.simulation.life import Life
from tests.simulation.look import Look, look
from tests.simulation.receiver import Receiver
from tests.simulation.story import Story, story
from tests.simulation.wire import judge


def play(told: Story, ledger: Path) -> tuple[Chronicle, Look]:
    """The story, lived in the file `ledger`: what was seen, and the rows that were left."""
    chronicle = Chronicle(told, ledger, Receiver(told))
    seeded.run(told.chance("turns").getrandbits(32), partial(_live, chronicle))
    with closing(connect_plain(ledger)) as db:
        rows = look(db)
    chronicle.faults += agreement.unfinished(rows)
    chronicle.faults += judge(chronicle, rows)
    return chronicle, rows


async def _live(chronicle: Chronicle) -> None:
    """One life after the other, beside them perhaps a second process on the same ledger from start to end."""
    story = chronicle.story
    async with trio.open_nursery() as nursery:
        twin = None if story.freezes is None else Life(chronicle, None, served=False)
        if twin is not None:
            nursery.start_soon(twin.live)
        for mishap in (*story.mishaps, None):
            life = Life(chronicle, mishap)
            nursery.start_soon(life.live)
            await life.over.wait()
            await trio.sleep(mishap.down_ms / 1000 if mishap else 0)
        if twin is not None:
            twin.stop()


def digest(chronicle: Chronicle, rows: Look) -> str:
    """One text for all that was seen and all that was left."""
    whole = "\n".join([*chronicle.trace, *chronicle.faults, repr(rows), repr(chronicle.receiver.arrivals)])
    return hashlib.sha256(whole.encode()).hexdigest()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        print(digest(*play(story(int(sys.argv[1])), Path(folder) / "ledger.db")))
