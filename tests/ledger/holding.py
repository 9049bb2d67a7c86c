"""`python -m tests.ledger.holding LEDGER KIND`: another process that holds the ledger until its standard input ends.

KIND: `exclusive` or `shared` hold the lock file; `writing` holds SQLite's own write lock. Says `held` once it does.
"""

import sys
from pathlib import Path

from pixivflow.ledger.connection import connect_plain
from pixivflow.ledger.lockfile import LockFile


def main(path: Path, kind: str) -> None:
    match kind:
        case "exclusive":
            held: object = LockFile(path)
            assert isinstance(held, LockFile)
            assert held.try_exclusive()
        case "shared":
            held = LockFile(path)
            assert isinstance(held, LockFile)
            assert held.try_share()
        case "writing":
            db = connect_plain(path)
            db.steer("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
