"""Who may read the ledger: its owner alone, since both tokens of the account stand in it.

SQLite gives what it puts beside a file the mode of the file itself. A file is made here before SQLite would make it,
whatever the umask says, and one that others may read is narrowed, with its log and with its copies.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

OWNER_ALONE: Final = 0o600
OTHERS: Final = 0o077
SUFFIXES: Final = ("", "-wal", "-shm")
COPIES: Final = (".before-v", ".corrupt-")
"""What begins the names of copies, behind the ledger's own."""


def make_private(path: Path) -> None:
    """Make an empty file for its owner alone, unless there is one. What keeps it from being made is said by whoever
    opens it."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ALONE)
        try:
            os.fchmod(handle, OWNER_ALONE)
        finally:
            os.close(handle)


def narrowed(path: Path) -> bool:
    """Whether nobody but its owner may read a file now; also true where there is none.

    By its name, for closing a handle would give back the locks that this process holds on the file.
    """
    try:
        mode = path.stat().st_mode
        if mode & OTHERS:
            path.chmod(mode & 0o7777 & ~OTHERS)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def keep_private(ledger: Path) -> list[Path]:
    """Make the ledger if it is not there, and narrow what belongs to it; the files that others may still read."""
    make_private(ledger)
    beside = [ledger.with_name(f"{ledger.name}{suffix}") for suffix in SUFFIXES]
    with suppress(OSError):
        begins = tuple(f"{ledger.name}{each}" for each in COPIES)
        beside += [each for each in ledger.parent.iterdir() if each.name.startswith(begins)]
    return [each for each in beside if not narrowed(each)]
