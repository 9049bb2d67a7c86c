"""SQLite's errors, translated once, where they leave the ledger.

| SQLite says | the caller gets |
| --- | --- |
| FULL | `StorageFull` |
| BUSY, LOCKED | `Unavailable`: another process kept the file longer than we wait |
| IOERR, CORRUPT, NOTADB | `LedgerLost`; met by a write, it is the writer's end |
| INTERRUPT | `LedgerLost`: only the ledger's own end interrupts |
| anything else | the same error: a constraint that the function meant, or a bug |
"""

import sqlite3

from pixivflow.errors import Cause, LedgerLost, StorageFull, Unavailable

BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
FATAL = DAMAGED | {sqlite3.SQLITE_IOERR}


def code_of(error: BaseException) -> int:
    """SQLite's primary result code, or -1 for an error that is not SQLite's."""
    if not isinstance(error, sqlite3.Error):
        return -1
    extended: int = getattr(error, "sqlite_errorcode", -1)
    return extended & 0xFF if extended >= 0 else -1


def translated(error: BaseException) -> BaseException:
    """What the caller should see: an error of this program with SQLite's as its cause, or `error` itself."""
    code = code_of(error)
    ours: Exception
    if code == sqlite3.SQLITE_FULL:
        ours = StorageFull(f"no room for the ledger: {error}")
    elif code in BUSY:
        ours = Unavailable(f"another process keeps the ledger: {error}", cause=Cause.LEDGER)
    elif code in FATAL or code == sqlite3.SQLITE_INTERRUPT:
        ours = LedgerLost(f"the ledger cannot be used: {error}")
    else:
        return error
    ours.__cause__ = error
    return ours
