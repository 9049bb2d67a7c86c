"""The connection that a ledger function gets: what it refuses while the function runs, and what it finds afterwards.

A transaction belongs to whoever runs the function, never to the function. Two things would break that quietly: a
statement that steers the transaction, and a cursor with unread rows, which pins a snapshot and holds back checkpoints.
"""

import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import ref

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=sqlite3.Cursor)

STEERING = frozenset(
    {
        sqlite3.SQLITE_TRANSACTION,  # BEGIN, COMMIT, ROLLBACK
        sqlite3.SQLITE_SAVEPOINT,  # SAVEPOINT, RELEASE, ROLLBACK TO
        sqlite3.SQLITE_PRAGMA,
        sqlite3.SQLITE_ATTACH,  # VACUUM too
        sqlite3.SQLITE_DETACH,
    }
)
"""What SQLite asks the authorizer about statements that a ledger function may not use."""


class HalfReadCursor(RuntimeError):
    """A ledger function left a cursor with unread rows, or returned something lazy. A bug: return values instead."""


class Guard:
    """The authorizer: refuses steering statements while `shut`. SQLite asks when one is prepared, not when it runs."""

    def __init__(self) -> None:
        self.shut = False

    def __call__(self, action: int, _a: str | None, _b: str | None, _c: str | None, _d: str | None) -> int:
        return sqlite3.SQLITE_DENY if self.shut and action in STEERING else sqlite3.SQLITE_OK


class Db(sqlite3.Connection):
    """A connection in autocommit (`isolation_level=None`) whose transactions are steered from outside its functions."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.guard = Guard()
        self.set_authorizer(self.guard)
        self._mark = f" -- {secrets.token_hex(8)}"
        self._handed_out: list[ref[sqlite3.Cursor]] = []

    def steer(self, statement: str) -> list[Any]:
        """Run one statement that functions may not use and return its rows.

        The sqlite3 module keeps prepared statements by their text, and a kept one passes the authorizer unasked. The
        secret mark makes this text ours alone, so that a function's own COMMIT is always prepared, and refused.
        """
        return super().cursor().execute(statement + self._mark).fetchall()

    def cursor(self, factory: Callable[[sqlite3.Connection], C] = sqlite3.Cursor) -> C:  # type: ignore[assignment, override]
        """As in sqlite3, and remembered for as long as it lives. `execute` and its kin come through here too."""
        made = super().cursor(factory)
        self._handed_out.append(ref(made))
        return made

    def call(self, fn: Callable[Concatenate["Db", P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The value of one ledger function, run inside a transaction that the caller steers.

        Errors: whatever `fn` raises; `HalfReadCursor`. Either way no cursor of it stays open, so that the transaction
        can be rolled back or committed.
        """
        self.guard.shut = True
        try:
            value = fn(self, *args, **kwargs)
        except BaseException:
            self._close_cursors()
            raise
        finally:
            self.guard.shut = False
        if self._close_cursors():
            raise HalfReadCursor(f"{name_of(fn)} left a cursor with unread rows")
        if isinstance(value, LAZY):
            raise HalfReadCursor(f"{name_of(fn)} returned a {type(value).__name__}, to be read outside its transaction")
        return value

    def _close_cursors(self) -> int:
        """Close the cursors that outlived their function; how many of them had rows to give."""
        handed_out, self._handed_out = self._handed_out, []
        return sum(closed_unread(cursor) for made in handed_out if (cursor := made()) is not None)


LAZY = (Iterator, Awaitable)
"""Cursors, generators, `map`, coroutines: anything whose work would be done later, by another thread."""


def closed_unread(cursor: sqlite3.Cursor) -> bool:
    """Close `cursor`; whether it still had a row to give."""
    cursor.row_factory = None
    try:
        return cursor.fetchone() is not None
    except sqlite3.Error:
        return False  # closed before, or broken by a rollback: it holds nothing any more
    finally:
        cursor.close()


def name_of(fn: Callable[..., object]) -> str:
    """How a function is called in a message."""
    return getattr(fn, "__qualname__", repr(fn))
