"""The hold beside a ledger that was begun in the place of a lost one: while it lies there, nothing is fetched or sent.

    lost ──> hold written ──> the rest moved aside ──> a new, empty ledger
                │
                └── a person looks, puts the old ledger back or lets it go, and removes the file: work goes on at once

An empty ledger remembers nothing of what was published, and work that began on it would publish all of it again. A
trigger is answered 503 meanwhile and its slot is kept, however long it waits. The hold is a file and no row, so that it
is there before the new ledger is.
"""

import os
from pathlib import Path

from pixivflow.ledger.migrate import sync
from pixivflow.times import iso


class Hold:
    """`<ledger>.hold`."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(f"{ledger.name}.hold")

    @property
    def stands(self) -> bool:
        """Whether somebody still has to decide."""
        return self.path.exists()

    @property
    def why(self) -> str | None:
        """Its first line; None where there is no hold."""
        try:
            return next(iter(self.path.read_text("utf-8", "replace").splitlines()), "it does not say why")
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"it cannot be read: {error.strerror}"

    def place(self, reason: str, now: int) -> None:
        """Begin it, durably. One that stands keeps its words. `now`: epoch ms."""
        if self.stands:
            return
        half = self.path.with_name(f"{self.path.name}.half")
        half.unlink(missing_ok=True)
        with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(
                f"{iso(now)}: the ledger could not be used ({reason}), and an empty one was begun in its place\n"
                "It does not remember what was published. Put the old one back, with the daemon stopped, or let it\n"
                "go; then remove this file. Until then works are neither searched nor delivered.\n"
            )
            out.flush()
            os.fsync(out.fileno())
        half.replace(self.path)
        sync(self.path.parent)
